//! What a search tries: ranges and choices of training parameters.
//!
//! A space knows nothing of how it is searched. A [`Point`] is the value of one parameter in it; a trial has one for each
//! parameter that is active, which those with an unmet [`Condition`] are not.

mod builtin;
mod error;
mod read;

use rankwise_data::Draw;
use rankwise_params::{ParamInfo, ParamValue as _, normalise};
use rankwise_train::TrainSpec;

pub use error::{SpaceError, SpaceFileError};

/// Parameters that decide what is measured, and those that do not change the model.
const NOT_SEARCHED: [&str; 5] = ["metric", "seed", "absent", "engine", "histogram_pool_mb"];

/// Numbers are tried with so many significant digits after the first, so that they can be read and typed.
const DIGITS: usize = 5;

/// A parameter to search, as typed.
#[derive(Clone, Debug, PartialEq)]
pub struct DimensionSpec {
    /// Any name of the parameter.
    pub name: String,
    /// The values to try.
    pub values: Values,
    /// Only try it if another parameter of the space has one of these values.
    pub when: Option<(String, Vec<String>)>,
}

/// The values of a parameter to try.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers from one to another, all as likely. If the parameter is an integer, both are included.
    Uniform(f64, f64),
    /// As `Uniform`, with logarithms that are all as likely.
    LogUniform(f64, f64),
    /// One of several values.
    Choice(Vec<String>),
}

/// A parameter to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    name: &'static str,
    values: Values,
    is_integer: bool,
    when: Option<Condition>,
}

/// Another parameter of the space, and the choices of it that a parameter needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its index in the space.
    pub dimension: usize,
    /// Indices of its choices.
    pub choices: Vec<usize>,
}

/// A value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Point {
    /// A number.
    Number(f64),
    /// The index of a choice.
    Choice(usize),
}

/// Parameters to search. Parameters come after those that they depend on, otherwise by name: the order in which they are
/// given does not matter.
///
/// ```
/// use rankwise_tune::Space;
///
/// let space = Space::parse(
///     r#"
///     objective = ["lambdamart", "xendcg"]
///     learning_rate = { log = [0.01, 0.3] }
///     num_leaves = { log = [8, 128] }
///     sigmoid = { uniform = [0.5, 2], when = { objective = "lambdamart" } }
///     "#,
/// )?;
/// assert_eq!(space.dimensions().len(), 4);
/// let error = Space::parse("\nnum_leafs = { log = [8, 128] }").unwrap_err();
/// assert!(error.to_string().starts_with("2:1: unknown parameter 'num_leafs'; did you mean 'num_leaves'?"));
/// # Ok::<(), rankwise_tune::SpaceFileError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    dimensions: Vec<Dimension>,
}

impl Space {
    /// A space of these parameters.
    pub fn new(specs: &[DimensionSpec]) -> Result<Self, SpaceError> {
        if specs.is_empty() {
            return Err(SpaceError::Empty);
        }
        let mut known: Vec<(&DimensionSpec, Dimension, usize)> = Vec::new();
        for spec in specs {
            let dimension = Dimension::new(spec)?;
            if known.iter().any(|(_, other, _)| other.name == dimension.name) {
                return Err(SpaceError::Twice { name: spec.name.clone() });
            }
            known.push((spec, dimension, 0));
        }
        for place in 0..known.len() {
            known[place].2 = depth(&known, place)?;
        }
        known.sort_by_key(|(_, dimension, depth)| (*depth, dimension.name));
        let mut dimensions: Vec<Dimension> = Vec::new();
        for (spec, dimension, _) in known {
            let when = spec.when.as_ref().map(|when| condition(&dimensions, &spec.name, when)).transpose()?;
            dimensions.push(Dimension { when, ..dimension });
        }
        Ok(Self { dimensions })
    }

    /// Reads a space from TOML: a line `name = ...` for each parameter, with `{ uniform = [low, high] }`,
    /// `{ log = [low, high] }` or a list of values; `{ choice = [...], when = { other = "value" } }` makes it conditional.
    pub fn parse(text: &str) -> Result<Self, SpaceFileError> {
        read::space(text)
    }

    /// A space for those who have none; it depends on the objective and leaves out what is set in `spec`.
    ///
    /// It has the distributions of Ustimenko and Prokhorenkova, "StochasticRank: Global Optimization of Scale-Free Discrete
    /// Functions" (ICML 2020), Appendix F.
    pub fn builtin(spec: &TrainSpec) -> Result<Self, SpaceError> {
        builtin::space(spec)
    }

    /// The parameters.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Rejects parameters that are set already.
    pub(crate) fn check_with(&self, spec: &TrainSpec) -> Result<(), SpaceError> {
        match self.dimensions.iter().find(|dimension| spec.is_set(dimension.name)) {
            Some(dimension) => Err(SpaceError::Both { name: dimension.name.to_owned() }),
            None => Ok(()),
        }
    }

    /// Draws a point of each active parameter. `draw` gets the parameter's index.
    pub(crate) fn draw(&self, mut draw: impl FnMut(usize, &Dimension) -> Point) -> Vec<Option<Point>> {
        let mut points: Vec<Option<Point>> = Vec::new();
        for (idx, dimension) in self.dimensions.iter().enumerate() {
            let is_active = dimension.when.as_ref().is_none_or(|when| match points[when.dimension] {
                Some(Point::Choice(choice)) => when.choices.contains(&choice),
                _ => false,
            });
            points.push(is_active.then(|| draw(idx, dimension)));
        }
        points
    }

    /// The values of the active parameters, as typed.
    pub(crate) fn settings(&self, points: &[Option<Point>]) -> Vec<(&'static str, String)> {
        let setting =
            |(dimension, point): (&Dimension, &Option<Point>)| Some((dimension.name, dimension.text((*point)?)));
        self.dimensions.iter().zip(points).filter_map(setting).collect()
    }

    /// A line for each parameter, equal for equal spaces.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |dimension: &Dimension| {
            let when = dimension.when.as_ref().map_or_else(String::new, |when| {
                format!(" when {} in {:?}", self.dimensions[when.dimension].name, when.choices)
            });
            format!("{} {:?}{when}", dimension.name, dimension.values)
        };
        self.dimensions.iter().map(line).collect()
    }
}

/// How many parameters a parameter depends on, one after the other.
fn depth(all: &[(&DimensionSpec, Dimension, usize)], start: usize) -> Result<usize, SpaceError> {
    let mut place = start;
    for depth in 0..=all.len() {
        let Some((other, _)) = &all[place].0.when else { return Ok(depth) };
        let found =
            info(other).ok().and_then(|info| all.iter().position(|(_, dimension, _)| dimension.name == info.name));
        let name = all[place].0.name.clone();
        place = found.ok_or_else(|| {
            SpaceError::when(&name, format!("'{other}' is not in the search space; add it, or remove the condition"))
        })?;
    }
    Err(SpaceError::when(&all[start].0.name, "it depends on itself"))
}

/// The condition of a parameter, on one of those before it.
fn condition(
    before: &[Dimension],
    name: &str,
    (other, values): &(String, Vec<String>),
) -> Result<Condition, SpaceError> {
    let other = info(other)?.name;
    let place = before.iter().position(|dimension| dimension.name == other).expect("parameters are sorted by depth");
    let Values::Choice(choices) = &before[place].values else {
        return Err(SpaceError::when(name, format!("{other} is a range; only a choice can be a condition")));
    };
    let choice = |value: &String| {
        let found = choices.iter().position(|choice| choice == value);
        found.ok_or_else(|| SpaceError::when(name, format!("'{value}' is not among the values of {other}")))
    };
    let choices = values.iter().map(choice).collect::<Result<Vec<usize>, SpaceError>>()?;
    if choices.is_empty() {
        return Err(SpaceError::when(name, format!("no value of {other} is given")));
    }
    Ok(Condition { dimension: place, choices })
}

/// The declaration of a parameter.
fn info(typed: &str) -> Result<ParamInfo, SpaceError> {
    let name = normalise(typed);
    let mut all = TrainSpec::tables().into_iter().flat_map(|(_, table)| table);
    match all.find(|info| info.answers_to(&name)) {
        Some(info) => Ok(info),
        // The error suggests a similar name.
        None => Err(TrainSpec::default().set(typed, "").expect_err("no parameter has this name").into()),
    }
}

impl Dimension {
    fn new(spec: &DimensionSpec) -> Result<Self, SpaceError> {
        let info = info(&spec.name)?;
        let name = || spec.name.clone();
        let rules = TrainSpec::tables().pop().expect("the last group has the metric rules").1;
        if NOT_SEARCHED.contains(&info.name) || rules.iter().any(|rule| rule.name == info.name) {
            return Err(SpaceError::NotSearched { name: name() });
        }
        let is_integer = info.kind.contains("integer");
        match &spec.values {
            Values::Uniform(low, high) | Values::LogUniform(low, high) => {
                if !is_integer && !info.kind.contains("number") {
                    return Err(SpaceError::NotANumber { name: name(), expected: info.allowed() });
                }
                if let Some(bound) = [low, high].into_iter().find(|bound| is_integer && bound.fract() != 0.0) {
                    return Err(SpaceError::NotAnInteger { name: name(), bound: *bound });
                }
                if low.partial_cmp(high) != Some(std::cmp::Ordering::Less) {
                    return Err(SpaceError::Bounds { name: name(), low: *low, high: *high });
                }
                if matches!(spec.values, Values::LogUniform(..)) && *low <= 0.0 {
                    return Err(SpaceError::LogBound { name: name(), low: *low });
                }
                for bound in [low, high] {
                    TrainSpec::default().set(&spec.name, &bound.to_string())?;
                }
            }
            Values::Choice(values) => {
                if let Some((idx, value)) =
                    values.iter().enumerate().find(|(idx, value)| values[..*idx].contains(value))
                {
                    debug_assert!(idx > 0);
                    return Err(SpaceError::ValueTwice { name: name(), value: value.clone() });
                }
                if values.len() < 2 {
                    return Err(SpaceError::OneValue { name: name() });
                }
                values.iter().try_for_each(|value| TrainSpec::default().set(&spec.name, value))?;
            }
        }
        Ok(Self { name: info.name, values: spec.values.clone(), is_integer, when: None })
    }

    /// The parameter.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The values to try.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// When it is tried; `None` for always.
    pub fn when(&self) -> Option<&Condition> {
        self.when.as_ref()
    }

    /// The range of numbers as real numbers, in logarithms if these are uniform: an integer stands for the numbers that are
    /// rounded to it. `None` for choices.
    pub(crate) fn real_range(&self) -> Option<[f64; 2]> {
        let half = if self.is_integer { 0.5 } else { 0.0 };
        match self.values {
            Values::Uniform(low, high) => Some([low - half, high + half]),
            Values::LogUniform(low, high) => Some([libm::log(low - half), libm::log(high + half)]),
            Values::Choice(_) => None,
        }
    }

    /// The real numbers that are rounded to a number, or the number itself twice.
    pub(crate) fn real_cell(&self, number: f64) -> [f64; 2] {
        let half = if self.is_integer { 0.5 } else { 0.0 };
        [number - half, number + half].map(|end| if self.is_log() { libm::log(end) } else { end })
    }

    /// A number of the real range as one to be tried.
    pub(crate) fn number(&self, real: f64) -> f64 {
        let number = if self.is_log() { libm::exp(real) } else { real };
        match self.values {
            Values::Uniform(low, high) | Values::LogUniform(low, high) => {
                let number = if self.is_integer { number.round() } else { readable(number) };
                number.clamp(low, high)
            }
            Values::Choice(_) => number,
        }
    }

    fn is_log(&self) -> bool {
        matches!(self.values, Values::LogUniform(..))
    }

    /// A random point.
    pub(crate) fn random(&self, draw: &Draw, idx: usize) -> Point {
        self.at(draw.uniform(idx as u64, 0))
    }

    /// The point at a share of the range, from 0 to below 1.
    pub(crate) fn at(&self, share: f64) -> Point {
        match &self.values {
            Values::Choice(values) => Point::Choice(((share * values.len() as f64) as usize).min(values.len() - 1)),
            Values::Uniform(..) | Values::LogUniform(..) => {
                let [low, high] = self.real_range().expect("it is no choice");
                Point::Number(self.number(low + share * (high - low)))
            }
        }
    }

    fn text(&self, point: Point) -> String {
        match (point, &self.values) {
            (Point::Choice(choice), Values::Choice(values)) => values[choice].clone(),
            (Point::Number(number), _) => number.render(),
            (Point::Choice(choice), _) => choice.render(),
        }
    }
}

/// A number with few digits.
fn readable(number: f64) -> f64 {
    format!("{number:.DIGITS$e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::Purpose;

    use super::*;

    fn spec(name: &str, values: Values) -> DimensionSpec {
        DimensionSpec { name: name.into(), values, when: None }
    }

    fn numbers(space: &Space, n_draws: u32) -> Vec<f64> {
        let draw = |trial| space.draw(|idx, dimension| dimension.random(&Draw::new(5, Purpose::Search, trial), idx));
        let number = |points: Vec<Option<Point>>| match points[0] {
            Some(Point::Number(number)) => number,
            other => panic!("{other:?}"),
        };
        (0..n_draws).map(draw).map(number).collect()
    }

    #[test]
    fn logarithms_are_uniform() {
        let space = Space::new(&[spec("learning_rate", Values::LogUniform(0.001, 1.0))]).unwrap();
        let drawn = numbers(&space, 6000);
        for (low, high) in [(0.001, 0.01), (0.01, 0.1), (0.1, 1.0)] {
            let share = drawn.iter().filter(|number| (low..high).contains(*number)).count() as f64 / 6000.0;
            assert!((share - 1.0 / 3.0).abs() < 0.02, "{low} {share}");
        }
        let space = Space::new(&[spec("bagging_fraction", Values::Uniform(0.2, 1.0))]).unwrap();
        let drawn = numbers(&space, 6000);
        let share = drawn.iter().filter(|number| **number < 0.4).count() as f64 / 6000.0;
        assert!((share - 0.25).abs() < 0.02, "{share}");
    }

    #[test]
    fn integers_are_as_likely_at_the_ends() {
        let space = Space::new(&[spec("max_depth", Values::Uniform(6.0, 10.0))]).unwrap();
        let drawn = numbers(&space, 5000);
        for depth in 6..=10 {
            let share = drawn.iter().filter(|number| **number == f64::from(depth)).count() as f64 / 5000.0;
            assert!((share - 0.2).abs() < 0.02, "{depth} {share}");
        }
    }

    proptest! {
        #[test]
        fn points_stay_in_bounds(low in 1e-3f64..10.0, width in 1e-3f64..10.0, is_log: bool, share in 0.0f64..1.0) {
            let (low, high) = (low, (low + width).min(10.0));
            prop_assume!(low < high);
            for name in ["learning_rate", "max_depth"] {
                let [low, high] = if name == "max_depth" { [low.floor() + 1.0, high.ceil() + 2.0] } else { [low, high] };
                let values = if is_log { Values::LogUniform(low, high) } else { Values::Uniform(low, high) };
                let space = Space::new(&[spec(name, values)]).unwrap();
                let dimension = &space.dimensions()[0];
                let Point::Number(number) = dimension.at(share) else { panic!("a number") };
                prop_assert!((low..=high).contains(&number), "{name} {number} in {low} {high}");
                prop_assert!(!dimension.is_integer || number.fract() == 0.0);
                TrainSpec::default().set(name, &dimension.text(Point::Number(number))).unwrap();
            }
        }
    }

    #[test]
    fn conditions_decide_what_is_active() {
        let choice = |values: &[&str]| Values::Choice(values.iter().map(|value| (*value).to_owned()).collect());
        let when = |other: &str, value: &str| Some((other.to_owned(), vec![value.to_owned()]));
        let space = Space::new(&[
            DimensionSpec { when: when("noise", "gumbel"), ..spec("noise_strength", Values::Uniform(0.1, 1.0)) },
            DimensionSpec { when: when("objective", "lambdamart"), ..spec("noise", choice(&["none", "gumbel"])) },
            spec("objective", choice(&["lambdamart", "xendcg"])),
        ])
        .unwrap();
        let names: Vec<&str> = space.dimensions().iter().map(Dimension::name).collect();
        assert_eq!(names, ["objective", "noise", "noise_strength"]);
        let settings = |choices: [usize; 2]| {
            let points = space.draw(|idx, dimension| match choices.get(idx) {
                Some(choice) => Point::Choice(*choice),
                None => dimension.at(0.0),
            });
            space.settings(&points).into_iter().map(|(_, value)| value).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(settings([0, 1]), "lambdamart gumbel 0.1");
        assert_eq!(settings([0, 0]), "lambdamart none");
        assert_eq!(settings([1, 1]), "xendcg");
    }
}
