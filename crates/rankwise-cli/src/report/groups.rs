//! A metric by groups of queries: by the length of their lists, and by how many documents are relevant.

use rankwise::eval::{IntervalSpec, QueryValues, intervals};
use rankwise_report::{Axis, Dot, Dots, Figure, Plot, Table};

use super::file_name;
use crate::{comparison, text};

/// More groups would not fit on a phone.
const MAX_GROUPS: usize = 6;
/// The first number of each group of list lengths.
const LENGTHS: [usize; 10] = [1, 6, 11, 21, 51, 101, 201, 501, 1001, 5001];
/// The first number of each group of relevant documents.
const RELEVANT: [usize; 9] = [0, 1, 2, 3, 6, 11, 21, 51, 101];

/// The values of one metric for all systems.
pub(super) struct MetricByQuery<'a> {
    pub(super) metric: &'a str,
    /// The name of each system, with its values.
    pub(super) systems: Vec<(&'a str, &'a [Option<f64>])>,
    pub(super) weights: &'a [f64],
    pub(super) intervals: &'a IntervalSpec,
}

/// Queries whose numbers are in a range.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    /// The smallest and the largest number that occur.
    range: [usize; 2],
    queries: Vec<usize>,
}

impl Group {
    fn name(&self) -> String {
        match self.range {
            [low, high] if low == high => text::thousands(low as u64),
            [low, high] => format!("{}-{}", text::thousands(low as u64), text::thousands(high as u64)),
        }
    }
}

/// By list length and by relevant documents; groupings with a single group are left out.
pub(super) fn figures(values: &MetricByQuery<'_>, n_docs: &[usize], n_relevant: &[usize]) -> Vec<Figure> {
    let groupings = [
        ("list length", "documents in the list", "by-length", grouped(n_docs, &LENGTHS)),
        ("number of relevant documents", "relevant documents", "by-relevant", grouped(n_relevant, &RELEVANT)),
    ];
    let several = groupings.into_iter().filter(|(.., groups)| groups.len() > 1);
    several.map(|(title, label, name, groups)| values.figure(title, label, name, &groups)).collect()
}

impl MetricByQuery<'_> {
    fn figure(&self, title: &str, label: &str, name: &str, groups: &[Group]) -> Figure {
        let interval_title = comparison::interval_title(self.intervals.confidence);
        let mut table = Table::new(["", "system", "queries", "mean", &interval_title]);
        label.clone_into(&mut table.head[0]);
        let mut series: Vec<(String, Vec<Option<Dot>>)> =
            self.systems.iter().map(|(name, _)| ((*name).to_owned(), Vec::new())).collect();
        for group in groups {
            let weights: Vec<f64> = group.queries.iter().map(|query| self.weights[*query]).collect();
            let sample = |values: &[Option<f64>]| {
                let inside: Vec<Option<f64>> = group.queries.iter().map(|query| values[*query]).collect();
                QueryValues::new(&inside, &weights)
            };
            let samples: Vec<QueryValues> = self.systems.iter().map(|(_, values)| sample(values)).collect();
            let found = intervals(&samples.iter().collect::<Vec<_>>(), self.intervals);
            for (idx, (sample, interval)) in samples.iter().zip(found).enumerate() {
                let ends = interval.map(|interval| [interval.low, interval.high]);
                series[idx].1.push(sample.mean().map(|value| Dot { value, interval: ends }));
                table.push([
                    group.name(),
                    self.systems[idx].0.to_owned(),
                    text::thousands(sample.len() as u64),
                    text::mean(sample.mean()),
                    comparison::interval(interval),
                ]);
            }
        }
        if self.systems.len() == 1 {
            table.head.remove(1);
            table.rows.iter_mut().for_each(|row| drop(row.remove(1)));
        }
        let plot = Plot::Dots(Dots {
            y: Axis::linear(self.metric),
            label: format!("{label} (below: number of queries)"),
            groups: groups.iter().map(|group| [group.name(), text::thousands(group.queries.len() as u64)]).collect(),
            series,
        });
        Figure::new(file_name(&format!("{name}-{}", self.metric)), format!("{} by {title}", self.metric), plot, table)
            .note(format!("Means over the queries of each group, with {interval_title}s."))
    }
}

/// Groups by ranges that begin at `starts`; neighbours are joined while there are too many.
fn grouped(numbers: &[usize], starts: &[usize]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (idx, start) in starts.iter().enumerate() {
        let end = starts.get(idx + 1).copied().unwrap_or(usize::MAX);
        let inside = || numbers.iter().enumerate().filter(|(_, number)| (*start..end).contains(*number));
        let range = inside().map(|(_, number)| *number).min().zip(inside().map(|(_, number)| *number).max());
        if let Some((low, high)) = range {
            groups.push(Group { range: [low, high], queries: inside().map(|(query, _)| query).collect() });
        }
    }
    while groups.len() > MAX_GROUPS {
        let joined_size = |at: &usize| groups[*at].queries.len() + groups[*at + 1].queries.len();
        let Some(at) = (0..groups.len() - 1).min_by_key(joined_size) else { break };
        let next = groups.remove(at + 1);
        groups[at].range[1] = next.range[1];
        groups[at].queries.extend(next.queries);
        groups[at].queries.sort_unstable();
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cover_all_queries_once() {
        let numbers: Vec<usize> = (0..500).map(|query| query * query % 700).collect();
        for starts in [&LENGTHS[..], &RELEVANT] {
            let groups = grouped(&numbers, starts);
            assert!(groups.len() <= MAX_GROUPS);
            let mut queries: Vec<usize> = groups.iter().flat_map(|group| group.queries.clone()).collect();
            queries.sort_unstable();
            let expected: Vec<usize> = (0..500).filter(|query| numbers[*query] >= starts[0]).collect();
            assert_eq!(queries, expected);
            assert!(groups.windows(2).all(|pair| pair[0].range[1] < pair[1].range[0]));
        }
        assert!(grouped(&[], &LENGTHS).is_empty());
        assert_eq!(grouped(&[7, 7], &LENGTHS)[0].name(), "7");
    }
}
