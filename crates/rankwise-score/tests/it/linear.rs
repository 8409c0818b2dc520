//! Linear models.

use proptest::prelude::*;
use rankwise_model::{AbsentFeature, Header, LinearRanker, Model, Precision};

use crate::{best_of_all, check};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_scorer_gives_the_bits_of_the_model(
        rows in prop::collection::vec(prop::collection::vec(prop_oneof![8 => -1e3..1e3f64, 1 => Just(f64::NAN), 1 => any::<f64>()], 5), 1..150),
        weights in prop::collection::vec(prop_oneof![4 => -1.0..1.0f64, 1 => -1e300..1e300], 5),
        wide in any::<bool>(), k in 0usize..20,
    ) {
        let precision = if wide { Precision::F64 } else { Precision::F32 };
        let header = Header::new(AbsentFeature::Missing, precision, vec![1, 2, 3, 7, 9]);
        let model = Model::new(header, LinearRanker::new(0.1, weights).unwrap()).unwrap();
        let values = rows.concat();
        check(&model, &values);
        best_of_all(&model, &values, k);
    }
}
