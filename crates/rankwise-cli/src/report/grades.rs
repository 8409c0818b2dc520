//! Where relevant documents of each grade end up.

use rankwise_report::{Axis, Figure, Lines, Plot, Series, Table};

use super::rankings::{Placement, Rankings};
use super::tables;
use crate::text;

/// The ranks in tables.
const RANKS: [usize; 9] = [1, 2, 3, 5, 10, 20, 50, 100, 200];
/// More plots of grades would not be looked at.
const MAX_FIGURES: usize = 4;

/// The share of a grade's documents up to each rank.
fn shares(placement: &Placement) -> Vec<f64> {
    let mut found = 0.0;
    let share = |count: &f64| {
        found += count;
        (found / placement.total.max(1.0)).min(1.0)
    };
    placement.at.iter().map(share).collect()
}

/// The share up to a rank; lists may be shorter.
fn share_at(shares: &[f64], rank: usize) -> f64 {
    shares.get(rank - 1).or(shares.last()).copied().unwrap_or(0.0)
}

fn points(shares: &[f64], longest: usize) -> Vec<(f64, f64)> {
    (1..=longest).map(|rank| (rank as f64, share_at(shares, rank))).collect()
}

/// For one system, a line for each grade; for several, a plot for each grade with a line for each system.
pub(super) fn figures(rankings: &Rankings, names: &[String]) -> Vec<Figure> {
    let Some(first) = rankings.systems.first() else { return Vec::new() };
    let mut bits: Vec<u32> = first.grades.keys().copied().collect();
    bits.reverse();
    let title = |bits: u32| match bits {
        0 => "relevant documents".to_owned(),
        bits => format!("label {}", f32::from_bits(bits)),
    };
    let curves = |system: usize, grade: u32| {
        let system = &rankings.systems[system];
        system.grades.get(&grade).map(shares).unwrap_or_default()
    };
    let total = |grade: u32| first.grades.get(&grade).map_or(0.0, |placement| placement.total);
    let lengths = rankings.systems.iter().flat_map(|system| system.grades.values());
    let longest = lengths.map(|placement| placement.at.len()).max().unwrap_or(0);
    let count = |grade: u32| text::count(total(grade) as usize, "document");
    if let [name] = names {
        let lines: Vec<(String, Vec<f64>)> =
            bits.iter().map(|grade| (format!("{} ({})", title(*grade), count(*grade)), curves(0, *grade))).collect();
        let caption = format!("Share of the relevant documents found up to each rank, {name}");
        return vec![figure("grades", "label", caption, lines, longest)];
    }
    let of_grade = |grade: &u32| {
        let lines = names.iter().enumerate().map(|(system, name)| (name.clone(), curves(system, *grade))).collect();
        let caption = format!(
            "{}: share found up to each rank ({})",
            tables::sentence(&title(*grade)).trim_end_matches('.'),
            count(*grade)
        );
        figure(&super::file_name(&format!("grade-{}", title(*grade))), "system", caption, lines, longest)
    };
    bits.iter().take(MAX_FIGURES).map(of_grade).collect()
}

fn figure(name: &str, what: &str, caption: String, lines: Vec<(String, Vec<f64>)>, longest: usize) -> Figure {
    let ranks: Vec<usize> = RANKS.into_iter().filter(|rank| *rank <= longest).collect();
    let mut table = Table::new(std::iter::once(what.to_owned()).chain(ranks.iter().map(|rank| format!("top {rank}"))));
    for (name, shares) in &lines {
        let cells = ranks.iter().map(|rank| format!("{:.1} %", 100.0 * share_at(shares, *rank)));
        table.push(std::iter::once(name.clone()).chain(cells));
    }
    let series = lines.into_iter().map(|(name, shares)| Series { name, points: points(&shares, longest) }).collect();
    let plot = Plot::Lines(Lines::new(Axis::log("rank"), Axis::share("share found"), series));
    Figure::new(name, caption, plot, table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_what_was_never_found_is_missing() {
        let placement = Placement { at: vec![1.0, 0.5, 0.5], total: 4.0 };
        assert_eq!(shares(&placement), [0.25, 0.375, 0.5]);
        assert_eq!((share_at(&[0.25, 0.5], 9), share_at(&[], 1)), (0.5, 0.0));
    }
}
