//! Declares and checks parameters.
//!
//! A crate declares each of its parameters once, with [`param_group!`]: name, type, default, range, the names in other
//! libraries, and a help text. This declaration produces
//!
//! * the *spec*, a plain struct of what was typed, with its defaults;
//! * its *setters*, one method per parameter (`spec.beam(3.0).check()`);
//! * the *checked* form, which only `check()` can create and which the algorithms take;
//! * the table ([`ParamInfo`]) behind help texts, documentation and the parser.
//!
//! This crate has no parameters itself.
//!
//! ```
//! use rankwise_params::{CrossCheck, ParamGroup, Range, param_group};
//!
//! param_group! {
//!     /// How wide a boat is.
//!     pub BoatSpec => BoatParams, SetBoats, "Boats" {
//!         /// Beam in metres.
//!         beam: f64 = 2.5, Range::above(0.0), ["width"];
//!     }
//! }
//! impl CrossCheck for BoatSpec {}
//!
//! let mut spec = BoatSpec::default();
//! assert!(spec.set("width", "3").unwrap());
//! let boat: BoatParams = spec.check().unwrap();
//! assert_eq!(boat.beam, 3.0);
//! assert_eq!(BoatSpec::default().beam(3.0).check().unwrap(), boat);
//! ```
#![forbid(unsafe_code)]

mod error;
mod group;
mod name;
mod range;
mod value;

pub use error::ParamError;
pub use group::{CrossCheck, Given, ParamGroup, ParamInfo, Setting};
pub use name::{ParamName, Spellings, nearest, normalise};
pub use range::Range;
pub use value::ParamValue;
