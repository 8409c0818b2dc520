//! A metric of the caller's own, to be learnt through its values alone.

use std::fmt::Debug;

/// A bounded function of the order of a query's documents, the larger the better. Only the order counts, not how far the
/// scores are apart: that is what makes it free of scale.
pub trait ScaleFreeMetric: Debug + Send + Sync {
    /// The value for one query: `order` holds its documents from the first rank to the last, `labels` are by document.
    fn value(&self, query: usize, labels: &[f32], order: &[u32]) -> f64;

    /// What it is worth for the document at `rank` to pass each of the others: for the other at place t (ranks without the
    /// mover), the value with the mover just above it minus that with the mover just below. Whoever knows a shorter way than
    /// one value for each place can say so here.
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
