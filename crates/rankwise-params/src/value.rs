//! Converts text to typed values and back.

/// A type that a parameter can have.
pub trait ParamValue: Sized {
    /// The form of a value, for help and messages: `an integer`, `a|b|c`.
    fn kind() -> String;
    /// What several values are called, for lists: `integers`.
    fn plural() -> String {
        format!("values, each {}", Self::kind())
    }
    /// What is typed for an optional value that is not set.
    fn unset() -> &'static str {
        "auto"
    }
    /// Reads a value; `None` if the text is invalid.
    fn parse(text: &str) -> Option<Self>;
    /// What is wrong with an invalid text and what to do, if more can be said than what form is expected.
    fn problem(_text: &str) -> Option<String> {
        None
    }
    /// Writes a value so that `parse` reads it back.
    fn render(&self) -> String;
    /// The numbers in it, to which the range applies.
    fn numbers(&self) -> Vec<f64> {
        Vec::new()
    }
}

macro_rules! integer_value {
    ($($ty:ty),*) => {$(
        impl ParamValue for $ty {
            fn kind() -> String {
                "an integer".into()
            }
            fn plural() -> String {
                "integers".into()
            }
            fn parse(text: &str) -> Option<Self> {
                text.trim().parse().ok()
            }
            fn render(&self) -> String {
                self.to_string()
            }
            fn numbers(&self) -> Vec<f64> {
                vec![*self as f64]
            }
        }
    )*};
}
integer_value!(i8, i32, u32, u64, usize);

impl ParamValue for f64 {
    fn kind() -> String {
        "a number".into()
    }
    fn plural() -> String {
        "numbers".into()
    }
    fn parse(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }
    fn render(&self) -> String {
        self.to_string()
    }
    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl ParamValue for bool {
    fn kind() -> String {
        "true|false".into()
    }
    fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true),
            "false" | "0" | "no" | "off" => Some(false),
            _ => None,
        }
    }
    fn render(&self) -> String {
        self.to_string()
    }
}

impl ParamValue for String {
    fn kind() -> String {
        "a name".into()
    }
    fn plural() -> String {
        "names".into()
    }
    fn parse(text: &str) -> Option<Self> {
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }
    fn render(&self) -> String {
        self.clone()
    }
}

impl ParamValue for std::path::PathBuf {
    fn kind() -> String {
        "a file".into()
    }
    fn unset() -> &'static str {
        "none"
    }
    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.into())
    }
    fn render(&self) -> String {
        self.display().to_string()
    }
}

/// How the description of a list begins.
pub(crate) const LIST: &str = "comma-separated ";

/// The entries of a list.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim().trim_start_matches(['(', '[']).trim_end_matches([')', ']']);
    let is_empty = text.trim().is_empty();
    text.split(',').filter(move |_| !is_empty)
}

/// A list is separated by commas; the empty text is the empty list.
impl<T: ParamValue> ParamValue for Vec<T> {
    fn kind() -> String {
        format!("{LIST}{}", T::plural())
    }
    fn parse(text: &str) -> Option<Self> {
        entries(text).map(T::parse).collect()
    }
    fn problem(text: &str) -> Option<String> {
        entries(text).find(|entry| T::parse(entry).is_none()).and_then(T::problem)
    }
    fn render(&self) -> String {
        self.iter().map(T::render).collect::<Vec<_>>().join(",")
    }
    fn numbers(&self) -> Vec<f64> {
        self.iter().flat_map(T::numbers).collect()
    }
}

/// An optional value; `auto` means none.
impl<T: ParamValue> ParamValue for Option<T> {
    fn kind() -> String {
        let kind = T::kind();
        let is_words = kind.contains('|') && !kind.contains(' ');
        format!("{}{}{kind}", T::unset(), if is_words { "|" } else { " or " })
    }
    fn parse(text: &str) -> Option<Self> {
        let is = |word: &str| text.trim().eq_ignore_ascii_case(word);
        if is("auto") || is(T::unset()) { Some(None) } else { T::parse(text).map(Some) }
    }
    fn problem(text: &str) -> Option<String> {
        T::problem(text)
    }
    fn render(&self) -> String {
        self.as_ref().map_or_else(|| T::unset().into(), T::render)
    }
    fn numbers(&self) -> Vec<f64> {
        self.as_ref().map_or_else(Vec::new, T::numbers)
    }
}

/// Declares an enum whose values are words, with aliases from other programs.
///
/// ```
/// use rankwise_params::{ParamValue, param_enum};
///
/// param_enum! {
///     /// Where to sit.
///     pub enum Seat {
///         /// By the window.
///         Window = "window" | "w",
///         /// By the aisle.
///         Aisle = "aisle",
///     }
/// }
/// assert_eq!(Seat::parse("W"), Some(Seat::Window));
/// assert_eq!(Seat::kind(), "window|aisle");
/// assert_eq!(Seat::ALL, [Seat::Window, Seat::Aisle]);
/// assert_eq!(Option::<Seat>::kind(), "auto|window|aisle");
/// ```
///
/// `pub enum Seat, unset "none" { ... }` makes the optional value `none` instead of `auto`.
#[macro_export]
macro_rules! param_enum {
    (
        $(#[doc = $doc:literal])*
        $vis:vis enum $name:ident $(, unset $unset:literal)? {
            $( $(#[doc = $help:literal])* $variant:ident = $word:literal $(| $alias:literal)* ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $( $(#[doc = $help])* $variant ),*
        }
        impl $name {
            /// All values, in the order of their declaration.
            #[allow(dead_code)]
            $vis const ALL: &'static [Self] = &[$(Self::$variant),*];
        }
        impl $crate::ParamValue for $name {
            fn kind() -> String {
                [$($word),*].join("|")
            }
            $(
                fn unset() -> &'static str {
                    $unset
                }
            )?
            fn parse(text: &str) -> Option<Self> {
                let text = $crate::normalise(text);
                $( if [$word $(, $alias)*].iter().any(|word| $crate::normalise(word) == text) {
                    return Some(Self::$variant);
                } )*
                None
            }
            fn render(&self) -> String {
                match self { $( Self::$variant => $word ),* }.to_owned()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were_written() {
        for value in [0.1, -1e-300, 12345.0, f64::MIN_POSITIVE] {
            assert_eq!(f64::parse(&value.render()), Some(value));
        }
        assert_eq!(Vec::<f64>::parse("(0, 1.5,3)"), Some(vec![0.0, 1.5, 3.0]));
        assert_eq!(Vec::<i8>::parse(""), Some(vec![]));
        assert_eq!(Vec::<i8>::parse("1,,2"), None);
        assert_eq!(Option::<f64>::parse("auto"), Some(None));
        assert_eq!(Option::<std::path::PathBuf>::parse("none"), Some(None));
        assert_eq!(Option::<std::path::PathBuf>::None.render(), "none");
        assert_eq!(bool::parse("TRUE"), Some(true));
        assert_eq!(usize::parse("-1"), None);
    }
}
