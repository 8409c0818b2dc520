//! Custom metrics, learned through their values alone.

use std::fmt::Debug;

/// A bounded function of the order of a query's documents; larger is better. It is scale-free: only the order counts,
/// not the differences of scores.
pub trait ScaleFreeMetric: Debug + Send + Sync {
    /// The value for one query: `order` has its documents from the first rank to the last, `labels` are by document.
    fn value(&self, query: usize, labels: &[f32], order: &[u32]) -> f64;

    /// The change when the document at `rank` passes each of the others: for the other document at place t (ranks
    /// without the mover), the value with the mover directly above it, minus the value with the mover directly below
    /// it. Override this if there is a faster way than one evaluation per place.
    fn jumps(&self, query: usize, labels: &[f32], order: &[u32], rank: usize, out: &mut Vec<f64>) {
        out.clear();
        let mut moved: Vec<u32> = order.to_vec();
        moved[..=rank].rotate_right(1);
        let mut above = self.value(query, labels, &moved);
        for place in 0..order.len() - 1 {
            moved.swap(place, place + 1);
            let below = self.value(query, labels, &moved);
            out.push(above - below);
            above = below;
        }
    }
}
