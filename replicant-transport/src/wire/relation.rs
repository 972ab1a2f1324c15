//! How the rows that follow are laid out: Relation and Type.

use std::collections::HashSet;

use super::malformed::{Malformed, Problem};
use super::reader::Reader;
use crate::cell::Opaque;
use crate::ident::{Ident, QualifiedName};
use crate::relation::{KeyPart, Relation, RelationColumn, ReplicaIdentity};

/// Flags, an empty name's zero byte, type and modifier: no column takes fewer bytes.
const COLUMN_BYTES_MIN: usize = 1 + 1 + 4 + 4;

/// `Y`: the name of a type that is not built in, sent before the first Relation that uses it.
///
/// For a domain this is the domain's object id with the BASE type's name, so it resolves nothing; the catalog does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeName {
    /// Object id of the type.
    pub oid: u32,
    /// Its schema; empty for `pg_catalog`.
    pub schema: Opaque,
    /// Its name, or its base type's when it is a domain.
    pub name: Opaque,
}

impl TypeName {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            oid: reader.u32("type id")?,
            schema: Opaque::new(reader.string("schema")?),
            name: Opaque::new(reader.string("name")?),
        })
    }
}

/// `R`: a table.
pub(super) fn read_relation(reader: &mut Reader<'_>) -> Result<Relation, Malformed> {
    let oid = reader.u32("relation id")?;
    let name = QualifiedName {
        schema: reader.schema("schema")?,
        name: reader.ident("table name")?,
    };
    let letter = reader.u8("replica identity")?;
    let replica_identity = ReplicaIdentity::from_letter(letter)
        .ok_or_else(|| reader.malformed("replica identity", Problem::Unknown))?;
    let count = reader.count16("number of columns", COLUMN_BYTES_MIN)?;
    let mut columns: Vec<RelationColumn> = Vec::with_capacity(count);
    for at in 1..=count {
        let column = read_column(reader).map_err(|malformed| Malformed {
            column: u16::try_from(at).ok(),
            ..malformed
        })?;
        columns.push(column);
    }
    // Everybody downstream finds a column by its name.
    let mut names: HashSet<&Ident> = HashSet::with_capacity(count);
    if !columns.iter().all(|column| names.insert(&column.name)) {
        return Err(reader.malformed("column name", Problem::Duplicate));
    }
    Ok(Relation {
        oid,
        name,
        replica_identity,
        columns,
    })
}

fn read_column(reader: &mut Reader<'_>) -> Result<RelationColumn, Malformed> {
    let key = match reader.u8("flags")? {
        0 => KeyPart::NotKey,
        1 => KeyPart::Key,
        _ => return Err(reader.malformed("flags", Problem::Unknown)),
    };
    Ok(RelationColumn {
        name: reader.ident("name")?,
        type_oid: reader.u32("type id")?,
        type_modifier: reader.i32("type modifier")?,
        key,
    })
}
