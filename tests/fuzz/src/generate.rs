//! What valid input looks like: arbitrary messages, whole sessions of them, and frames around them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use replicant_transport::cell::{Opaque, Slot, Tuple};
use replicant_transport::change::OldRow;
use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::position::{CommitLsn, EndLsn, Lsn, MessageLsn, WalEnd};
use replicant_transport::relation::{KeyPart, Relation, RelationColumn, ReplicaIdentity};
use replicant_transport::wire::frame::{Frame, Reply};
use replicant_transport::wire::{
    Begin, Commit, Delete, Insert, Logical, Message, Origin, Transactional, Truncate, TypeName,
    Update,
};

use crate::{encode, sequence};

/// A text that every generated value contains, and no name, field or fact does: printing it is a leak.
pub const CANARY: &str = "CANARY";

/// Any message.
pub fn message() -> BoxedStrategy<Message> {
    prop_oneof![
        begin().prop_map(Message::Begin),
        commit().prop_map(Message::Commit),
        (any::<u64>(), text()).prop_map(|(lsn, name)| {
            Message::Origin(Origin {
                origin_lsn: Lsn::new(lsn),
                name,
            })
        }),
        relation().prop_map(Message::Relation),
        type_name(),
        (0..2000_usize).prop_flat_map(|columns| row(any::<u32>().boxed(), columns % 12)),
        (vec(any::<u32>(), 1..9), any::<bool>(), any::<bool>()).prop_map(
            |(relations, cascade, restart_identity)| {
                Message::Truncate(Truncate {
                    cascade,
                    restart_identity,
                    relations,
                })
            }
        ),
        logical(any::<bool>().boxed()),
    ]
    .boxed()
}

/// Any table description; column names are distinct.
pub fn relation() -> BoxedStrategy<Relation> {
    let columns = vec((ident(), 0..40_000_u32, any::<i32>(), any::<bool>()), 0..8);
    let letter = prop_oneof![Just(b'd'), Just(b'n'), Just(b'f'), Just(b'i')];
    (0..4_u32, qualified(), letter, columns)
        .prop_map(|(oid, name, letter, columns)| {
            let mut described: Vec<RelationColumn> = Vec::new();
            for (name, type_oid, type_modifier, key) in columns {
                if described.iter().all(|column| column.name != name) {
                    described.push(RelationColumn {
                        name,
                        type_oid,
                        type_modifier,
                        key: if key { KeyPart::Key } else { KeyPart::NotKey },
                    });
                }
            }
            Relation {
                oid,
                name,
                replica_identity: ReplicaIdentity::from_letter(letter)
                    .unwrap_or(ReplicaIdentity::Default),
                columns: described,
            }
        })
        .boxed()
}

/// A session that a server could have sent: tables described, then transactions in commit order.
pub fn session() -> BoxedStrategy<Vec<Message>> {
    let tables = vec(relation(), 1..4).prop_map(|mut tables| {
        for (oid, table) in (0..).zip(&mut tables) {
            table.oid = oid;
        }
        tables
    });
    tables
        .prop_flat_map(|tables| {
            let changes = vec(change(&tables), 0..6);
            let transaction = (1..9_u64, 1..99_u64, time(), any::<u32>(), changes);
            (Just(tables), vec(transaction, 0..5))
        })
        .prop_map(|(tables, transactions)| {
            let mut session: Vec<Message> = tables.into_iter().map(Message::Relation).collect();
            let mut end = 0;
            for (gap, length, committed_at, xid, changes) in transactions {
                let start = end + gap - 1;
                end = start + length;
                let commit_lsn = CommitLsn::new(Lsn::new(start));
                session.push(Message::Begin(Begin {
                    commit_lsn,
                    committed_at,
                    xid,
                }));
                session.extend(changes);
                session.push(Message::Commit(Commit {
                    commit_lsn,
                    end_lsn: EndLsn::new(Lsn::new(end)),
                    committed_at,
                }));
            }
            session
        })
        .boxed()
}

/// Any frame.
pub fn frame() -> BoxedStrategy<Frame> {
    prop_oneof![
        (any::<u64>(), time(), message()).prop_map(|(start, sent_at, message)| Frame::Data {
            start: Lsn::new(start),
            sent_at,
            payload: Bytes::from(encode::message(&message)),
        }),
        (any::<u64>(), time(), any::<bool>()).prop_map(|(wal_end, sent_at, reply)| {
            Frame::Keepalive {
                wal_end: WalEnd::new(Lsn::new(wal_end)),
                sent_at,
                reply: if reply {
                    Reply::Requested
                } else {
                    Reply::NotNeeded
                },
            }
        }),
    ]
    .boxed()
}

pub(crate) fn message_bytes() -> BoxedStrategy<Vec<u8>> {
    message()
        .prop_map(|message| encode::message(&message))
        .boxed()
}

pub(crate) fn frame_bytes() -> BoxedStrategy<Vec<u8>> {
    frame().prop_map(|frame| encode::frame(&frame)).boxed()
}

pub(crate) fn session_bytes() -> BoxedStrategy<Vec<u8>> {
    session()
        .prop_map(|session| {
            let messages: Vec<_> = session.iter().map(encode::message).collect();
            sequence::join(&messages)
        })
        .boxed()
}

pub(crate) fn relation_pair_bytes() -> BoxedStrategy<Vec<u8>> {
    (relation(), relation())
        .prop_map(|(old, new)| {
            let pair = [old, new].map(|relation| encode::message(&Message::Relation(relation)));
            sequence::join(&pair)
        })
        .boxed()
}

/// Something that may stand between Begin and Commit, on one of these tables.
fn change(tables: &[Relation]) -> BoxedStrategy<Message> {
    let rows = tables
        .iter()
        .map(|table| row(Just(table.oid).boxed(), table.columns.len()));
    let oids: Vec<u32> = tables.iter().map(|table| table.oid).collect();
    let truncate = (any::<bool>(), any::<bool>(), 1..=oids.len()).prop_map(
        move |(cascade, restart_identity, count)| {
            Message::Truncate(Truncate {
                cascade,
                restart_identity,
                relations: oids.iter().copied().take(count).collect(),
            })
        },
    );
    let others = [truncate.boxed(), logical(Just(true).boxed()), type_name()];
    proptest::strategy::Union::new(rows.chain(others)).boxed()
}

fn row(relation: BoxedStrategy<u32>, columns: usize) -> BoxedStrategy<Message> {
    let whole = || tuple(columns, Unchanged::Never);
    let old = move || {
        prop_oneof![
            whole().prop_map(OldRow::Key),
            whole().prop_map(OldRow::Full)
        ]
    };
    prop_oneof![
        (relation.clone(), whole())
            .prop_map(|(relation, new)| Message::Insert(Insert { relation, new })),
        (
            relation.clone(),
            proptest::option::of(old()),
            tuple(columns, Unchanged::Sometimes)
        )
            .prop_map(|(relation, old, new)| Message::Update(Update {
                relation,
                old,
                new
            })),
        (relation, old()).prop_map(|(relation, old)| Message::Delete(Delete { relation, old })),
    ]
    .boxed()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unchanged {
    Sometimes,
    Never,
}

fn tuple(columns: usize, unchanged: Unchanged) -> BoxedStrategy<Tuple> {
    let kinds = match unchanged {
        Unchanged::Sometimes => 0..4_u8,
        Unchanged::Never => 0..3_u8,
    };
    vec((kinds, value()), columns)
        .prop_map(|cells| {
            let mut bytes = Vec::new();
            let mut slots = Vec::new();
            for (kind, value) in cells {
                let start = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let end = start.saturating_add(u32::try_from(value.len()).unwrap_or(u32::MAX));
                slots.push(match kind {
                    0 => Slot::Text { start, end },
                    1 => Slot::Binary { start, end },
                    2 => Slot::Null,
                    _ => Slot::Unchanged,
                });
                bytes.extend(value);
            }
            Tuple::new(Bytes::from(bytes), slots)
        })
        .prop_filter_map("slots lie inside their bytes", |tuple| tuple)
        .boxed()
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..20).prop_map(|tail| [CANARY.as_bytes(), &tail].concat())
}

/// Bytes without a zero byte.
fn text() -> impl Strategy<Value = Opaque> {
    vec(1..=u8::MAX, 0..12)
        .prop_map(|tail| Opaque::new(Bytes::from([CANARY.as_bytes(), &tail].concat())))
}

fn logical(transactional: BoxedStrategy<bool>) -> BoxedStrategy<Message> {
    (transactional, any::<u64>(), text(), value())
        .prop_map(|(transactional, lsn, prefix, content)| {
            Message::Logical(Logical {
                transactional: if transactional {
                    Transactional::Yes
                } else {
                    Transactional::No
                },
                lsn: MessageLsn::new(Lsn::new(lsn)),
                prefix,
                content: Opaque::new(Bytes::from(content)),
            })
        })
        .boxed()
}

fn type_name() -> BoxedStrategy<Message> {
    (any::<u32>(), text(), text())
        .prop_map(|(oid, schema, name)| Message::Type(TypeName { oid, schema, name }))
        .boxed()
}

fn begin() -> impl Strategy<Value = Begin> {
    (any::<u64>(), time(), any::<u32>()).prop_map(|(lsn, committed_at, xid)| Begin {
        commit_lsn: CommitLsn::new(Lsn::new(lsn)),
        committed_at,
        xid,
    })
}

fn commit() -> impl Strategy<Value = Commit> {
    (any::<u64>(), any::<u64>(), time()).prop_map(|(lsn, end, committed_at)| Commit {
        commit_lsn: CommitLsn::new(Lsn::new(lsn)),
        end_lsn: EndLsn::new(Lsn::new(end)),
        committed_at,
    })
}

/// Any time around now, and before 2000, to the microsecond.
fn time() -> impl Strategy<Value = SystemTime> {
    (0..4_000_000_000_000_000_u64).prop_map(|micros| UNIX_EPOCH + Duration::from_micros(micros))
}

fn qualified() -> impl Strategy<Value = QualifiedName> {
    let schema = prop_oneof![Just(Ident::new("pg_catalog").ok()), ident().prop_map(Some)];
    (schema, ident()).prop_filter_map("a schema", |(schema, name)| {
        Some(QualifiedName {
            schema: schema?,
            name,
        })
    })
}

fn ident() -> impl Strategy<Value = Ident> {
    "[a-c]|[A-Za-zü本\"'. ]{1,20}".prop_filter_map("an identifier", |name| Ident::new(&name).ok())
}
