//! A trace as SVG.
//!
//! Ranks are side by side, each as wide as its discount; for long lists, a second panel shows only the first ranks. The
//! picture is a grid of cells, one pixel wide. If several ranks share a cell, it shows the largest label among them or,
//! if none is relevant, the more frequent colour. Adjacent cells of one colour become one rectangle, so that thousands
//! of documents and trees still make a file of moderate size.

use std::fmt::Write as _;

use super::Trace;

const WIDTH: usize = 900;
/// Maximum number of rows: with more trees, only every second, third, ... is drawn.
const MOST_ROWS: usize = 1000;
/// Minimum total height of all rows in pixels, if there are enough of them.
const HEIGHT: usize = 560;
const TALLEST_ROW: usize = 12;
/// Longer lists have two panels.
const LONG: usize = 250;
/// The number of ranks in the first panel, its width, and the gap between the panels.
const TOP_RANKS: usize = 30;
const TOP_WIDTH: usize = 320;
const GAP: usize = 24;
const LEFT: usize = 58;
const TOP: usize = 92;
const GREY: &str = "#dedede";
const RED: &str = "#d9503f";
/// From the lowest label above 0 to the highest.
const GREENS: [[f64; 3]; 2] = [[150.0, 210.0, 130.0], [8.0, 84.0, 32.0]];
/// Ranks that may be labelled on the axis.
const RANKS: [usize; 14] = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
/// Minimum distance between labels in pixels.
const LABEL_GAP: usize = 26;

/// The colour of a document: 0 is grey, 1 red, 2 the lowest label above 0, ...
type Colour = usize;

pub(super) fn draw(trace: &Trace) -> String {
    let mut grades: Vec<f32> = trace.labels.iter().copied().filter(|label| *label > 0.0).collect();
    grades.sort_by(f32::total_cmp);
    grades.dedup();
    let palette = palette(grades.len());
    let is_low = trace.always_low();
    let colour_of = |doc: usize| match grades.iter().position(|grade| *grade == trace.labels[doc]) {
        Some(grade) => grade + 2,
        None => usize::from(is_low[doc]),
    };
    let colours: Vec<Colour> = (0..trace.labels.len()).map(colour_of).collect();
    let every = trace.orders.len().div_ceil(MOST_ROWS).max(1);
    // The last one is always included.
    let skipped = trace.orders.len().saturating_sub(1) % every;
    let shown: Vec<&(usize, Vec<u32>)> = trace.orders.iter().skip(skipped).step_by(every).collect();
    let row_height = (HEIGHT / shown.len().max(1)).clamp(1, TALLEST_ROW);
    let height = row_height * shown.len();

    let mut svg = head(trace, height);
    legend(&mut svg, &grades, &palette, trace.low, is_low.contains(&true));
    for panel in Panel::all(colours.len()) {
        let Panel { left, width, edges, .. } = &panel;
        let rows: Vec<Vec<Colour>> =
            shown.iter().map(|(_, order)| cells(&order[..edges.len() - 1], &colours, edges, *width)).collect();
        let _ = writeln!(
            svg,
            "<g transform=\"translate({left},{TOP})\" shape-rendering=\"crispEdges\">\n<path fill=\"{GREY}\" d=\"M0 0h{width}v{height}h-{width}z\"/>"
        );
        for (colour, fill) in palette.iter().enumerate().skip(1) {
            let path = rectangles(&rows, colour, row_height);
            if !path.is_empty() {
                let _ = writeln!(svg, "<path fill=\"{fill}\" d=\"{path}\"/>");
            }
        }
        svg.push_str("</g>\n");
        panel.axis(&mut svg, TOP + height);
    }
    tree_axis(&mut svg, &shown, row_height);
    svg.push_str("</svg>\n");
    svg
}

/// A range of first ranks.
struct Panel {
    left: usize,
    width: usize,
    /// Where each rank begins, in pixels, and where the last one ends.
    edges: Vec<f64>,
    title: String,
}

impl Panel {
    /// All ranks and, for long lists, a separate panel of the first ones, which would be too narrow to see.
    fn all(n_docs: usize) -> Vec<Self> {
        let panel = |left: usize, width: usize, n_ranks: usize, title: String| Self {
            left,
            width,
            edges: edges(n_ranks, width),
            title,
        };
        if n_docs <= LONG {
            return vec![panel(LEFT, WIDTH, n_docs, "rank".into())];
        }
        vec![
            panel(LEFT, TOP_WIDTH, TOP_RANKS, format!("the first {TOP_RANKS} ranks")),
            panel(LEFT + TOP_WIDTH + GAP, WIDTH - TOP_WIDTH - GAP, n_docs, "all ranks".into()),
        ]
    }

    fn axis(&self, svg: &mut String, bottom: usize) {
        let n_ranks = self.edges.len() - 1;
        let at = |rank: usize| self.left + (0.5 * (self.edges[rank - 1] + self.edges[rank])).round() as usize;
        let mut last: Option<usize> = None;
        for rank in RANKS.into_iter().filter(|rank| *rank < n_ranks).chain([n_ranks]) {
            let x = at(rank);
            let is_crowded =
                last.is_some_and(|last| x < last + LABEL_GAP) || rank < n_ranks && x + LABEL_GAP > at(n_ranks);
            if is_crowded {
                continue;
            }
            last = Some(x);
            let _ = writeln!(
                svg,
                "<path d=\"M{x} {bottom}v5\" stroke=\"#333\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{rank}</text>",
                bottom + 18
            );
        }
        let (middle, title) = (self.left + self.width / 2, &self.title);
        let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{title}</text>", bottom + 38);
    }
}

fn head(trace: &Trace, height: usize) -> String {
    let (width, full) = (LEFT + WIDTH + 24, TOP + height + 52);
    let (qid, n_docs, n_trees) = (escaped(&trace.qid), trace.labels.len(), trace.orders.len());
    let documents = if n_docs == 1 { "document" } else { "documents" };
    let trees = if n_trees == 1 { "tree" } else { "trees" };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{full}\" viewBox=\"0 0 {width} {full}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#333\">\n\
         <rect width=\"{width}\" height=\"{full}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"26\" font-size=\"16\" fill=\"#111\">Ranks of the documents of query {qid} after each tree</text>\n\
         <text x=\"{LEFT}\" y=\"45\">{n_docs} {documents}, {n_trees} {trees}; the width of a rank is its discount in \
                   NDCG</text>\n"
    )
}

fn legend(svg: &mut String, grades: &[f32], palette: &[String], low: f64, has_low: bool) {
    let relevant =
        grades.iter().enumerate().rev().map(|(idx, grade)| (&palette[idx + 2][..], format!("label {grade}")));
    let low = has_low.then(|| (RED, format!("label 0, always among the lowest {:.0} %", 100.0 * low)));
    let mut x = LEFT;
    for (fill, text) in relevant.chain(low).chain([(GREY, "label 0".to_owned())]) {
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"60\" width=\"12\" height=\"12\" fill=\"{fill}\"/><text x=\"{}\" y=\"70\">{text}</text>",
            x + 17
        );
        x += 40 + text.len() * 13 / 2;
    }
}

fn tree_axis(svg: &mut String, shown: &[&(usize, Vec<u32>)], row_height: usize) {
    let bottom = TOP + row_height * shown.len();
    let step = tick_step(shown.last().map_or(1, |(tree, _)| *tree), row_height * shown.len());
    for (row, (tree, _)) in shown.iter().enumerate() {
        if row > 0 && (tree % step != 0 || row * row_height < 14) {
            continue;
        }
        let y = TOP + row * row_height + row_height / 2;
        let _ = writeln!(
            svg,
            "<path d=\"M{} {y}h5\" stroke=\"#333\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{tree}</text>",
            LEFT - 5,
            LEFT - 8,
            y + 4
        );
    }
    let middle = TOP + (bottom - TOP) / 2;
    let _ = writeln!(svg, "<text transform=\"translate(14,{middle}) rotate(-90)\" text-anchor=\"middle\">tree</text>");
}

/// A round number of trees between two marks, at least some twenty pixels apart.
fn tick_step(n_trees: usize, height: usize) -> usize {
    let most = (height / 24).clamp(1, 10);
    let steps = (0..7).flat_map(|power| [1, 2, 5].map(|digit| digit * 10usize.pow(power)));
    steps.into_iter().find(|step| n_trees / step <= most).unwrap_or(n_trees.max(1))
}

/// Where each of some ranks begins, in pixels, and where the last one ends.
fn edges(n_ranks: usize, width: usize) -> Vec<f64> {
    let widths = (0..n_ranks).map(|rank| 1.0 / libm::log2((rank + 2) as f64));
    let total: f64 = widths.clone().sum();
    let sums = widths.scan(0.0, |sum, share| {
        *sum += share / total * width as f64;
        Some(*sum)
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// The colour of each pixel of a row.
fn cells(order: &[u32], colours: &[Colour], edges: &[f64], width: usize) -> Vec<Colour> {
    let mut cells = vec![0; width];
    // The number of red ranks minus that of grey ranks in a cell.
    let mut balance = vec![0i32; width];
    for (rank, doc) in order.iter().enumerate() {
        let colour = colours[*doc as usize];
        let first = (edges[rank].round() as usize).min(width - 1);
        let end = (edges[rank + 1].round() as usize).clamp(first + 1, width);
        for cell in first..end {
            match colour {
                0 => balance[cell] -= 1,
                1 => balance[cell] += 1,
                _ => cells[cell] = cells[cell].max(colour),
            }
        }
    }
    for (cell, balance) in cells.iter_mut().zip(balance) {
        *cell = (*cell).max(usize::from(balance > 0));
    }
    cells
}

/// Rectangles of one colour: runs of a row, extended down as long as the run repeats.
fn rectangles(rows: &[Vec<Colour>], colour: Colour, row_height: usize) -> String {
    let mut path = String::new();
    // The start and end of a run, and its first row.
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    let mut close = |(start, end, first): (usize, usize, usize), row: usize| {
        let (width, y, height) = (end - start, first * row_height, (row - first) * row_height);
        let _ = write!(path, "M{start} {y}h{width}v{height}h-{width}z");
    };
    for (row, cells) in rows.iter().enumerate() {
        let runs = runs(cells, colour);
        let mut next = Vec::with_capacity(runs.len());
        let mut at = 0;
        for (start, end) in runs {
            while at < open.len() && open[at].0 < start {
                close(open[at], row);
                at += 1;
            }
            match open.get(at) {
                Some(known) if (known.0, known.1) == (start, end) => {
                    next.push(*known);
                    at += 1;
                }
                _ => next.push((start, end, row)),
            }
        }
        open[at..].iter().for_each(|run| close(*run, row));
        open = next;
    }
    for run in open {
        close(run, rows.len());
    }
    path
}

/// The runs of a colour in a row.
fn runs(cells: &[Colour], colour: Colour) -> Vec<(usize, usize)> {
    let mut at = 0;
    let pieces = cells.chunk_by(|a, b| a == b).map(|piece| {
        let start = at;
        at += piece.len();
        (piece[0], start, at)
    });
    pieces.filter(|(found, _, _)| *found == colour).map(|(_, start, end)| (start, end)).collect()
}

fn palette(n_grades: usize) -> Vec<String> {
    let green = |grade: usize| {
        let share = if n_grades == 1 { 0.75 } else { grade as f64 / (n_grades - 1) as f64 };
        let [r, g, b] = [0, 1, 2].map(|part| (GREENS[0][part] + share * (GREENS[1][part] - GREENS[0][part])) as u8);
        format!("#{r:02x}{g:02x}{b:02x}")
    };
    [GREY, RED].map(String::from).into_iter().chain((0..n_grades).map(green)).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_cover_their_cells_and_no_others() {
        let rows = vec![vec![1, 1, 0, 2, 2], vec![1, 1, 0, 2, 1], vec![0, 1, 1, 2, 1]];
        let mut painted = vec![vec![0; 5]; 3];
        for colour in [1, 2] {
            let path = rectangles(&rows, colour, 1);
            for piece in path.split('z').filter(|piece| !piece.is_empty()) {
                let numbers: Vec<usize> =
                    piece.split(['M', ' ', 'h', 'v', '-']).filter_map(|number| number.parse().ok()).collect();
                let [x, y, width, height, _] = numbers[..] else { panic!("{piece}") };
                for row in &mut painted[y..y + height] {
                    row[x..x + width].iter_mut().for_each(|cell| *cell = colour);
                }
            }
        }
        assert_eq!(painted, rows);
        assert!(rectangles(&rows, 2, 1).contains("M3 1h1v2"), "what goes on below is one piece");
    }

    #[test]
    fn cells_show_the_highest_grade_and_else_the_most_common_colour() {
        let edges = edges(5000, WIDTH);
        assert!((edges[5000] - WIDTH as f64).abs() < 1e-6 && edges[1] > edges[5000] - edges[4999]);
        let order: Vec<u32> = (0..5000).collect();
        let mut colours = vec![0; 5000];
        colours[4990] = 3;
        colours[2000..3000].fill(1);
        let cells = cells(&order, &colours, &edges, WIDTH);
        assert_eq!(cells.iter().filter(|cell| **cell == 3).count(), 1);
        assert_eq!(cells[edges[2500] as usize], 1);
        assert_eq!(cells[0], 0);
    }
}
