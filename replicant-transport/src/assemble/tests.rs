//! The transition table, one behaviour at a time. Arbitrary sessions are tried in the workspace's fuzz package.

use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::*;
use crate::cell::{Opaque, Slot};
use crate::ident::{Ident, QualifiedName};
use crate::position::{CommitLsn, Lsn, MessageLsn};
use crate::relation::{KeyPart, RelationColumn, ReplicaIdentity};
use crate::wire::{Commit, Delete, Insert, Origin, TypeName, Update};

fn begin(commit_lsn: u64) -> Message {
    Message::Begin(wire::Begin {
        commit_lsn: CommitLsn::new(Lsn::new(commit_lsn)),
        committed_at: SystemTime::UNIX_EPOCH,
        xid: 7,
    })
}

fn commit(commit_lsn: u64, end_lsn: u64) -> Message {
    Message::Commit(Commit {
        commit_lsn: CommitLsn::new(Lsn::new(commit_lsn)),
        end_lsn: EndLsn::new(Lsn::new(end_lsn)),
        committed_at: SystemTime::UNIX_EPOCH,
    })
}

fn table(oid: u32, name: &str, columns: &[&str]) -> Relation {
    let column = |name: &&str| RelationColumn {
        name: Ident::new(name).unwrap(),
        type_oid: 25,
        type_modifier: -1,
        key: KeyPart::NotKey,
    };
    Relation {
        oid,
        name: QualifiedName::new("public", name).unwrap(),
        replica_identity: ReplicaIdentity::Default,
        columns: columns.iter().map(column).collect(),
    }
}

fn describe(oid: u32, name: &str, columns: &[&str]) -> Message {
    Message::Relation(table(oid, name, columns))
}

fn row(columns: usize) -> Tuple {
    Tuple::new(Bytes::new(), vec![Slot::Null; columns]).unwrap()
}

fn insert(relation: u32, columns: usize) -> Message {
    let new = row(columns);
    Message::Insert(Insert { relation, new })
}

fn truncate(relations: &[u32]) -> Message {
    Message::Truncate(Truncate {
        cascade: false,
        restart_identity: false,
        relations: relations.to_vec(),
    })
}

fn logical(transactional: Transactional) -> Message {
    Message::Logical(Logical {
        transactional,
        lsn: MessageLsn::new(Lsn::new(0x100)),
        prefix: Opaque::new(Bytes::from_static(b"p")),
        content: Opaque::new(Bytes::new()),
    })
}

fn origin() -> Message {
    Message::Origin(Origin {
        origin_lsn: Lsn::new(1),
        name: Opaque::new(Bytes::new()),
    })
}

fn type_name() -> Message {
    Message::Type(TypeName {
        oid: 16_400,
        schema: Opaque::new(Bytes::new()),
        name: Opaque::new(Bytes::new()),
    })
}

/// An assembler that took these messages.
fn after(messages: impl IntoIterator<Item = Message>) -> Assembler {
    let mut assembler = Assembler::new();
    for message in messages {
        assembler.feed(message).unwrap();
    }
    assembler
}

/// Short names of the events that these messages give.
fn events(messages: impl IntoIterator<Item = Message>) -> Vec<String> {
    let mut assembler = Assembler::new();
    let mut name = |message| match assembler.feed(message).unwrap() {
        Event::None => None,
        Event::Relation(seen) => Some(match seen.previous {
            Some(previous) => format!("relation {} after {}", seen.relation.oid, previous.oid),
            None => format!("relation {}", seen.relation.oid),
        }),
        Event::Begin(begin, change) => Some(format!("begin {} {}", begin.xid, change.ordinal.0)),
        Event::Change(change) => Some(format!("change {}", change.ordinal.0)),
        Event::Commit(receipt) => Some(format!("commit {}", receipt.end_lsn())),
        Event::Empty(end) => Some(format!("empty {end}")),
        Event::StandaloneMessage { message_lsn, .. } => Some(format!("message {message_lsn}")),
    };
    messages.into_iter().filter_map(&mut name).collect()
}

fn refused(assembler: &mut Assembler, message: Message) -> Error {
    let error = assembler.feed(message).unwrap_err();
    assert!(!assembler.is_idle());
    error
}

#[test]
fn a_transaction_without_changes_never_begins() {
    let seen = events([begin(8), origin(), type_name(), commit(8, 16)]);
    assert_eq!(seen, ["empty 0/10"]);
}

#[test]
fn a_transaction_begins_with_its_first_change() {
    let seen = events([
        begin(8),
        describe(1, "t", &["a"]),
        insert(1, 1),
        insert(1, 1),
        commit(8, 16),
    ]);
    assert_eq!(seen, ["relation 1", "begin 7 0", "change 1", "commit 0/10"]);
}

#[test]
fn a_transaction_with_only_a_message_is_not_empty() {
    let seen = events([begin(8), logical(Transactional::Yes), commit(8, 16)]);
    assert_eq!(seen, ["begin 7 0", "commit 0/10"]);
}

#[test]
fn a_standalone_message_stands_between_transactions() {
    let seen = events([logical(Transactional::No), begin(8), commit(8, 16)]);
    assert_eq!(seen, ["message 0/100", "empty 0/10"]);
}

#[test]
fn a_truncate_takes_an_ordinal_for_each_table() {
    let seen = events([
        describe(1, "t", &[]),
        describe(2, "u", &[]),
        begin(8),
        insert(1, 0),
        truncate(&[1, 2]),
        logical(Transactional::Yes),
        truncate(&[2]),
        insert(2, 0),
    ]);
    let changes = ["begin 7 0", "change 1", "change 3", "change 4", "change 5"];
    assert_eq!(seen[2..], changes);
}

#[test]
fn ordinals_start_over_in_every_transaction() {
    let one = |lsn| [begin(lsn), insert(1, 0), insert(1, 0), commit(lsn, lsn + 8)];
    let session = [describe(1, "t", &[])]
        .into_iter()
        .chain(one(8))
        .chain(one(16));
    let seen = events(session);
    assert_eq!(seen[1..4], ["begin 7 0", "change 1", "commit 0/10"]);
    assert_eq!(seen[4..], ["begin 7 0", "change 1", "commit 0/18"]);
}

#[test]
fn a_description_counts_once_until_it_differs() {
    let seen = events([
        describe(1, "t", &["a"]),
        describe(1, "t", &["a"]),
        describe(1, "t", &["a", "b"]),
        describe(1, "t", &["a"]),
    ]);
    assert_eq!(
        seen,
        ["relation 1", "relation 1 after 1", "relation 1 after 1"]
    );
}

#[test]
fn a_table_created_again_is_compared_with_the_one_it_replaces() {
    let seen = events([describe(1, "t", &["a"]), describe(2, "t", &["a"])]);
    assert_eq!(seen, ["relation 1", "relation 2 after 1"]);
    // Two tables that swapped names are each compared with themselves.
    let seen = events([
        describe(1, "t", &[]),
        describe(2, "u", &[]),
        describe(1, "u", &[]),
        describe(2, "t", &[]),
    ]);
    assert_eq!(seen[2..], ["relation 1 after 1", "relation 2 after 2"]);
}

#[test]
fn a_row_is_laid_out_as_the_description_before_it_says() {
    let mut assembler = after([describe(1, "t", &["a"]), begin(8), insert(1, 1)]);
    assembler.feed(describe(1, "t", &["b", "c"])).unwrap();
    let Event::Change(change) = assembler.feed(insert(1, 2)).unwrap() else {
        panic!("a change was expected");
    };
    let ChangeKind::Insert { relation, .. } = change.kind else {
        panic!("an insert was expected");
    };
    assert_eq!(*relation, table(1, "t", &["b", "c"]));
    let error = refused(&mut assembler, insert(1, 1));
    assert_eq!(error.reason, Reason::RowShapeMismatch);
    assert_eq!(error.site.table, Some(relation.name.clone()));
    assert_eq!(error.site.lsn, Some(Lsn::new(8)));
}

#[test]
fn every_image_of_a_row_must_fit_its_table() {
    let update = |old, new| {
        Message::Update(Update {
            relation: 1,
            old,
            new: row(new),
        })
    };
    let delete = |old| Message::Delete(Delete { relation: 1, old });
    for message in [
        insert(1, 2),
        update(None, 0),
        update(Some(OldRow::Key(row(2))), 1),
        update(Some(OldRow::Full(row(1))), 2),
        delete(OldRow::Key(row(0))),
    ] {
        let mut assembler = after([describe(1, "t", &["a"]), begin(8)]);
        let error = refused(&mut assembler, message);
        assert_eq!(error.reason, Reason::RowShapeMismatch);
    }
}

#[test]
fn a_table_that_was_not_described_in_this_session_halts() {
    for message in [insert(2, 0), truncate(&[1, 2])] {
        let mut assembler = after([describe(1, "t", &[]), begin(8)]);
        let error = refused(&mut assembler, message);
        assert_eq!(error.reason, Reason::RelationUnknown);
    }
}

#[test]
fn a_message_that_the_protocol_rules_out_halts() {
    let known = || describe(1, "t", &[]);
    let cases: [(&str, Vec<Message>, Message); 13] = [
        ("a second Begin", vec![begin(8)], begin(8)),
        (
            "Begin after a change",
            vec![known(), begin(8), insert(1, 0)],
            begin(16),
        ),
        ("Commit first", vec![], commit(8, 16)),
        ("Commit twice", vec![begin(8), commit(8, 16)], commit(8, 16)),
        ("another commit's Commit", vec![begin(8)], commit(16, 24)),
        ("an end before its start", vec![begin(8)], commit(8, 7)),
        ("an end at its start", vec![begin(8)], commit(8, 8)),
        ("Origin first", vec![], origin()),
        ("a row first", vec![known()], insert(1, 0)),
        ("a truncate first", vec![known()], truncate(&[1])),
        (
            "a transactional message alone",
            vec![],
            logical(Transactional::Yes),
        ),
        (
            "a standalone message inside",
            vec![begin(8)],
            logical(Transactional::No),
        ),
        (
            "a commit that starts before the last one's end",
            vec![begin(8), commit(8, 17)],
            begin(16),
        ),
    ];
    for (label, before, message) in cases {
        let error = refused(&mut after(before), message);
        assert_eq!(error.reason, Reason::StreamOutOfOrder, "{label}");
    }
}

#[test]
fn a_commit_time_other_than_the_announced_one_halts() {
    let mut assembler = after([begin(8)]);
    let Message::Commit(mut late) = commit(8, 16) else {
        panic!("a commit was expected");
    };
    late.committed_at += Duration::from_micros(1);
    let error = refused(&mut assembler, Message::Commit(late));
    assert_eq!(error.reason, Reason::StreamOutOfOrder);
}

#[test]
fn a_transaction_may_start_exactly_where_the_last_one_ended() {
    let seen = events([begin(8), commit(8, 16), begin(16), commit(16, 24)]);
    assert_eq!(seen, ["empty 0/10", "empty 0/18"]);
}

#[test]
fn an_error_is_final() {
    let mut assembler = Assembler::new();
    let first = refused(&mut assembler, commit(8, 16));
    for message in [begin(8), commit(8, 16), type_name(), describe(1, "t", &[])] {
        assert_eq!(refused(&mut assembler, message), first);
    }
}

#[test]
fn idle_means_between_transactions() {
    let mut assembler = Assembler::new();
    let steps = [
        (describe(1, "t", &[]), true),
        (begin(8), false),
        (insert(1, 0), false),
        (type_name(), false),
        (commit(8, 16), true),
        (logical(Transactional::No), true),
        (begin(16), false),
        (commit(16, 24), true),
    ];
    for (message, idle) in steps {
        assembler.feed(message).unwrap();
        assert_eq!(assembler.is_idle(), idle);
    }
}

#[test]
fn a_change_counts_the_message_it_keeps_once() {
    let message = Bytes::from(vec![b'x'; 1000]);
    let image = |end| Tuple::new(message.clone(), vec![Slot::Text { start: 0, end }]).unwrap();
    let mut assembler = after([describe(1, "t", &["a"]), begin(8)]);
    let update = Message::Update(Update {
        relation: 1,
        old: Some(OldRow::Full(image(1))),
        new: image(2),
    });
    let Event::Begin(_, change) = assembler.feed(update).unwrap() else {
        panic!("a first change was expected");
    };
    let around = size_of::<Change>() + 2 * size_of::<Slot>();
    assert_eq!(change.bytes, 1000 + around);
}
