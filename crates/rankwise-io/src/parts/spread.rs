//! Assigns the side files of each data file to its rows, because a list for one file is meaningless once there are
//! several.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rankwise_data::{DataError, Pair, PairProblem, RowBlock};

use crate::error::IoError;
use crate::options::Format;
use crate::problem::Problem;
use crate::read::FileRows;
use crate::report::SideFile;
use crate::side_files::SideFiles;

/// One file, as read.
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    pub(super) rows: FileRows,
    pub(super) n_rows: usize,
    pub(super) side_files: Vec<SideFile>,
    /// The content of the side files, until it is assigned to the rows.
    lists: SideFiles,
    /// Pairs, with rows numbered through all files.
    pub(super) pairs: Vec<Pair>,
    pub(super) n_pairs: usize,
    pub(super) pairs_path: Option<PathBuf>,
    /// The number of rows in the files before.
    first_row: usize,
}

impl Part {
    pub(super) fn new(path: &Path, format: Format, rows: FileRows, lists: SideFiles) -> Self {
        let n_rows = rows.blocks.iter().map(RowBlock::n_rows).sum();
        let pairs_path = lists.pairs.as_ref().map(|(path, _)| path.clone());
        Self {
            path: path.into(),
            format,
            rows,
            n_rows,
            side_files: lists.list(),
            lists,
            pairs: Vec::new(),
            n_pairs: 0,
            pairs_path,
            first_row: 0,
        }
    }

    /// The problem of a pair in terms of its own file: rows count from 0 there.
    pub(super) fn local(&self, problem: PairProblem) -> PairProblem {
        match problem {
            PairProblem::Itself { row } => PairProblem::Itself { row: row - self.first_row as u32 },
            other => other,
        }
    }

    fn error(path: &Path, source: DataError) -> IoError {
        IoError::Data { path: path.into(), source }
    }

    /// Calls `set` for each block with its part of a list that has one entry per row.
    fn share<T>(
        &mut self,
        (path, list): &(PathBuf, Vec<T>),
        what: &'static str,
        set: impl Fn(&mut RowBlock, &[T]),
    ) -> Result<(), IoError> {
        if list.len() != self.n_rows {
            let source = DataError::Length { what, given: list.len(), expected: self.n_rows, of: "rows" };
            return Err(Self::error(path, source));
        }
        let mut rest = &list[..];
        for block in &mut self.rows.blocks {
            let (of_block, after) = rest.split_at(block.n_rows());
            set(block, of_block);
            rest = after;
        }
        Ok(())
    }

    /// Numbers queries without ids, continuing from the files before.
    fn name_queries(&mut self, (path, sizes): &(PathBuf, Vec<usize>), n_before: usize) -> Result<(), IoError> {
        let sum = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
        if sum != self.n_rows {
            return Err(Self::error(path, DataError::GroupSizes { sum, rows: self.n_rows }));
        }
        let mut queries = (n_before + 1..).zip(sizes.iter().copied()).filter(|(_, size)| *size > 0);
        let mut open = queries.next();
        for block in &mut self.rows.blocks {
            let (mut runs, mut room) = (Vec::new(), block.n_rows());
            while let Some((number, size)) = open.filter(|_| room > 0) {
                let taken = size.min(room);
                runs.push((number.to_string(), taken));
                room -= taken;
                open = if taken < size { Some((number, size - taken)) } else { queries.next() };
            }
            block.set_qid_runs(runs);
        }
        Ok(())
    }

    /// For each run, the number of its query (by first appearance) and its length; and the ids.
    fn numbered_runs(&self) -> (Vec<(usize, usize)>, Vec<&str>) {
        let (mut known, mut ids, mut runs) = (HashMap::new(), Vec::new(), Vec::new());
        for (qid, n_rows) in self.rows.blocks.iter().flat_map(RowBlock::qid_runs) {
            let number = *known.entry(qid).or_insert_with(|| {
                ids.push(qid);
                ids.len() - 1
            });
            runs.push((number, n_rows));
        }
        (runs, ids)
    }

    /// Gives each row its query weight.
    fn weigh_queries(&mut self) -> Result<(), IoError> {
        let given = (self.lists.query_weights.take(), self.lists.weights_by_id.take());
        let (runs, ids) = self.numbered_runs();
        let (path, weights) = match given {
            (Some((path, weights)), _) => {
                if weights.len() != ids.len() {
                    let (what, given, expected) = ("query weights", weights.len(), ids.len());
                    return Err(Self::error(&path, DataError::Length { what, given, expected, of: "queries" }));
                }
                (path, weights)
            }
            (None, Some((path, by_id))) => {
                let mut known = HashMap::new();
                for (id, weight) in &by_id {
                    if known.insert(id.as_str(), *weight).is_some() {
                        return Err(Self::error(&path, DataError::QueryWeightTwice { qid: id.clone() }));
                    }
                }
                let weight = |id: &&str| known.get(id).copied().ok_or_else(|| (*id).to_owned());
                let weights = ids.iter().map(weight).collect::<Result<Vec<f32>, String>>();
                let weights = weights.map_err(|qid| Self::error(&path, DataError::QueryWeightMissing { qid }))?;
                (path, weights)
            }
            (None, None) => return Ok(()),
        };
        let of_rows = runs.iter().flat_map(|(query, n_rows)| std::iter::repeat_n(weights[*query], *n_rows)).collect();
        self.share(&(path, of_rows), "query weights", RowBlock::set_query_weights)
    }

    /// Renumbers the rows of pairs through all files.
    fn number_pairs(&mut self) -> Result<(), IoError> {
        let Some((path, mut pairs)) = self.lists.pairs.take() else { return Ok(()) };
        let rows = self.n_rows;
        let is_beyond = |row: &u32| *row as usize >= rows;
        for (line, pair) in (1..).zip(&pairs) {
            if let Some(row) = [pair.winner, pair.loser].into_iter().find(is_beyond) {
                let problem = Problem::Pair(PairProblem::Row { row, rows });
                return Err(IoError::Line { path, line, column: 1, found: String::new(), problem });
            }
        }
        for pair in &mut pairs {
            // An overflow is harmless: the builder rejects that many rows.
            pair.winner = pair.winner.saturating_add(self.first_row as u32);
            pair.loser = pair.loser.saturating_add(self.first_row as u32);
        }
        (self.n_pairs, self.pairs) = (pairs.len(), pairs);
        Ok(())
    }

    /// Makes the query ids distinct from those of other files.
    fn prefix_queries(&mut self, number: usize) {
        for block in &mut self.rows.blocks {
            let runs: Vec<(String, usize)> =
                block.qid_runs().map(|(qid, n_rows)| (format!("{number}/{qid}"), n_rows)).collect();
            block.set_qid_runs(runs);
        }
    }
}

/// Assigns the side files of each file to its rows; `sorted` has the indices of the files by path. Returns the number
/// of rows before each file.
pub(super) fn spread(parts: &mut [Part], sorted: &[usize], is_scope_file: bool) -> Result<Vec<usize>, IoError> {
    let mut n_rows = 0;
    for part in parts.iter_mut() {
        part.first_row = n_rows;
        n_rows += part.n_rows;
    }
    let mut n_queries = 0;
    for (number, place) in (1..).zip(sorted) {
        let part = &mut parts[*place];
        let sizes = part.lists.sizes.take();
        if let Some(sizes) = &sizes {
            part.name_queries(sizes, n_queries)?;
            n_queries += sizes.1.len();
        }
        if let Some(weights) = part.lists.row_weights.take() {
            part.share(&weights, "document weights", RowBlock::set_weights)?;
        }
        if let Some(positions) = part.lists.positions.take() {
            part.share(&positions, "positions", RowBlock::set_positions)?;
        }
        part.weigh_queries()?;
        part.number_pairs()?;
        if is_scope_file && sizes.is_none() {
            part.prefix_queries(number);
        }
    }
    Ok(parts.iter().map(|part| part.first_row).collect())
}
