//! Checks which sampling parameters can be combined.

use rankwise_params::ParamError;

use super::{LoopSpec, Sample};

impl LoopSpec {
    pub(super) fn check_sample(&mut self) -> Result<(), ParamError> {
        match self.sample {
            Sample::None | Sample::Bagging | Sample::QueryBagging => self.check_bagging(),
            Sample::Selective | Sample::HighLow => self.check_selection(),
            Sample::Negatives => self.check_without_bagging("sample=negatives uses p_negatives instead; remove it"),
            Sample::Inliers => self.check_without_bagging("sample=inliers keeps all inliers; remove it"),
            Sample::Goss => self.check_goss(),
            Sample::Mvs => self.check_mvs(),
        }
    }

    fn check_bagging(&mut self) -> Result<(), ParamError> {
        let by_query = self.bagging_by_query || self.sample == Sample::QueryBagging;
        match (self.sample != Sample::None, self.bagging_fraction < 1.0, self.bagging_freq > 0) {
            (false, true, true) => {
                self.sample = if by_query { Sample::QueryBagging } else { Sample::Bagging };
            }
            (false, true, false) => {
                return Err(ParamError::conflict(
                    "bagging_fraction",
                    "no effect while bagging_freq is 0; set bagging_freq=1 to draw a new sample for every tree",
                ));
            }
            (true, false, _) => {
                return Err(ParamError::conflict(
                    "sample",
                    "the size of the sample is not set; set bagging_fraction below 1",
                ));
            }
            (true, true, _) => {
                self.sample = if by_query { Sample::QueryBagging } else { Sample::Bagging };
                self.bagging_freq = self.bagging_freq.max(1);
            }
            (false, false, _) => {}
        }
        Ok(())
    }

    fn check_selection(&self) -> Result<(), ParamError> {
        if self.sample == Sample::Selective && self.p_low.is_some_and(|share| share > 0.0) {
            return Err(ParamError::conflict("p_low", "no effect with sample=selective; use sample=high-low"));
        }
        let keeps_none = |share: Option<f64>| share == Some(0.0);
        if keeps_none(self.p_high) && (self.sample == Sample::Selective || keeps_none(self.p_low)) {
            let problem = "no negative documents would be kept, so there would be nothing to rank; use more than 0";
            return Err(ParamError::conflict("p_high", problem));
        }
        self.check_without_bagging("this sample selects documents by rank; remove it, or use sample=bagging")
    }

    fn check_without_bagging(&self, problem: &str) -> Result<(), ParamError> {
        match (self.bagging_fraction < 1.0, self.bagging_freq > 0) {
            (true, _) => Err(ParamError::conflict("bagging_fraction", problem)),
            (false, true) => Err(ParamError::conflict("bagging_freq", problem)),
            (false, false) => Ok(()),
        }
    }

    fn check_goss(&self) -> Result<(), ParamError> {
        if self.top_rate + self.other_rate > 1.0 {
            let problem = "top_rate + other_rate is above 1; use a sum of at most 1";
            return Err(ParamError::conflict("other_rate", problem));
        }
        self.check_without_bagging("sample=goss uses top_rate and other_rate instead; remove it")
    }

    fn check_mvs(&self) -> Result<(), ParamError> {
        if self.bagging_fraction == 1.0 {
            let problem = "the size of the sample is not set; set bagging_fraction below 1";
            return Err(ParamError::conflict("sample", problem));
        }
        if self.bagging_freq > 1 {
            let problem = "sample=mvs draws a new sample for every tree; remove it";
            return Err(ParamError::conflict("bagging_freq", problem));
        }
        Ok(())
    }
}
