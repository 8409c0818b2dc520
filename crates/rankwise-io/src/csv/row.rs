//! Parses a block of table rows into documents.

use rankwise_data::RowBlock;

use super::field::{Field, Fields};
use crate::batches::Fault;
use crate::columns::Columns;
use crate::number::{self, Short};
use crate::options::Role;
use crate::problem::{Problem, name};

/// Texts for a missing value, in any case. An empty field is missing, too.
const MISSING: [&str; 9] = ["na", "nan", "n/a", "#n/a", "null", "none", "?", "-", "\\n"];

/// The result of a block.
#[derive(Default)]
pub(super) struct ParsedBlock {
    pub(super) rows: RowBlock,
    pub(super) n_lines: u64,
    /// The error that stopped parsing.
    pub(super) fault: Option<(u64, Fault)>,
}

/// Parses rows up to the first error. `WIDE` keeps values that f32 cannot hold.
pub(super) fn parse_block<const WIDE: bool>(text: &[u8], separator: u8, columns: &Columns) -> ParsedBlock {
    let ascending = columns.ascending_features();
    let mut parser: Parser<'_, WIDE> = Parser {
        fields: Fields::new(text, separator),
        columns,
        is_table: ascending.is_some(),
        rows: ascending.map_or_else(RowBlock::default, |features| RowBlock::for_table(&features)),
        label: 0.0,
        qid: String::new(),
        doc_id: String::new(),
    };
    if WIDE {
        parser.rows.expect_decimals();
    }
    while parser.fields.find_row() {
        if let Err(fault) = parser.add_row() {
            return ParsedBlock { rows: RowBlock::default(), n_lines: 0, fault: Some((parser.fields.line, fault)) };
        }
    }
    ParsedBlock { rows: parser.rows, n_lines: parser.fields.line, fault: None }
}

struct Parser<'a, const WIDE: bool> {
    fields: Fields<'a>,
    columns: &'a Columns,
    /// Whether features ascend, so that rows can be added as those of a table.
    is_table: bool,
    rows: RowBlock,
    label: f32,
    qid: String,
    doc_id: String,
}

impl<const WIDE: bool> Parser<'_, WIDE> {
    fn add_row(&mut self) -> Result<(), Fault> {
        let last = self.columns.roles.len() - 1;
        for (column, role) in self.columns.roles.iter().enumerate() {
            match *role {
                Role::Feature(feature) => self.add_value(feature, column)?,
                role => self.add_other(role, column)?,
            }
            if column < last && !self.fields.pass_separator() {
                return Err(self.ragged(self.fields.at, column + 1));
            }
        }
        if !self.fields.pass_end() {
            return Err(self.too_long());
        }
        self.rows.start_row(&self.qid, self.label, &self.doc_id);
        if self.is_table {
            self.rows.finish_table_row();
        } else {
            self.rows.finish_row().expect("the columns are different features");
        }
        Ok(())
    }

    /// Nearly all fields are short numbers or empty; these are parsed in place.
    #[inline]
    fn add_value(&mut self, feature: u32, column: usize) -> Result<(), Fault> {
        let rest = &self.fields.text[self.fields.at..];
        let is_end = |byte: u8| byte == self.fields.separator || byte == b'\n';
        let short = match number::parse_short(rest) {
            Some(short) if is_end(rest[short.len]) => short,
            _ if is_end(rest[0]) => Short { value: f64::NAN, len: 0, digits: 0, n_decimals: 0 },
            _ => return self.add_odd_value(feature, column),
        };
        if WIDE && !short.is_told() {
            self.rows.keep_decimal(short.value, short.digits, short.n_decimals);
        }
        if self.is_table {
            self.rows.push_next_finite(short.value as f32);
        } else {
            self.rows.push_finite(feature, short.value as f32);
        }
        self.fields.at += short.len;
        Ok(())
    }

    fn push(&mut self, feature: u32, value: f64) {
        match (self.is_table, WIDE) {
            (true, false) => self.rows.push_next_value(value as f32),
            (true, true) => self.rows.push_next_f64(value),
            (false, false) => self.rows.push_value(feature, value as f32),
            (false, true) => self.rows.push_f64(feature, value),
        }
    }

    fn add_odd_value(&mut self, feature: u32, column: usize) -> Result<(), Fault> {
        let field = self.fields.next()?;
        let text = self.fields.content(field);
        let value = value_of(&text).ok_or_else(|| self.not_a(Role::Feature(feature), column, field))?;
        self.push(feature, value);
        self.fields.finish(field);
        Ok(())
    }

    fn add_other(&mut self, role: Role, column: usize) -> Result<(), Fault> {
        let field = self.fields.next()?;
        let text = self.fields.content(field);
        let not_a = || self.not_a(role, column, field);
        match role {
            Role::Label => self.label = number::parse_weight(text.trim_ascii()).ok_or_else(not_a)?,
            Role::Weight => {
                let weight = number::parse_weight(text.trim_ascii()).ok_or_else(not_a)?;
                self.rows.push_weight(weight);
            }
            Role::QueryWeight => {
                let weight = number::parse_weight(text.trim_ascii()).ok_or_else(not_a)?;
                self.rows.push_query_weight(weight);
            }
            Role::Position => {
                let position = std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok());
                self.rows.push_position(position.ok_or_else(not_a)?);
            }
            Role::Qid => {
                let qid = self.name(&text, field, "qid")?;
                if qid.is_empty() {
                    return Err(not_a());
                }
                qid.clone_into(&mut self.qid);
            }
            Role::DocId => self.name(&text, field, "document id")?.clone_into(&mut self.doc_id),
            Role::Ignored | Role::Feature(_) => {}
        }
        self.fields.finish(field);
        Ok(())
    }

    fn name<'t>(&self, text: &'t [u8], field: Field, part: &'static str) -> Result<&'t str, Fault> {
        name(text, part).map_err(|problem| self.fields.field_fault(field, problem))
    }

    #[cold]
    fn not_a(&self, role: Role, column: usize, field: Field) -> Fault {
        let problem = Problem::Cell { column: self.columns.shown[column].clone(), noun: role.noun() };
        let text = self.fields.content(field);
        let found = crate::problem::shown(&text);
        Fault { found, ..self.fields.field_fault(field, problem) }
    }

    /// The error for a row with a wrong number of fields, at the place where that becomes apparent.
    #[cold]
    fn ragged(&self, at: usize, fields: usize) -> Fault {
        self.fields.fault(at, at, Problem::Ragged { fields, columns: self.columns.roles.len() })
    }

    /// The error for a row with too many fields; counts them.
    #[cold]
    fn too_long(&self) -> Fault {
        let mut ahead = self.fields.clone();
        let mut fields = self.columns.roles.len();
        while ahead.pass_separator() && ahead.next().is_ok() {
            fields += 1;
        }
        self.ragged(self.fields.at, fields)
    }
}

/// A number, a Boolean or a text for a missing value.
pub(super) fn value_of(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    if let Some(value) = number::parse(text) {
        return Some(value);
    }
    let is = |name: &str| text.eq_ignore_ascii_case(name.as_bytes());
    match text {
        b"" => Some(f64::NAN),
        _ if is("true") => Some(1.0),
        _ if is("false") => Some(0.0),
        _ => MISSING.iter().any(|name| is(name)).then_some(f64::NAN),
    }
}
