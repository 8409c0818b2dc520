//! The rules of other programs, so that their numbers can be reproduced.

use crate::{Convention, Empty, Gain, Rules, Ties};

/// The rules of a program, or our own.
pub(crate) fn defaults_of(convention: Option<Convention>) -> Rules {
    let (gain, ties, empty) = match convention {
        None => (Gain::Exp, Ties::Worst, Empty::Zero),
        Some(Convention::LightGbm | Convention::XgBoost) => (Gain::Exp, Ties::Input, Empty::One),
        Some(Convention::CatBoost) => (Gain::Linear, Ties::Worst, Empty::One),
        Some(Convention::TrecEval) => (Gain::Linear, Ties::DocId, Empty::Zero),
        Some(Convention::Sklearn) => (Gain::Linear, Ties::Average, Empty::Zero),
        Some(Convention::RankLib) => (Gain::Exp, Ties::Input, Empty::Zero),
    };
    // XGBoost's `ndcg` without a cut-off looks at 32 documents.
    let default_cutoff = (convention == Some(Convention::XgBoost)).then_some(32);
    Rules { gain, ties, empty, default_cutoff, seed: 0 }
}
