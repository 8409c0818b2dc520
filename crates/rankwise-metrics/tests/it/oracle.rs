//! Slow implementations of all metrics, straight from their definitions, on documents in a given order; and the mean
//! over all orders of ties by enumeration. Shares no code with the crate.

/// A document that a system returned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Doc {
    pub(crate) score: f64,
    pub(crate) label: f64,
    pub(crate) is_judged: bool,
    /// Its input row.
    pub(crate) place: usize,
}

/// A query: the returned documents, and the labels of judged documents that were not returned.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) docs: Vec<Doc>,
    pub(crate) missed: Vec<f64>,
}

/// The parameters of a definition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) cutoff: usize,
    pub(crate) is_exp: bool,
    pub(crate) is_log2: bool,
    pub(crate) relevant_from: f64,
    pub(crate) max_grade: f64,
    pub(crate) persistence: f64,
    pub(crate) decay: f64,
    pub(crate) divides: Divides,
}

/// Denominators.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Divides {
    pub(crate) map_by_cutoff: bool,
    pub(crate) precision_by_length: bool,
}

impl Options {
    fn gain(&self, label: f64) -> f64 {
        if self.is_exp { 2f64.powf(label) - 1.0 } else { label }
    }

    fn discount(&self, rank: usize) -> f64 {
        if self.is_log2 { 1.0 / ((rank + 1) as f64).log2() } else { 1.0 / rank as f64 }
    }

    fn stop(&self, label: f64) -> f64 {
        if self.is_exp { self.gain(label) / 2f64.powf(self.max_grade) } else { label }
    }

    fn is_relevant(&self, label: f64) -> bool {
        label >= self.relevant_from
    }
}

/// Metrics that depend only on the order of documents.
pub(crate) const BY_ORDER: [&str; 14] =
    ["ndcg", "dcg", "map", "mrr", "err", "p", "recall", "hits", "f1", "r-precision", "pfound", "rbp", "bpref", "arp"];

/// Metrics that use scores and have their own rule for ties.
pub(crate) const BY_SCORE: [&str; 5] = ["query-auc", "kendall-tau", "lrap", "pair-logit", "dcg-rr"];

/// The value of a metric on documents in rank order.
pub(crate) fn by_order(metric: &str, docs: &[Doc], missed: &[f64], options: &Options) -> Option<f64> {
    let labels: Vec<f64> = docs.iter().map(|doc| doc.label).collect();
    let mut all: Vec<f64> = labels.iter().chain(missed).copied().collect();
    all.sort_by(|a, b| b.total_cmp(a));
    let n_relevant = all.iter().filter(|label| options.is_relevant(**label)).count();
    let depth = options.cutoff.min(labels.len());
    let first = &labels[..depth];
    let hits = |labels: &[f64]| labels.iter().filter(|label| options.is_relevant(**label)).count() as f64;
    let dcg = |labels: &[f64]| -> f64 {
        let depth = options.cutoff.min(labels.len());
        (0..depth).map(|rank| options.gain(labels[rank]) * options.discount(rank + 1)).sum()
    };
    let has_gain = all.iter().any(|label| options.gain(*label) > 0.0);
    let is_empty = match metric {
        "ndcg" | "dcg" | "err" | "pfound" => !has_gain,
        "arp" => all.iter().sum::<f64>() == 0.0,
        _ => n_relevant == 0,
    };
    if is_empty {
        return None;
    }
    let n_relevant = n_relevant as f64;
    let n_first = match (options.divides.precision_by_length, options.cutoff) {
        (true, _) | (_, usize::MAX) => depth,
        (false, cutoff) => cutoff,
    } as f64;
    let precision = if n_first == 0.0 { 0.0 } else { hits(first) / n_first };
    let recall = hits(first) / n_relevant;
    Some(match metric {
        "ndcg" => dcg(&labels) / dcg(&all),
        "dcg" => dcg(&labels),
        "map" => {
            let precisions = (0..depth).filter(|rank| options.is_relevant(labels[*rank]));
            let sum: f64 = precisions.map(|rank| hits(&labels[..=rank]) / (rank + 1) as f64).sum();
            sum / if options.divides.map_by_cutoff { n_relevant.min(options.cutoff as f64) } else { n_relevant }
        }
        "mrr" => {
            let rank = first.iter().position(|label| options.is_relevant(*label));
            rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64)
        }
        "err" | "pfound" => {
            let (mut looks, mut value) = (1.0, 0.0);
            for (rank, label) in first.iter().enumerate() {
                let stops = options.stop(*label);
                let worth = if metric == "err" { 1.0 / (rank + 1) as f64 } else { options.decay.powi(rank as i32) };
                value += looks * stops * worth;
                looks *= 1.0 - stops;
            }
            value
        }
        "p" => precision,
        "recall" => recall,
        "hits" => f64::from(u8::from(hits(first) > 0.0)),
        "f1" if precision + recall == 0.0 => 0.0,
        "f1" => 2.0 * precision * recall / (precision + recall),
        "r-precision" => hits(&labels[..labels.len().min(n_relevant as usize)]) / n_relevant,
        "rbp" => {
            let relevant = (0..depth).filter(|rank| options.is_relevant(labels[*rank]));
            (1.0 - options.persistence) * relevant.map(|rank| options.persistence.powi(rank as i32)).sum::<f64>()
        }
        "bpref" => {
            let judged: Vec<&Doc> = docs.iter().filter(|doc| doc.is_judged).collect();
            let n_others = (judged.len() + missed.len()) as f64 - n_relevant;
            let relevant = (0..judged.len()).filter(|rank| options.is_relevant(judged[*rank].label));
            let worth = relevant.map(|rank| {
                let n_above = judged[..rank].iter().filter(|doc| !options.is_relevant(doc.label)).count() as f64;
                if n_above == 0.0 { 1.0 } else { 1.0 - n_above.min(n_relevant) / n_others.min(n_relevant) }
            });
            worth.sum::<f64>() / n_relevant
        }
        "arp" => {
            let found: f64 = labels.iter().enumerate().map(|(rank, label)| label * (rank + 1) as f64).sum();
            let ranks = labels.len() + 1..=labels.len() + missed.len();
            let behind = ranks.clone().sum::<usize>() as f64 / ranks.count().max(1) as f64;
            (found + missed.iter().map(|label| label * behind).sum::<f64>()) / all.iter().sum::<f64>()
        }
        _ => panic!("{metric} does not go by the order"),
    })
}

/// The mean of [`by_order`] over all orders with descending scores.
pub(crate) fn average(metric: &str, query: &Query, options: &Options) -> Option<f64> {
    fn visit(left: &mut Vec<Doc>, done: &mut Vec<Doc>, value: &dyn Fn(&[Doc]) -> Option<f64>) -> Option<f64> {
        let Some(best) = left.iter().map(|doc| doc.score).reduce(f64::max) else { return value(done) };
        let tied: Vec<usize> = (0..left.len()).filter(|idx| left[*idx].score == best).collect();
        let mut total = 0.0;
        for idx in &tied {
            let doc = left.remove(*idx);
            done.push(doc);
            total += visit(left, done, value)?;
            done.pop();
            left.insert(*idx, doc);
        }
        Some(total / tied.len() as f64)
    }
    visit(&mut query.docs.clone(), &mut Vec::new(), &|docs| by_order(metric, docs, &query.missed, options))
}

/// The value of a metric that uses scores; documents that were not returned have the lowest score.
pub(crate) fn by_score(metric: &str, query: &Query, options: &Options) -> Option<f64> {
    let found = query.docs.iter().map(|doc| (doc.score, doc.label));
    let docs: Vec<(f64, f64)> = found.clone().chain(query.missed.iter().map(|label| (f64::MIN, *label))).collect();
    let pairs = |docs: &[(f64, f64)]| -> Vec<(f64, f64)> {
        let all = docs.iter().flat_map(|a| docs.iter().map(move |b| (a.0 - b.0, a.1 - b.1)));
        all.filter(|(_, by_label)| *by_label > 0.0).collect()
    };
    let half = |by_score: f64| if by_score == 0.0 { 0.5 } else { f64::from(u8::from(by_score > 0.0)) };
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    match metric {
        "query-auc" => {
            let binary: Vec<(f64, f64)> =
                docs.iter().map(|(score, label)| (*score, f64::from(u8::from(options.is_relevant(*label))))).collect();
            mean(pairs(&binary).iter().map(|(by_score, _)| half(*by_score)).collect())
        }
        "kendall-tau" => {
            let by_label = pairs(&docs);
            let turned: Vec<(f64, f64)> = docs.iter().map(|(score, label)| (*label, *score)).collect();
            let by_score = pairs(&turned);
            let sign: f64 = by_label.iter().map(|(difference, _)| 2.0 * half(*difference) - 1.0).sum();
            let value = sign / ((by_label.len() * by_score.len()) as f64).sqrt();
            (!by_label.is_empty()).then_some(if by_score.is_empty() { 0.0 } else { value })
        }
        "lrap" => {
            let relevant = docs.iter().filter(|(_, label)| options.is_relevant(*label));
            mean(
                relevant
                    .map(|(score, _)| {
                        let above = || docs.iter().filter(|(other, _)| other >= score);
                        above().filter(|(_, label)| options.is_relevant(*label)).count() as f64 / above().count() as f64
                    })
                    .collect(),
            )
        }
        "pair-logit" => {
            let found: Vec<(f64, f64)> = found.collect();
            mean(pairs(&found).iter().map(|(by_score, _)| (1.0 + (-by_score).exp()).ln()).collect())
        }
        "dcg-rr" => {
            let mut selected: Vec<&Doc> = query.docs.iter().filter(|doc| doc.score > 0.0).collect();
            selected.sort_by_key(|doc| doc.place);
            let value = selected.iter().enumerate().map(|(at, doc)| options.gain(doc.label) / (at + 1) as f64).sum();
            docs.iter().any(|(_, label)| options.gain(*label) > 0.0).then_some(value)
        }
        _ => panic!("{metric} does not go by scores"),
    }
}

/// The share of correctly ordered pairs among those with different labels; ties count half if they are averaged.
pub(crate) fn pair_accuracy(docs: &[Doc], missed: &[f64], is_averaged: bool) -> Option<f64> {
    let mut values = Vec::new();
    for (rank, above) in docs.iter().enumerate() {
        for below in docs[rank + 1..].iter().filter(|below| below.label != above.label) {
            let is_tied = is_averaged && below.score == above.score;
            values.push(if is_tied { 0.5 } else { f64::from(u8::from(above.label > below.label)) });
        }
        for label in missed.iter().filter(|label| **label != above.label) {
            values.push(f64::from(u8::from(above.label > *label)));
        }
    }
    for (idx, label) in missed.iter().enumerate() {
        values.extend(missed[idx + 1..].iter().filter(|other| *other != label).map(|_| 0.5));
    }
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
