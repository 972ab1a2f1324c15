//! What tests of planning and writing are made of: tables, relations, rows and a private destination server.

mod server;

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use replicant_checkpoint::contract::resource::{
    ColumnSpec, Nullability, OnTruncate, ResourceSpec, Storage, TableName,
};
use replicant_transport::ack::Receipt;
use replicant_transport::assemble::{Assembler, Event};
use replicant_transport::cell::{Opaque, Slot, Tuple};
use replicant_transport::change::{Change, ChangeKind, OldRow, Ordinal};
use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::pg_type::{Inside, PgType, TypeKind};
use replicant_transport::position::{Lsn, WalEnd};
use replicant_transport::relation::{KeyPart, Relation, RelationColumn, ReplicaIdentity};
use replicant_transport::sink::ValueFormat;
use replicant_transport::wire;
use tokio_postgres::Client;

use crate::generation::{
    Column, Constraints, Conversion, CopyBinary, DeleteAndReinsert, Folding, Generation, Held,
    History, Image, KeyColumn, RowMatch, SourceNames, Table, Travel, UpsertMeets,
};
use crate::hooked::Hooks;
use crate::plan::Piece;
pub(crate) use server::connect;

/// A cell to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum V {
    Null,
    Unchanged,
    Text(String),
    Binary(Vec<u8>),
}

pub(crate) fn t(text: impl ToString) -> V {
    V::Text(text.to_string())
}

pub(crate) const N: V = V::Null;
pub(crate) const U: V = V::Unchanged;

pub(crate) fn tuple(cells: &[V]) -> Tuple {
    let mut bytes = BytesMut::new();
    let slots = cells
        .iter()
        .map(|cell| {
            let start = u32::try_from(bytes.len()).unwrap();
            let mut put = |value: &[u8]| {
                bytes.put_slice(value);
                start + u32::try_from(value.len()).unwrap()
            };
            match cell {
                V::Null => Slot::Null,
                V::Unchanged => Slot::Unchanged,
                V::Text(text) => Slot::Text {
                    start,
                    end: put(text.as_bytes()),
                },
                V::Binary(value) => Slot::Binary {
                    start,
                    end: put(value),
                },
            }
        })
        .collect();
    Tuple::new(bytes.freeze(), slots).unwrap()
}

fn change(kind: ChangeKind) -> Change {
    Change {
        ordinal: Ordinal(0),
        bytes: 0,
        kind,
    }
}

pub(crate) fn insert(relation: &Arc<Relation>, new: &[V]) -> Change {
    change(ChangeKind::Insert {
        relation: Arc::clone(relation),
        new: tuple(new),
    })
}

pub(crate) fn update(relation: &Arc<Relation>, new: &[V]) -> Change {
    change(ChangeKind::Update {
        relation: Arc::clone(relation),
        old: None,
        new: tuple(new),
    })
}

/// An update with a key-only old row; columns outside of the key hold their placeholder.
pub(crate) fn update_key(relation: &Arc<Relation>, old: &[V], new: &[V]) -> Change {
    change(ChangeKind::Update {
        relation: Arc::clone(relation),
        old: Some(OldRow::Key(tuple(old))),
        new: tuple(new),
    })
}

pub(crate) fn update_full(relation: &Arc<Relation>, old: &[V], new: &[V]) -> Change {
    change(ChangeKind::Update {
        relation: Arc::clone(relation),
        old: Some(OldRow::Full(tuple(old))),
        new: tuple(new),
    })
}

pub(crate) fn delete(relation: &Arc<Relation>, old: &[V]) -> Change {
    change(ChangeKind::Delete {
        relation: Arc::clone(relation),
        old: OldRow::Key(tuple(old)),
    })
}

pub(crate) fn delete_full(relation: &Arc<Relation>, old: &[V]) -> Change {
    change(ChangeKind::Delete {
        relation: Arc::clone(relation),
        old: OldRow::Full(tuple(old)),
    })
}

pub(crate) fn truncate(relations: &[&Arc<Relation>]) -> Change {
    change(ChangeKind::Truncate {
        relations: relations.iter().copied().map(Arc::clone).collect(),
        cascade: false,
        restart_identity: false,
    })
}

pub(crate) fn message() -> Change {
    change(ChangeKind::Message {
        prefix: Opaque::new(Bytes::from_static(b"p")),
        content: Opaque::new(Bytes::new()),
    })
}

pub(crate) fn piece(changes: Vec<Change>) -> Vec<Piece> {
    vec![Piece {
        changes,
        ..Piece::default()
    }]
}

/// A column as tests describe it: name, type name in `pg_catalog`, object id.
pub(crate) type Plain = (&'static str, &'static str, u32);

pub(crate) const INT8: u32 = 20;
pub(crate) const TEXT: u32 = 25;

pub(crate) fn pg_type(schema: &str, name: &str, oid: u32) -> PgType {
    let name = QualifiedName::new(schema, name).unwrap();
    PgType {
        oid,
        name: name.clone(),
        kind: TypeKind::Base,
        base_oid: oid,
        base_name: name,
        base_kind: TypeKind::Base,
        inside: Inside::Nothing,
        modifier: -1,
    }
}

/// A column whose values travel as text.
pub(crate) fn column(name: &str, ty: PgType) -> Column {
    let spec: &'static ColumnSpec = Box::leak(Box::new(ColumnSpec {
        nullability: Nullability::Nullable,
        ..ColumnSpec::new(leak(name), Storage::Any)
    }));
    let cast = ty.base_name.quoted().to_string();
    Column {
        spec,
        source: Ident::new(name).unwrap(),
        formerly: Vec::new(),
        source_attnum: 1,
        source_type: ty.clone(),
        target: Ident::new(name).unwrap(),
        travel: Travel::Text {
            cast: Conversion::Cast(cast),
        },
        target_type: ty,
        target_identity: false,
        image: Image::Row,
    }
}

fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// A folding table of text-travelling columns found by `keys`.
pub(crate) fn table(name: &str, columns: Vec<Column>, keys: &[usize]) -> Table {
    let name = QualifiedName::parse(name).unwrap();
    let spec: &'static ResourceSpec = Box::leak(Box::new(ResourceSpec {
        rust_name: "Test",
        source: TableName {
            schema: leak(name.schema.as_str()),
            table: leak(name.name.as_str()),
        },
        target: TableName {
            schema: leak(name.schema.as_str()),
            table: leak(name.name.as_str()),
        },
        on_truncate: OnTruncate::Mirror,
        ..ResourceSpec::EMPTY
    }));
    let keys: Vec<KeyColumn> = keys
        .iter()
        .map(|column| KeyColumn {
            column: *column,
            equals: "OPERATOR(pg_catalog.=)".to_owned(),
        })
        .collect();
    Table {
        spec,
        source: name.clone(),
        source_oid: 1,
        target: name.clone(),
        shown: name,
        scope: None,
        columns,
        row_match: RowMatch::Key(keys),
        upsert_meets: UpsertMeets::Own,
        across_tenants: Vec::new(),
        deferred: Vec::new(),
        folding: Folding::PerKey,
        overriding_system_value: false,
        constraints: Vec::new(),
        delete_and_reinsert: DeleteAndReinsert::Allowed,
        held: Held::Mirror,
        seals: Arc::default(),
    }
}

pub(crate) fn plain_table(name: &str, columns: &[Plain], keys: &[usize]) -> Table {
    let columns = columns
        .iter()
        .map(|(name, ty, oid)| column(name, pg_type("pg_catalog", ty, *oid)))
        .collect();
    table(name, columns, keys)
}

/// Makes a table keep history: its key becomes the business key, truncates close.
pub(crate) fn history_of(mut table: Table) -> Table {
    let ident = |name| Ident::new(name).unwrap();
    table.held = Held::History(History {
        from_lsn: ident("valid_from_lsn"),
        to_lsn: ident("valid_to_lsn"),
        from_time: Some(ident("valid_from")),
        to_time: Some(ident("valid_to")),
        current: Some(ident("is_current")),
        recorded_until: None,
    });
    with_truncate(table, OnTruncate::Close)
}

fn with_truncate(mut table: Table, on_truncate: OnTruncate) -> Table {
    table.spec = Box::leak(Box::new(ResourceSpec {
        on_truncate,
        ..*table.spec
    }));
    table
}

/// Makes a table keyless: found by all of its columns.
pub(crate) fn keyless(mut table: Table) -> Table {
    table.row_match = RowMatch::WholeRow;
    table.folding = Folding::RowOrder;
    table
}

/// How the stream describes the table: same columns, its key as the replica identity.
pub(crate) fn relation(table: &Table) -> Arc<Relation> {
    let keys = table.row_match.key();
    let columns = table.columns.iter().enumerate();
    Arc::new(Relation {
        oid: 1,
        name: table.source.clone(),
        replica_identity: ReplicaIdentity::Default,
        columns: columns
            .map(|(index, column)| RelationColumn {
                name: column.source.clone(),
                type_oid: column.source_type.oid,
                type_modifier: -1,
                key: if keys.iter().any(|key| key.column == index) {
                    KeyPart::Key
                } else {
                    KeyPart::NotKey
                },
            })
            .collect(),
    })
}

pub(crate) fn generation(tables: Vec<Table>) -> Generation {
    Generation {
        admitted_at: WalEnd::new(Lsn::new(0x1000)),
        format: ValueFormat::Text,
        by_source: tables
            .iter()
            .enumerate()
            .map(|(index, table)| (table.source.clone(), index))
            .collect(),
        tables,
        by_tenant: Default::default(),
        ignored: [QualifiedName::parse("public.ignored").unwrap()].into(),
        constraints: Constraints::Deferred {
            foreign_keys: Vec::new(),
            unique: Vec::new(),
        },
        notices: Vec::new(),
        hooks: Hooks {
            source: SourceNames {
                system: "1".to_owned(),
                database: "source".to_owned(),
                slot: "slot".to_owned(),
            },
            tables: Vec::new(),
            auxiliaries: Vec::new(),
        },
        groups: Default::default(),
    }
}

/// Describes a destination table from the catalog, as if the source's were the same.
pub(crate) async fn describe(client: &Client, name: &str, keys: &[&str]) -> Table {
    let qualified = QualifiedName::parse(name).unwrap();
    let rows = client
        .query(
            "select a.attname::text, bn.nspname::text, b.typname::text, b.oid, \
                    case when a.atttypmod = -1 then t.typtypmod else a.atttypmod end, \
                    a.attidentity::text, tn.nspname::text, t.typname::text, t.oid, \
                    case when b.typlen = -1 then b.typelem else 0 end \
             from pg_catalog.pg_attribute a \
             join pg_catalog.pg_type t on t.oid = a.atttypid \
             join pg_catalog.pg_namespace tn on tn.oid = t.typnamespace \
             join pg_catalog.pg_type b on b.oid = case t.typtype when 'd' then t.typbasetype else t.oid end \
             join pg_catalog.pg_namespace bn on bn.oid = b.typnamespace \
             where a.attrelid = (select c.oid from pg_catalog.pg_class c \
                 join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
                 where n.nspname::text = $1 and c.relname::text = $2) \
             and a.attnum > 0 and not a.attisdropped order by a.attnum",
            &[&qualified.schema.as_str(), &qualified.name.as_str()],
        )
        .await
        .unwrap();
    let mut overriding = false;
    let columns = rows
        .iter()
        .map(|row| {
            let mut ty = pg_type(row.get(6), row.get(7), row.get(8));
            ty.base_oid = row.get(3);
            ty.base_name = QualifiedName::new(row.get(1), row.get(2)).unwrap();
            ty.modifier = row.get(4);
            if let element @ 1.. = row.get::<_, u32>(9) {
                let mut of = pg_type("pg_catalog", "element", element);
                of.modifier = ty.modifier;
                ty.inside = Inside::Elements(Box::new(of));
            }
            let mut column = column(row.get(0), ty);
            column.target_identity = !row.get::<_, String>(5).is_empty();
            overriding |= row.get::<_, String>(5) == "a";
            column
        })
        .collect::<Vec<_>>();
    let keys: Vec<usize> = keys
        .iter()
        .map(|key| {
            let mut columns = columns.iter();
            columns
                .position(|column| column.target.as_str() == *key)
                .unwrap()
        })
        .collect();
    let mut table = table(name, columns, &keys);
    table.overriding_system_value = overriding;
    table
}

/// Makes every column travel in binary.
pub(crate) fn in_binary(mut table: Table) -> Table {
    for column in &mut table.columns {
        let oid = column.source_type.base_oid;
        let array_oid = postgres_types::Type::from_oid(oid)
            .and_then(|element| {
                let name = format!("_{}", element.name());
                (1..5000u32).find(|array| {
                    postgres_types::Type::from_oid(*array).is_some_and(|ty| ty.name() == name)
                })
            })
            .unwrap();
        column.travel = Travel::Binary {
            element_oid: oid,
            array_oid,
            cast: None,
            copy: CopyBinary::Same,
        };
    }
    table
}

/// A receipt as the transport mints it: from the messages of a source transaction whose commit record starts here.
pub(crate) fn receipt(commit_lsn: u64) -> Receipt {
    let mut assembler = Assembler::new();
    let mut last = Event::None;
    for message in [
        begin_bytes(commit_lsn),
        RELATION.to_vec(),
        INSERT.to_vec(),
        commit_bytes(commit_lsn),
    ] {
        last = assembler
            .feed(wire::decode(Bytes::from(message)).unwrap())
            .unwrap();
    }
    match last {
        Event::Commit(receipt) => receipt,
        other => panic!("expected a commit, not {other:?}"),
    }
}

/// Relation 1, `public.t`, default identity, one int4 key column `a`.
const RELATION: &[u8] = b"R\0\0\0\x01public\0t\0d\0\x01\x01a\0\0\0\0\x17\xff\xff\xff\xff";
/// One row of it, `1` as text.
const INSERT: &[u8] = b"I\0\0\0\x01N\0\x01t\0\0\0\x011";

fn begin_bytes(commit_lsn: u64) -> Vec<u8> {
    [
        b"B".as_slice(),
        &commit_lsn.to_be_bytes(),
        &0_i64.to_be_bytes(),
        &7_u32.to_be_bytes(),
    ]
    .concat()
}

fn commit_bytes(commit_lsn: u64) -> Vec<u8> {
    let end = commit_lsn + 0x30;
    [
        b"C\0".as_slice(),
        &commit_lsn.to_be_bytes(),
        &end.to_be_bytes(),
        &0_i64.to_be_bytes(),
    ]
    .concat()
}
