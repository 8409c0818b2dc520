//! Fast scoring: many documents at a time, without branches, with the same bits as the reference implementation.
//!
//! A [`Scorer`] is created once from a model of any kind and then scores any [`Documents`]. It is `Send` and `Sync`,
//! and allocates nothing if the [`Scratch`] is reused. Models without a faster way are scored document by document.
//! Tree models (`tree_scorer`) are scored in these steps, named after the modules:
//!
//! ```text
//! plan      the splits of all trees, each listed once: rulers (thresholds of a feature) and tests (one threshold, one
//! side)
//! rank      values -> ranks: the number of thresholds of the ruler below                 a byte per document and ruler
//! masks     ranks -> answers: which documents pass the test                                a bit per document and test
//! reach     answers -> which documents reach which leaf, as bits of the leaf number      a bit per document and plane
//! leaves    leaf numbers -> values, added to the scores in the order of the trees
//! ```
//!
//! If a model has several outputs, the last step runs for each (`outputs`). Single documents are scored in another way
//! (`walk`). If only the best documents are needed, those that cannot be among them are dropped early (`top`). This
//! crate knows nothing of datasets, files or metrics.
#![deny(unsafe_code)]

mod documents;
mod kernel;
mod outputs;
mod plan;
mod scorer;
mod scratch;
mod tile;
mod top;
mod tree_scorer;
mod walk;

pub use documents::{Documents, Rows, Value};
pub use scorer::Scorer;
pub use scratch::Scratch;
