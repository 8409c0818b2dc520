//! A group of related parameters, and the macro that declares one.

use crate::{ParamError, ParamName, ParamValue, Range};

/// The facts about one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamInfo {
    /// Its name.
    pub name: &'static str,
    /// Its names in other libraries.
    pub aliases: &'static [&'static str],
    /// The form of its values.
    pub kind: String,
    /// The allowed range.
    pub range: Range,
    /// The default, as typed.
    pub default: String,
    /// What it does.
    pub help: String,
}

impl ParamInfo {
    /// Whether `name` (in the form of [`crate::normalise`]) means this parameter.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| crate::normalise(alias) == name)
    }

    /// The allowed values: the form and, if any, the range.
    pub fn allowed(&self) -> String {
        self.range.of(&self.kind)
    }

    /// Reads a value in range. Errors name the parameter as `typed`.
    pub fn parse<T: ParamValue>(&self, typed: &str, value: &str) -> Result<T, ParamError> {
        let name = ParamName::typed(self.name, typed);
        let Some(parsed) = T::parse(value) else {
            return Err(match T::problem(value) {
                Some(problem) => ParamError::Invalid { name, problem },
                None => ParamError::Value { name, value: value.to_owned(), expected: self.allowed() },
            });
        };
        self.range.check(&name, &parsed)?;
        Ok(parsed)
    }
}

/// The value of one parameter in a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The parameter.
    pub name: &'static str,
    /// Its value, as typed.
    pub value: String,
    /// Whether that is the default.
    pub is_default: bool,
}

/// A struct of parameters made by [`crate::param_group!`].
pub trait ParamGroup: Default {
    /// The heading of the group in help and documentation.
    const TITLE: &'static str;
    /// The declarations, in order.
    fn table() -> Vec<ParamInfo>;
    /// Sets the parameter called `name`; `Ok(false)` if the group has none with that name.
    fn set(&mut self, name: &str, value: &str) -> Result<bool, ParamError>;
    /// The current values, in order.
    fn settings(&self) -> Vec<Setting>;
}

/// Checks that values are compatible. Called by `check()` after the range of every value was checked; may set a value
/// that follows from another.
pub trait CrossCheck {
    /// Rejects invalid combinations.
    fn cross_check(&mut self) -> Result<(), ParamError> {
        Ok(())
    }
}

/// What a setter takes for a parameter of type `T`: a `T`, or the value inside if `T` is optional.
pub trait Given<T> {
    /// The parameter.
    fn give(self) -> T;
}

impl<T> Given<T> for T {
    fn give(self) -> T {
        self
    }
}

impl<T> Given<Option<T>> for T {
    fn give(self) -> Option<T> {
        Some(self)
    }
}

/// Declares a group of parameters: `pub Spec => Checked, Setters, "Title" { /// help  name: type = default, range, [aliases]; }`.
/// The spec must implement [`CrossCheck`]. `Setters` is a trait with a method for each parameter, for the spec and for
/// everything that contains one (`AsMut<Spec>`).
#[macro_export]
macro_rules! param_group {
    (
        $(#[doc = $doc:literal])*
        $vis:vis $spec:ident => $checked:ident, $setters:ident, $title:literal {
            $(
                $(#[doc = $help:literal])+
                $name:ident : $ty:ty = $default:expr, $range:expr, [$($alias:literal),* $(,)?];
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[doc = "\n\nWhat was typed; `check()` makes it usable."]
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $spec {
            $( $(#[doc = $help])+ pub $name: $ty, )*
        }

        impl Default for $spec {
            fn default() -> Self {
                Self { $( $name: $default, )* }
            }
        }

        impl $crate::ParamGroup for $spec {
            const TITLE: &'static str = $title;

            fn table() -> Vec<$crate::ParamInfo> {
                let defaults = Self::default();
                vec![$( $crate::ParamInfo {
                    name: stringify!($name),
                    aliases: &[$($alias),*],
                    kind: <$ty as $crate::ParamValue>::kind(),
                    range: $range,
                    default: $crate::ParamValue::render(&defaults.$name),
                    help: concat!($($help),+).trim().to_owned(),
                } ),*]
            }

            fn set(&mut self, name: &str, value: &str) -> Result<bool, $crate::ParamError> {
                let typed = $crate::normalise(name);
                let Some(info) = Self::table().into_iter().find(|info| info.answers_to(&typed)) else {
                    return Ok(false);
                };
                match info.name {
                    $( stringify!($name) => {
                        self.$name = info.parse::<$ty>(name, value)?;
                    } )*
                    _ => unreachable!("the table names fields of the struct only"),
                }
                Ok(true)
            }

            fn settings(&self) -> Vec<$crate::Setting> {
                let defaults = Self::default();
                vec![$( $crate::Setting {
                    name: stringify!($name),
                    value: $crate::ParamValue::render(&self.$name),
                    is_default: self.$name == defaults.$name,
                } ),*]
            }
        }

        impl AsMut<$spec> for $spec {
            fn as_mut(&mut self) -> &mut $spec {
                self
            }
        }

        #[doc = concat!("Sets the parameters of [`", stringify!($spec), "`], one after another in a chain.")]
        #[must_use]
        $vis trait $setters: AsMut<$spec> + Sized {
            $(
                $(#[doc = $help])+
                #[must_use]
                fn $name(mut self, value: impl $crate::Given<$ty>) -> Self {
                    AsMut::<$spec>::as_mut(&mut self).$name = value.give();
                    self
                }
            )*
        }

        impl<S: AsMut<$spec>> $setters for S {}

        impl $spec {
            /// Checks that all values are in range and compatible.
            $vis fn check(mut self) -> Result<$checked, $crate::ParamError> {
                $(
                    let range: $crate::Range = $range;
                    range.check(&stringify!($name).into(), &self.$name)?;
                )*
                $crate::CrossCheck::cross_check(&mut self)?;
                Ok($checked(self))
            }
        }

        $(#[doc = $doc])*
        #[doc = "\n\nChecked: only `check()` makes one, and its values can be read but not changed."]
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $checked($spec);

        impl std::ops::Deref for $checked {
            type Target = $spec;
            fn deref(&self) -> &$spec {
                &self.0
            }
        }

        impl Default for $checked {
            fn default() -> Self {
                $spec::default().check().expect("the defaults pass their own checks")
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::param_group! {
        /// A toy group.
        ToySpec => ToyParams, SetToys, "Toys" {
            /// How many
            /// there are.
            count: usize = 3, Range::closed(1.0, 9.0), ["n_toys", "toy-count"];
            /// Share kept.
            share: f64 = 1.0, Range::above_to(0.0, 1.0), [];
            /// How many may break; auto is none.
            spare: Option<usize> = None, Range::ANY, [];
        }
    }
    impl CrossCheck for ToySpec {
        fn cross_check(&mut self) -> Result<(), ParamError> {
            if self.count == 9 && self.share < 1.0 {
                return Err(ParamError::conflict("share", "must be 1 when count is 9"));
            }
            Ok(())
        }
    }

    #[test]
    fn one_declaration_gives_table_parser_and_checks() {
        let table = ToySpec::table();
        assert_eq!(table[0].help, "How many there are.");
        assert_eq!((table[0].default.as_str(), table[1].default.as_str()), ("3", "1"));

        let mut spec = ToySpec::default();
        assert!(spec.set("Toy-Count", "5").unwrap());
        assert!(!spec.set("unknown", "5").unwrap());
        assert!(matches!(spec.set("share", "x"), Err(ParamError::Value { .. })));
        assert_eq!(spec.settings()[0].value, 5usize.render());
        assert!(!spec.settings()[0].is_default && spec.settings()[1].is_default);
        assert_eq!(spec.clone().check().unwrap().count, 5);

        let typed = ToySpec::default().count(5).share(0.25);
        assert_eq!((typed.count, typed.share), (5, 0.25));
        assert_eq!(typed.clone().spare(2), typed.clone().spare(Some(2)));
        assert_eq!(typed.clone().spare(2).spare(None), typed);

        let told = spec.set("n_toys", "10").unwrap_err().to_string();
        assert_eq!(told, "parameter 'n_toys' (count): 10 is out of range; use a value from 1 to 9");
        assert_eq!(spec.count, 5, "unchanged");
        let told = spec.clone().count(10).check().unwrap_err().to_string();
        assert_eq!(told, "parameter 'count': 10 is out of range; use a value from 1 to 9");
        spec.set("count", "9").unwrap();
        spec.set("share", "0.5").unwrap();
        assert!(matches!(spec.check(), Err(ParamError::Conflict { .. })));
    }
}
