//! Errors in a line, with their messages.

use std::path::PathBuf;

use rankwise_data::PairProblem;

use crate::options::Role;

/// Maximum length of input shown in a message.
const MAX_SHOWN_CHARS: usize = 40;

/// An error in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The line does not begin with a number.
    Label,
    /// The label is negative, infinite or not a number.
    LabelRange,
    /// `qid:` without an id.
    QidEmpty,
    /// `qid:` anywhere but directly after the label.
    QidLate,
    /// No query id, but the first row has one.
    QidMissing {
        /// The line of the first row.
        first_line: u64,
    },
    /// A query id, but the first row has none.
    QidUnexpected {
        /// The line of the first row.
        first_line: u64,
    },
    /// A query id, but there is a file of query sizes.
    QidAndSizes {
        /// That file.
        sizes: PathBuf,
    },
    /// Neither query ids nor a file of query sizes.
    NoQueries {
        /// Where the sizes could be; `None` for streams.
        sizes: Option<PathBuf>,
    },
    /// Something that is not `feature:value`.
    NotPair,
    /// A feature id that is not an integer.
    Index,
    /// A feature id with more than 32 bits.
    IndexTooLarge,
    /// A feature's value is not a number.
    Value {
        /// The feature.
        feature: u32,
    },
    /// A feature is given twice.
    Duplicate {
        /// The feature.
        feature: u32,
    },
    /// Bytes that are not UTF-8.
    Utf8 {
        /// The part of the line.
        part: &'static str,
    },
    /// A NUL byte or another control character.
    Control {
        /// The part of the line.
        part: &'static str,
    },
    /// A line that is far too long.
    LineTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// A row that is far too long.
    RowTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// A field that does not have the type of its column.
    Cell {
        /// The column, in quotes, or its number.
        column: String,
        /// The role of the column.
        noun: &'static str,
    },
    /// A row with more or fewer fields than the table has columns.
    Ragged {
        /// The number of fields in the row.
        fields: usize,
        /// The number of columns in the table.
        columns: usize,
    },
    /// A quote that is not closed.
    QuoteOpen,
    /// Text after the quote that closes a field.
    QuoteRest,
    /// An invalid pair of documents.
    Pair(PairProblem),
    /// A row whose query has another weight in an earlier row.
    QueryWeightDiffers {
        /// What the row says.
        weight: Box<str>,
        /// What the first row of the query says.
        first: Box<str>,
    },
    /// The weights of a document and of its query multiply to more than a number can hold.
    WeightProduct,
    /// Too many columns.
    TooManyColumns {
        /// The limit.
        limit: usize,
    },
    /// A line of a TREC file with too few or too many fields.
    Fields {
        /// The fields it should have.
        expected: &'static str,
        /// Whether there are too many.
        is_more: bool,
    },
    /// A grade in a TREC file that is not an integer.
    Grade,
    /// A score in a TREC run that is not a finite number.
    Score,
    /// A document that occurs twice for a query in a TREC file.
    DuplicateDoc {
        /// The query, shortened.
        qid: String,
        /// The line of its first occurrence.
        first_line: u64,
    },
    /// An empty line in a list of numbers.
    Blank {
        /// What each line should hold.
        expected: &'static str,
    },
    /// A line in a list of numbers that holds something else.
    NotOne {
        /// What each line should hold.
        expected: &'static str,
    },
}

impl Problem {
    /// The problem and the remedy, with the text that was found.
    pub(crate) fn describe(&self, found: &str) -> String {
        match self {
            Self::Label => label(found),
            Self::LabelRange => format!("label \"{found}\" is out of range; labels are numbers from 0 to 3.4e38"),
            Self::QidEmpty => "\"qid:\" has no id; write the query's id right after the colon".into(),
            Self::QidLate => format!("unexpected \"{found}\"; write one qid, right after the label"),
            Self::QidMissing { first_line } => {
                format!("no qid here, but line {first_line} has one; write qid:ID after every label")
            }
            Self::QidUnexpected { first_line } => {
                format!("\"{found}\" here, but line {first_line} has no qid; give every line a qid or none of them")
            }
            Self::QidAndSizes { sizes } => {
                format!("\"{found}\" here, but {} gives query sizes too; remove that file or the qids", sizes.display())
            }
            Self::NoQueries { sizes } => {
                let sizes = sizes.as_ref().map_or_else(String::new, |sizes| {
                    format!(", or write the number of rows of each query to {}, one per line", sizes.display())
                });
                // A second field without a colon is not a feature.
                let is_table = !found.is_empty() && !found.contains(':');
                let table = if is_table { "; if this is a table, set `data_format` tsv" } else { "" };
                // The second field of a TREC file.
                let trec = match found {
                    "0" => "; if these are TREC judgements, give them with `qrels`",
                    "Q0" => "; if this is a TREC run, it cannot be read as data",
                    _ => "",
                };
                format!("no qid; write qid:ID after every label{sizes}{table}{trec}")
            }
            Self::NotPair => {
                format!("\"{found}\" is not feature:value; write an integer, a colon and a number, without spaces")
            }
            Self::Index => {
                format!("feature \"{found}\" is not an integer of at least 0; number the features 0, 1, 2 and so on")
            }
            Self::IndexTooLarge => format!("feature {found} is too large; the largest is {}", u32::MAX),
            Self::Value { feature } => {
                format!("value \"{found}\" of feature {feature} is not a number; write one, or nan if it is missing")
            }
            Self::Duplicate { feature } => format!("feature {feature} is given twice in this line; keep one value"),
            Self::Utf8 { part } => format!("{part} \"{found}\" is not valid UTF-8; save the file as UTF-8"),
            Self::Control { part } => format!("{part} \"{found}\" contains a control character; remove it"),
            Self::LineTooLong { limit } => format!(
                "the line is longer than {} MB; check that this is text with one document per line",
                limit >> 20
            ),
            Self::RowTooLong { limit } => {
                format!("the row is longer than {} MB; check that every quote is closed", limit >> 20)
            }
            Self::Cell { column, noun } => cell(column, noun, found),
            Self::Ragged { fields, columns } => {
                let what =
                    if fields < columns { "add the missing fields" } else { "quote fields that contain a separator" };
                format!("this row has {fields} fields, but the table has {columns} columns; {what}")
            }
            Self::QuoteOpen => {
                let field = found.trim_start_matches('"');
                format!(
                    "the quoted field that starts with \"{field}\" is never closed; add the closing quote, and write \
                     quotes inside the field as \"\""
                )
            }
            Self::QuoteRest => {
                format!("unexpected \"{found}\" after a closing quote; write quotes inside a quoted field as \"\"")
            }
            Self::Pair(problem) => problem.to_string(),
            Self::QueryWeightDiffers { weight, first } => {
                format!("the query weight is {weight} here, but {first} in an earlier row; use one weight per query")
            }
            Self::WeightProduct => {
                "the product of the document weight and the query weight exceeds 3.4e38; use smaller weights".into()
            }
            Self::TooManyColumns { limit } => {
                format!("the table has more than {limit} columns; check the separator and the quotes")
            }
            Self::Fields { expected, is_more: false } => {
                format!("the line is too short; expected \"{expected}\"")
            }
            Self::Fields { expected, is_more: true } => {
                format!("\"{found}\" is one field too many; expected \"{expected}\"")
            }
            Self::Grade => format!("grade \"{found}\" is not an integer; expected a number such as 0 or 2"),
            Self::Score => format!("score \"{found}\" is not a finite number; expected a number such as 12.75"),
            Self::DuplicateDoc { qid, first_line } => {
                format!("document \"{found}\" of query \"{qid}\" is in line {first_line} too; keep one of the lines")
            }
            Self::Blank { expected } => format!("the line is empty; expected {expected}"),
            Self::NotOne { expected } => format!("\"{found}\" is invalid; expected {expected}"),
        }
    }
}

/// A bad label may show that this is a table without a table's file extension.
fn label(found: &str) -> String {
    let is_name = Role::Label.is_usual(found) || Role::Qid.is_usual(found);
    if found == "rankwise-checkpoint" {
        return "this is a checkpoint of an interrupted run, not data; resume that run instead".into();
    }
    let advice = match found {
        _ if found.contains(',') => "if this is a table, set `data_format` csv",
        _ if is_name => "if this is a table, set `data_format` tsv",
        _ => "each line must start with a label, as in \"2 qid:7 1:0.5\"",
    };
    format!("label \"{found}\" is not a number; {advice}")
}

fn cell(column: &str, noun: &'static str, found: &str) -> String {
    let advice = match noun {
        "label" => "labels are numbers from 0 to 3.4e38",
        "document weight" | "query weight" => "weights are numbers from 0 to 3.4e38",
        "position" => "positions are integers from 0 to 4294967295",
        "qid" => "every row needs the id of its query",
        _ => "write a number, or leave the field empty if the value is missing; `ignore_columns` skips columns",
    };
    let noun = if noun == "feature" { "number" } else { noun };
    match found {
        "" => format!("no {noun} in column {column}; {advice}"),
        _ => format!("\"{found}\" in column {column} is not a {noun}; {advice}"),
    }
}

/// The id of a query or a document.
pub(crate) fn name<'a>(bytes: &'a [u8], part: &'static str) -> Result<&'a str, Problem> {
    let name = std::str::from_utf8(bytes).map_err(|_| Problem::Utf8 { part })?;
    if name.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(Problem::Control { part });
    }
    Ok(name)
}

/// The beginning of some input for a message: short, on one line, without control characters.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut n_chars = 0;
    // A character takes at most 4 bytes; this avoids walking through a line of 64 MB.
    for chunk in bytes[..bytes.len().min(4 * (MAX_SHOWN_CHARS + 1))].utf8_chunks() {
        let valid = chunk.valid().chars().map(|char| match char {
            '"' | '\'' | '\\' => char.to_string(),
            // Also shows white space that looks like a space but is not.
            char => char.escape_debug().to_string(),
        });
        let invalid = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}"));
        for piece in valid.chain(invalid) {
            n_chars += piece.chars().count();
            if n_chars > MAX_SHOWN_CHARS {
                return text + "...";
            }
            text.push_str(&piece);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shortened_and_escaped() {
        assert_eq!(shown(b"plain"), "plain");
        assert_eq!(shown(b"a\0b\x1b[1m\xffz"), "a\\0b\\u{1b}[1m\\xffz");
        assert_eq!(shown("\u{a0}\u{200b}\"\\".as_bytes()), "\\u{a0}\\u{200b}\"\\");
        assert_eq!(shown("é".repeat(40).as_bytes()), "é".repeat(40));
        assert_eq!(shown("é".repeat(41).as_bytes()), "é".repeat(40) + "...");
        assert_eq!(shown(&[b'x'; 1000]), "x".repeat(40) + "...");
        assert!(shown(&[0; 1000]).len() <= 43);
        assert_eq!(shown("😀".repeat(1000).as_bytes()), "😀".repeat(40) + "...");
    }
}
