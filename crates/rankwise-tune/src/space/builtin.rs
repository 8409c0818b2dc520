//! The built-in search space: the distributions of the StochasticRank paper, Appendix F.

use rankwise_objectives::ObjectiveKind;
use rankwise_params::ParamValue as _;
use rankwise_train::TrainSpec;
use rankwise_trees::Growth;

use super::{DimensionSpec, Space, SpaceError, Values};

/// Learning rate.
const LEARNING_RATE: Values = Values::LogUniform(1e-3, 1.0);
/// `l2-leaf-reg`, but for StochasticRank, where it is 0.
const LAMBDA_L2: Values = Values::LogUniform(1e-1, 1e1);
/// `depth` of oblivious trees.
const DEPTH: Values = Values::Uniform(6.0, 10.0);
/// Other trees have no `depth` in the paper; this is a range of sizes around the default.
const NUM_LEAVES: Values = Values::LogUniform(8.0, 128.0);
/// Noise strength from 0 to 1; 0 is no noise.
const NOISE_STRENGTH: Values = Values::Uniform(1e-3, 1.0);
/// For StochasticRank with Langevin boosting.
const MODEL_SHRINK_RATE: Values = Values::LogUniform(1e-5, 1e-2);
const DIFFUSION_TEMPERATURE: Values = Values::LogUniform(1e8, 1e11);
/// For StochasticRank with a shift of scores.
const MU: Values = Values::LogUniform(1e-2, 10.0);

pub(super) fn space(spec: &TrainSpec) -> Result<Space, SpaceError> {
    // Where the parameters are invalid, that is said later.
    let is_oblivious = spec.clone().check().is_ok_and(|params| params.trees().growth() == Growth::Oblivious);
    let is_stochastic = spec.objective.objective == ObjectiveKind::StochasticRank;
    let tree = if is_oblivious { ("max_depth", DEPTH) } else { ("num_leaves", NUM_LEAVES) };
    let mut all = vec![("learning_rate", LEARNING_RATE), tree];
    if is_stochastic {
        all.push(("mu", MU));
    } else {
        all.push(("lambda_l2", LAMBDA_L2));
    }
    if spec.objective.noise.render() != "none" {
        all.push(("noise_strength", NOISE_STRENGTH));
    }
    if spec.boosting.langevin {
        all.extend([("model_shrink_rate", MODEL_SHRINK_RATE), ("diffusion_temperature", DIFFUSION_TEMPERATURE)]);
    }
    let free = all.into_iter().filter(|(name, _)| !spec.is_set(name));
    let specs: Vec<DimensionSpec> =
        free.map(|(name, values)| DimensionSpec { name: name.to_owned(), values, when: None }).collect();
    if specs.is_empty() { Err(SpaceError::AllSet) } else { Space::new(&specs) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(settings: &[(&str, &str)]) -> String {
        let mut spec = TrainSpec::default();
        spec.set_all(settings.iter().copied()).unwrap();
        let space = space(&spec).unwrap();
        space.check_with(&spec).unwrap();
        space.dimensions().iter().map(super::super::Dimension::name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_space_depends_on_what_is_set() {
        assert_eq!(names(&[]), "lambda_l2 learning_rate max_depth");
        assert_eq!(names(&[("grow", "leafwise"), ("lambda_l2", "3")]), "learning_rate num_leaves");
        // Set to its default.
        assert_eq!(names(&[("learning_rate", "0.07")]), "lambda_l2 max_depth");
        assert_eq!(names(&[("noise", "gumbel")]), "lambda_l2 learning_rate max_depth noise_strength");
        assert_eq!(
            names(&[("objective", "stochasticrank"), ("langevin", "true")]),
            "diffusion_temperature learning_rate max_depth model_shrink_rate mu"
        );
        let all = [("learning_rate", "0.2"), ("lambda_l2", "1"), ("num_leaves", "7")];
        let mut spec = TrainSpec::default();
        spec.set_all(all).unwrap();
        assert_eq!(space(&spec), Err(SpaceError::AllSet));
    }
}
