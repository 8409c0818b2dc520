//! Training and validation data of a search.

use rankwise_data::Dataset;

use crate::{Folds, TuneError};

/// Without validation data, every fifth query is set aside for validation.
const VALIDATION_FOLDS: usize = 5;

/// Training and validation data, taken from the same data if there is no other validation data.
#[derive(Debug)]
pub(crate) struct Split<'a> {
    data: &'a Dataset,
    valid: Option<&'a Dataset>,
    parts: Option<[Dataset; 2]>,
}

impl<'a> Split<'a> {
    pub(crate) fn new(data: &'a Dataset, valid: Option<&'a Dataset>, seed: u64) -> Result<Self, TuneError> {
        let parts = if valid.is_some() {
            None
        } else {
            let folds = Folds::random(data, VALIDATION_FOLDS, seed)?;
            let (valid, train): (Vec<usize>, Vec<usize>) =
                (0..data.n_queries()).partition(|query| folds.of_query()[*query] == 0);
            Some([data.select_queries(&train)?, data.select_queries(&valid)?])
        };
        Ok(Self { data, valid, parts })
    }

    pub(crate) fn train(&self) -> &Dataset {
        self.parts.as_ref().map_or(self.data, |[train, _]| train)
    }

    pub(crate) fn valid(&self) -> &Dataset {
        self.parts.as_ref().map_or_else(|| self.valid.unwrap_or(self.data), |[_, valid]| valid)
    }
}
