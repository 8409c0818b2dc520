//! The rules of other programs, to reproduce their numbers.

use crate::{
    Convention, Discount, Empty, Gain, MapDenominator, MetricKind, MissingQueries, PrecisionDenominator, Rules, Ties,
};

/// The smallest label above 0.
const ABOVE_ZERO: f32 = f32::from_bits(1);

/// The rules of a program, or our own.
pub(crate) fn defaults_of(convention: Option<Convention>) -> Rules {
    let ours = Rules {
        gain: Gain::Exp,
        discount: Discount::Log2,
        ties: Ties::Worst,
        empty: Empty::Zero,
        empty_except: &[],
        relevant_from: ABOVE_ZERO,
        map_denominator: MapDenominator::Relevant,
        precision_denominator: PrecisionDenominator::Cutoff,
        err_max_grade: 4.0,
        rbp_persistence: 0.8,
        pfound_decay: 0.85,
        missing_queries: MissingQueries::Count,
        default_cutoff: None,
        seed: 0,
    };
    match convention {
        None => ours,
        Some(Convention::LightGbm) => Rules {
            ties: Ties::Input,
            empty: Empty::One,
            relevant_from: 0.5f32.next_up(),
            map_denominator: MapDenominator::Cutoff,
            ..ours
        },
        Some(Convention::XgBoost) => Rules {
            ties: Ties::Input,
            empty: Empty::One,
            map_denominator: MapDenominator::Cutoff,
            precision_denominator: PrecisionDenominator::Length,
            // Its `ndcg` without a cutoff uses 32 documents.
            default_cutoff: Some(32),
            ..ours
        },
        Some(Convention::CatBoost) => Rules {
            gain: Gain::Linear,
            empty_except: &[(MetricKind::Ndcg, Empty::One), (MetricKind::Recall, Empty::One)],
            relevant_from: 0.5f32.next_up(),
            map_denominator: MapDenominator::Cutoff,
            precision_denominator: PrecisionDenominator::Length,
            ..ours
        },
        Some(Convention::TrecEval) => Rules {
            gain: Gain::Linear,
            ties: Ties::DocId,
            relevant_from: 1.0,
            missing_queries: MissingQueries::Skip,
            ..ours
        },
        Some(Convention::Sklearn) => {
            Rules { gain: Gain::Linear, ties: Ties::Average, empty_except: &[(MetricKind::Lrap, Empty::One)], ..ours }
        }
        Some(Convention::RankLib) => {
            Rules { ties: Ties::Input, precision_denominator: PrecisionDenominator::Length, ..ours }
        }
        // It adds an empty result list for a query that is missing in the run (`make_comparable`). Its order of equal
        // scores is undefined.
        Some(Convention::Ranx) => Rules { gain: Gain::Linear, ties: Ties::Input, relevant_from: 1.0, ..ours },
    }
}
