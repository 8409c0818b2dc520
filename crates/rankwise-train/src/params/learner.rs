//! Checks which parameters a learner supports.

use rankwise_params::{ParamError, ParamValue as _};
use rankwise_trees::TreeParams;

use super::{Learner, LoopParams, Sample};
use crate::StepKind;

/// Checks that the learner supports the parameters.
pub(super) fn check(boosting: &LoopParams, trees: &TreeParams) -> Result<(), ParamError> {
    if boosting.learner == Learner::Gbdt || !boosting.learner.is_boosting() {
        return Ok(());
    }
    let name = boosting.learner.render();
    if boosting.shrink_rate() > 0.0 {
        let why = if boosting.model_shrink_rate.is_none() {
            "langevin=true shrinks the scores of earlier trees, but "
        } else {
            ""
        };
        let problem = format!("{why}learner={name} sets the weights of earlier trees itself; set model_shrink_rate=0");
        return Err(ParamError::conflict("model_shrink_rate", problem));
    }
    if boosting.step != StepKind::Shrinkage {
        let problem = format!("learner={name} sets the weight of each tree itself; use step=shrinkage");
        return Err(ParamError::conflict("step", problem));
    }
    if boosting.learner == Learner::RandomForest { check_forest(boosting, trees) } else { Ok(()) }
}

fn check_forest(boosting: &LoopParams, trees: &TreeParams) -> Result<(), ParamError> {
    match boosting.sample {
        Sample::Bagging | Sample::QueryBagging | Sample::Negatives => Ok(()),
        Sample::None if trees.feature_fraction < 1.0 || trees.feature_fraction_bynode < 1.0 => Ok(()),
        Sample::None => {
            let problem = "all trees of the random forest would be equal; set bagging_fraction=0.6 and bagging_freq=1, \
                           or feature_fraction below 1";
            Err(ParamError::conflict("learner", problem))
        }
        _ => {
            let problem = "gradients and ranks do not change between the trees of a random forest; use bagging, \
                           query-bagging or negatives";
            Err(ParamError::conflict("sample", problem))
        }
    }
}
