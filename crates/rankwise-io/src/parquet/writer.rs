//! Writes a dataset as Parquet. Features are 32-bit floats, or 64-bit if needed to represent all values; missing values
//! are null. Ids are integers if all of them are, otherwise text.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::options::Role;
use crate::write::Rows;

/// Number of rows per row group: a few hundred features then take at most some hundred megabytes.
const GROUP_ROWS: usize = 128 << 10;

pub(crate) fn write_parquet(out: &mut dyn Write, rows: &Rows<'_>) -> io::Result<()> {
    let columns = columns_of(rows);
    let fields = columns.iter().map(|column| column.field().map(Arc::new)).collect::<Result<_, _>>().map_err(failed)?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(failed)?;
    // The file must depend on nothing but the data.
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_created_by("rankwise".into()).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).map_err(failed)?;
    let places: Vec<usize> = rows.places().collect();
    for places in places.chunks(GROUP_ROWS) {
        let mut group = writer.next_row_group().map_err(failed)?;
        for column in &columns {
            column.write(&mut group, rows, places).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        writer.flush()?;
        out.write_all(&std::mem::take(writer.inner_mut()))?;
    }
    out.write_all(&writer.into_inner().map_err(failed)?)
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

struct Column {
    name: String,
    role: Role,
    /// Whether ids are integers.
    is_integer: bool,
    has_nulls: bool,
    /// Whether f32 cannot represent all values.
    is_wide: bool,
}

fn columns_of(rows: &Rows<'_>) -> Vec<Column> {
    let data = rows.data;
    let has_unnamed = (0..data.n_rows()).any(|row| data.doc_id(row).is_empty());
    let parts = [
        (Role::Label, true, false, false),
        (Role::Qid, true, data.queries().all(|query| is_integer(query.id)), false),
        (Role::DocId, data.has_doc_ids(), (0..data.n_rows()).all(|row| is_integer(data.doc_id(row))), has_unnamed),
        (Role::Weight, data.has_weights(), false, false),
        (Role::QueryWeight, data.has_query_weights(), false, false),
        (Role::Position, data.positions().is_some(), false, false),
    ];
    let known = parts.into_iter().filter(|(_, is_there, ..)| *is_there);
    let known = known.map(|(role, _, is_integer, has_nulls)| Column {
        name: role.usual_names()[0].into(),
        role,
        is_integer,
        has_nulls,
        is_wide: false,
    });
    let features = rows.features().into_iter();
    let is_wide = |id: u32| matches!(data.column_of(id), Some(rankwise_data::Column::Wide(_)));
    let features = features.map(|(id, name)| Column {
        name,
        role: Role::Feature(id),
        is_integer: false,
        has_nulls: true,
        is_wide: is_wide(id),
    });
    known.chain(features).collect()
}

/// Whether an integer would be written exactly like this.
fn is_integer(id: &str) -> bool {
    id.parse::<i64>().is_ok_and(|number| number.to_string() == id)
}

impl Column {
    fn field(&self) -> Result<Type, ParquetError> {
        let (physical, logical) = match self.role {
            Role::Qid | Role::DocId if self.is_integer => (Physical::INT64, None),
            Role::Qid | Role::DocId => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Role::Position => (Physical::INT32, Some(LogicalType::integer(32, false))),
            _ if self.is_wide => (Physical::DOUBLE, None),
            _ => (Physical::FLOAT, None),
        };
        let repetition = if self.has_nulls { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
    }

    fn write(
        &self,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
        rows: &Rows<'_>,
        places: &[usize],
    ) -> Result<(), ParquetError> {
        let data = rows.data;
        let float = |value: f32| (!value.is_nan()).then_some(value);
        let integer = |id: &str| id.parse::<i64>().ok();
        let text = |id: &str| (!id.is_empty()).then(|| ByteArray::from(id));
        match (self.role, self.is_integer) {
            (Role::Qid, true) => self.put::<Int64Type>(group, places, |place| integer(rows.qid(place))),
            (Role::Qid, false) => self.put::<ByteArrayType>(group, places, |place| text(rows.qid(place))),
            (Role::DocId, true) => self.put::<Int64Type>(group, places, |place| integer(data.doc_id(place))),
            (Role::DocId, false) => self.put::<ByteArrayType>(group, places, |place| text(data.doc_id(place))),
            (Role::Position, _) => {
                let positions = data.positions().unwrap_or_default();
                self.put::<Int32Type>(group, places, |place| Some(positions[place] as i32))
            }
            (Role::Feature(id), _) => match data.column_of(id) {
                Some(rankwise_data::Column::Wide(values)) => {
                    self.put::<DoubleType>(group, places, |place| Some(values[place]).filter(|value| !value.is_nan()))
                }
                Some(column) => self.put::<FloatType>(group, places, |place| float(column.get(place))),
                None => self.put::<FloatType>(group, places, |_| float(data.absent().value())),
            },
            (Role::Weight, _) => self.put::<FloatType>(group, places, |place| Some(data.weight(place))),
            (Role::QueryWeight, _) => {
                self.put::<FloatType>(group, places, |place| Some(data.query_weight(rows.query_of(place))))
            }
            (Role::Label | Role::Ignored, _) => {
                self.put::<FloatType>(group, places, |place| Some(data.labels()[place]))
            }
        }
    }

    fn put<T: DataType>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
        places: &[usize],
        value: impl Fn(usize) -> Option<T::T>,
    ) -> Result<(), ParquetError> {
        let cells: Vec<Option<T::T>> = places.iter().map(|place| value(*place)).collect();
        let levels: Option<Vec<i16>> = self.has_nulls.then(|| cells.iter().map(|cell| cell.is_some().into()).collect());
        let values: Vec<T::T> = cells.into_iter().flatten().collect();
        let missing = || ParquetError::General("the schema has fewer columns than the table".into());
        let mut column = group.next_column()?.ok_or_else(missing)?;
        column.typed::<T>().write_batch(&values, levels.as_deref(), None)?;
        column.close()
    }
}
