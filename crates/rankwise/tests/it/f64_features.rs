//! Features with different values that are equal as f32, from memory.

use rankwise::data::Keep;
use rankwise::model::Precision;
use rankwise::prelude::*;

use crate::params;

const N_ROWS: usize = 300;

/// A timestamp that decides, and something else.
fn values() -> Vec<f64> {
    (0..N_ROWS).flat_map(|row| [1_700_000_000.0 + (row * 37 % 60) as f64, (row * 7919 % 101) as f64 * 0.1]).collect()
}

fn labels() -> Vec<u8> {
    values().as_chunks::<2>().0.iter().map(|[second, _]| u8::from(second % 60.0 >= 30.0)).collect()
}

fn qids() -> Vec<usize> {
    (0..N_ROWS).map(|row| row / 15).collect()
}

fn settings() -> TrainParams {
    params(&[("num_trees", "20"), ("min_data_in_leaf", "2")])
}

/// Rows, columns, sparse rows and all ways of keeping values train the same model, which scores all of them alike.
#[test]
fn the_way_in_does_not_show() {
    let values = values();
    let columns: Vec<Vec<f64>> = (0..2).map(|slot| values.iter().skip(slot).step_by(2).copied().collect()).collect();
    let indptr: Vec<usize> = (0..=N_ROWS).map(|row| 2 * row).collect();
    let indices: Vec<u32> = (0..N_ROWS).flat_map(|_| [0, 1]).collect();
    let all = |keep: Keep| {
        [
            Dataset::from_dense(&values, 2).labels(&labels()).qids(&qids()).keep(keep).build().unwrap(),
            Dataset::from_columns(&columns).labels(&labels()).qids(&qids()).keep(keep).build().unwrap(),
            Dataset::from_csr(&indptr, &indices, &values).labels(&labels()).qids(&qids()).keep(keep).build().unwrap(),
        ]
    };
    let mut models = Vec::new();
    let mut scores = Vec::new();
    for keep in [Keep::WhereNeeded, Keep::All] {
        for data in all(keep) {
            assert_eq!(data.f64_features(), [0]);
            let model = train(&settings(), &data, &[], &mut Silent).unwrap().model;
            assert_eq!((model.precision(), model.f64_features()), (Precision::F64, &[0][..]));
            scores.push(predict(&model, &data));
            models.push(model.to_json());
        }
    }
    models.dedup();
    scores.dedup();
    assert_eq!((models.len(), scores.len()), (1, 1));
    // The scores equal those of the model itself on unrounded values.
    let model = Model::from_json(models[0].as_bytes()).unwrap();
    let place = |feature: u32| model.features().iter().position(|one| *one == feature);
    for (row, score) in values.as_chunks::<2>().0.iter().zip(&scores[0]) {
        let mut of_model = vec![f64::NAN; model.features().len()];
        (0..2).filter_map(|id| Some((id, place(id as u32)?))).for_each(|(id, place)| of_model[place] = row[id]);
        assert_eq!(model.score(&of_model), *score);
    }
    for data in all(Keep::Rounded) {
        assert_eq!(data.f64_features(), [0u32; 0]);
    }
}

/// A validation set whose values all differ as f32 is still treated like the training data.
#[test]
fn a_small_validation_set_keeps_its_digits() {
    let data = Dataset::from_dense(&values(), 2).labels(&labels()).qids(&qids()).build().unwrap();
    let few = [1_700_000_029.0, 0.1, 1_700_000_158.0, 0.1];
    let valid = Dataset::from_dense(&few, 2).labels(&[1, 0]).qids(&[1, 1]).build().unwrap();
    assert_eq!(valid.f64_features(), [0u32; 0]);
    let exact = Dataset::from_dense(&few, 2).labels(&[1, 0]).qids(&[1, 1]).keep(Keep::All).build().unwrap();
    let on = |valid: &Dataset| {
        let set = ValidSet { name: "few", data: valid };
        let trained = train(&settings(), &data, &[set], &mut Silent).unwrap();
        (trained.model.to_json(), trained.values, predict(&trained.model, valid))
    };
    assert_eq!(on(&valid), on(&exact));
}
