//! The step size of trees.

use rankwise::prelude::*;
use rankwise::train::{Flow, Observer, Progress};

use crate::{dataset, params, web_docs};

/// The first metric after each tree.
#[derive(Default)]
struct Values(Vec<f64>);

impl Observer for Values {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        self.0.push(progress.values[0].value);
        Flow::Continue
    }
}

fn values(data: &Dataset, settings: &[(&str, &str)]) -> Vec<f64> {
    let mut values = Values::default();
    let sets = [ValidSet { name: "train", data }];
    train(&params(settings), data, &sets, &mut values).unwrap();
    values.0
}

/// Evaluated on the training data itself, no tree lowers the target metric.
#[test]
fn an_exact_step_never_lowers_the_training_metric() {
    let data = dataset(&web_docs(2500, 20, 1));
    for (objective, target) in [("lambdamart", "ndcg@5"), ("lambdamart", "map"), ("rmse", "mrr"), ("softmax", "err@10")]
    {
        let common = [("objective", objective), ("target", target), ("metric", target), ("num_trees", "15")];
        let exact = values(&data, &[&common[..], &[("step", "exact")]].concat());
        assert!(exact.is_sorted_by(|before, after| after - before >= -1e-12), "{objective} {target}: {exact:?}");
        let plain = values(&data, &common);
        assert!(exact[0] >= plain[0], "{objective} {target}: {} and {}", exact[0], plain[0]);
    }
}

/// With strong regularisation, a line search lowers the loss more than plain shrinkage.
#[test]
fn a_line_search_goes_to_the_least_loss() {
    let data = dataset(&web_docs(2500, 20, 1));
    let error = |settings: &[(&str, &str)]| {
        let common = [
            ("objective", "rmse"),
            ("num_trees", "5"),
            ("grow", "leafwise"),
            ("learning_rate", "0.5"),
            ("lambda_l2", "500"),
        ];
        let scores =
            train(&params(&[&common, settings].concat()), &data, &[], &mut Silent).unwrap().train_scores_canonical;
        scores.iter().zip(data.labels()).map(|(score, label)| (score - f64::from(*label)).powi(2)).sum::<f64>()
    };
    // Regularised leaves are too small for the minimum of the loss; the line search compensates for it.
    let (plain, line) = (error(&[]), error(&[("step", "line")]));
    assert!(line < 0.9 * plain, "{line} and {plain}");
}

#[test]
fn steps_that_mean_nothing_are_refused() {
    let data = dataset(&web_docs(300, 5, 1));
    let said = |settings: &[(&str, &str)]| train(&params(settings), &data, &[], &mut Silent).unwrap_err().to_string();
    assert!(said(&[("step", "exact"), ("objective", "multiclass")]).contains("use step=shrinkage"));
    assert!(
        said(&[("step", "exact"), ("objective", "rmse"), ("target", "auc")])
            .contains("the exact step is not supported for target=auc")
    );
}
