//! Which column types can have which roles.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::schema::types::ColumnDescriptor;

use crate::column_problem::ColumnProblem;
use crate::columns::quoted;
use crate::options::Role;

/// How to interpret the values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Bool,
    Signed,
    Unsigned,
    /// Integers to be divided by a power of ten.
    Decimal {
        divisor: f64,
    },
    Float,
    /// 16-bit floats.
    Half,
    Text,
}

impl Kind {
    /// The type that all files of a dataset must agree on. The storage of numbers does not matter.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::Bool => "booleans",
            Self::Text => "text",
            Self::Signed | Self::Unsigned | Self::Decimal { .. } | Self::Float | Self::Half => "numbers",
        }
    }

    /// The value of a 32-bit integer.
    pub(super) fn number_of_32(self, value: i32) -> f64 {
        match self {
            Self::Unsigned => f64::from(value as u32),
            Self::Decimal { divisor } => f64::from(value) / divisor,
            _ => f64::from(value),
        }
    }

    /// The value of a 64-bit integer.
    pub(super) fn number_of_64(self, value: i64) -> f64 {
        match self {
            Self::Unsigned => value as u64 as f64,
            Self::Decimal { divisor } => value as f64 / divisor,
            _ => value as f64,
        }
    }
}

/// Decimals of at most 128 bits.
const MAX_DECIMAL_BYTES: i32 = 16;

/// How to interpret a column with this role, or why it cannot have this role.
pub(super) fn kind_for(column: &ColumnDescriptor, role: Role) -> Result<Kind, ColumnProblem> {
    let problem = |found: &str, advice: String| ColumnProblem::Type {
        column: quoted(&column.path().string()),
        found: found.into(),
        noun: if matches!(role, Role::Feature(_)) { "number" } else { role.noun() },
        advice,
    };
    let to_numbers = || match role {
        Role::Feature(_) => "convert it to numbers, or ignore it with `ignore_columns`".to_owned(),
        _ => format!("convert it to numbers, or name another column with `{}_column`", role.name()),
    };
    let kind = kind_of(column).map_err(|found| problem(found, to_numbers()))?;
    match (role, kind) {
        (Role::Qid | Role::DocId, Kind::Text | Kind::Signed | Kind::Unsigned | Kind::Float) => Ok(kind),
        (Role::Qid | Role::DocId, _) => {
            Err(problem("neither text nor integers", "store ids as text or as integers".into()))
        }
        (_, Kind::Text) => Err(problem("text", to_numbers())),
        _ => Ok(kind),
    }
}

fn kind_of(column: &ColumnDescriptor) -> Result<Kind, &'static str> {
    if column.max_rep_level() > 0 || column.max_def_level() > 1 || column.path().parts().len() > 1 {
        return Err("nested values");
    }
    let (converted, logical) = (column.converted_type(), column.logical_type_ref());
    let is_decimal = converted == ConvertedType::DECIMAL || matches!(logical, Some(LogicalType::Decimal(_)));
    let decimal = || Kind::Decimal { divisor: 10f64.powi(column.type_scale().clamp(0, 300)) };
    match column.physical_type() {
        Type::BOOLEAN => Ok(Kind::Bool),
        Type::FLOAT | Type::DOUBLE => Ok(Kind::Float),
        Type::INT96 => Err("timestamps"),
        Type::INT32 | Type::INT64 if is_decimal => Ok(decimal()),
        Type::INT32 | Type::INT64 => integer_kind(converted, logical),
        Type::FIXED_LEN_BYTE_ARRAY if logical == Some(&LogicalType::Float16) => match column.type_length() {
            2 => Ok(Kind::Half),
            _ => Err("16-bit numbers of another size"),
        },
        Type::FIXED_LEN_BYTE_ARRAY if is_decimal && column.type_length() <= MAX_DECIMAL_BYTES => Ok(decimal()),
        Type::BYTE_ARRAY if !is_decimal => Ok(Kind::Text),
        Type::FIXED_LEN_BYTE_ARRAY | Type::BYTE_ARRAY => Err("bytes"),
    }
}

fn integer_kind(converted: ConvertedType, logical: Option<&LogicalType>) -> Result<Kind, &'static str> {
    use ConvertedType as C;
    match (converted, logical) {
        (C::DATE, _) | (_, Some(LogicalType::Date)) => Err("dates"),
        (C::TIME_MILLIS | C::TIME_MICROS, _) | (_, Some(LogicalType::Time(_))) => Err("times"),
        (C::TIMESTAMP_MILLIS | C::TIMESTAMP_MICROS, _) | (_, Some(LogicalType::Timestamp(_))) => Err("timestamps"),
        (C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64, _) => Ok(Kind::Unsigned),
        (_, Some(LogicalType::Integer(integer))) if !integer.is_signed => Ok(Kind::Unsigned),
        _ => Ok(Kind::Signed),
    }
}
