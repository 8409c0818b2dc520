//! Scores of documents, fast: many documents at a time, without branches, with the bits of the reference walk.
//!
//! [`Scorer`] is made from a model of any kind once and then scores documents handed over by [`Documents`]; it is `Send` and
//! `Sync`, and with a [`Scratch`] that is kept it takes no memory while it scores. Models for which there is no faster way are
//! asked document by document. How trees are scored (`tree_scorer`), in the order of the modules:
//!
//! ```text
//! plan      the questions of all trees, each asked once: rulers (thresholds of a feature) and tests (one threshold, one side)
//! rank      values -> ranks: how many thresholds of the ruler lie below                    a byte per document and ruler
//! masks     ranks -> answers: which documents pass the test                                a bit per document and test
//! reach     answers -> which documents come to which leaf, as bits of the leaf's number    a bit per document and plane
//! leaves    numbers of leaves -> values, added to the scores in the order of the trees
//! ```
//!
//! Where a model has several outputs, the last step is done for each (`outputs`). Single documents take another way (`walk`); where only the best are wanted, those that cannot be among them are left (`top`). This crate knows nothing of datasets, files or metrics.
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
