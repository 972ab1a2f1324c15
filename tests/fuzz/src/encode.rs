//! What a server would have sent: the other direction of the wire decoder, written from the documentation alone.
//!
//! Source: PostgreSQL documentation, "Logical Replication Message Formats" and "Streaming Replication Protocol".

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use replicant_transport::cell::{Cell, Tuple};
use replicant_transport::change::OldRow;
use replicant_transport::relation::{KeyPart, Relation};
use replicant_transport::wire::frame::{Frame, Reply};
use replicant_transport::wire::{Message, Transactional};

/// Seconds between 1970 and 2000.
const EPOCH: Duration = Duration::from_secs(946_684_800);

/// The bytes of a message.
pub fn message(message: &Message) -> Vec<u8> {
    let mut out = Out(Vec::new());
    match message {
        Message::Begin(begin) => {
            out.u8(b'B');
            out.u64(begin.commit_lsn.lsn().value());
            out.time(begin.committed_at);
            out.u32(begin.xid);
        }
        Message::Commit(commit) => {
            out.u8(b'C');
            out.u8(0);
            out.u64(commit.commit_lsn.lsn().value());
            out.u64(commit.end_lsn.lsn().value());
            out.time(commit.committed_at);
        }
        Message::Origin(origin) => {
            out.u8(b'O');
            out.u64(origin.origin_lsn.value());
            out.string(origin.name.as_bytes());
        }
        Message::Relation(described) => out.relation(described),
        Message::Type(named) => {
            out.u8(b'Y');
            out.u32(named.oid);
            out.string(named.schema.as_bytes());
            out.string(named.name.as_bytes());
        }
        Message::Insert(insert) => {
            out.u8(b'I');
            out.u32(insert.relation);
            out.tuple(b'N', &insert.new);
        }
        Message::Update(update) => {
            out.u8(b'U');
            out.u32(update.relation);
            if let Some(old) = &update.old {
                out.old(old);
            }
            out.tuple(b'N', &update.new);
        }
        Message::Delete(delete) => {
            out.u8(b'D');
            out.u32(delete.relation);
            out.old(&delete.old);
        }
        Message::Truncate(truncate) => {
            out.u8(b'T');
            out.count32(truncate.relations.len());
            out.u8(u8::from(truncate.cascade) | (u8::from(truncate.restart_identity) << 1));
            for oid in &truncate.relations {
                out.u32(*oid);
            }
        }
        Message::Logical(logical) => {
            out.u8(b'M');
            out.u8(match logical.transactional {
                Transactional::Yes => 1,
                Transactional::No => 0,
            });
            out.u64(logical.lsn.lsn().value());
            out.string(logical.prefix.as_bytes());
            out.block(logical.content.as_bytes());
        }
    }
    out.0
}

/// The bytes of a frame.
pub fn frame(frame: &Frame) -> Vec<u8> {
    let mut out = Out(Vec::new());
    match frame {
        Frame::Data {
            start,
            sent_at,
            payload,
        } => {
            out.u8(b'w');
            out.u64(start.value());
            out.u64(start.value());
            out.time(*sent_at);
            out.0.extend_from_slice(payload);
        }
        Frame::Keepalive {
            wal_end,
            sent_at,
            reply,
        } => {
            out.u8(b'k');
            out.u64(wal_end.lsn().value());
            out.time(*sent_at);
            out.u8(u8::from(*reply == Reply::Requested));
        }
    }
    out.0
}

struct Out(Vec<u8>);

impl Out {
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_be_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend(value.to_be_bytes());
    }

    fn count16(&mut self, count: usize) {
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        self.0.extend(count.to_be_bytes());
    }

    fn count32(&mut self, count: usize) {
        self.u32(u32::try_from(count).unwrap_or(u32::MAX));
    }

    fn string(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        self.u8(0);
    }

    fn block(&mut self, bytes: &[u8]) {
        self.count32(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn time(&mut self, time: SystemTime) {
        let epoch = UNIX_EPOCH + EPOCH;
        let micros = match time.duration_since(epoch) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |n| -n),
        };
        self.0.extend(micros.to_be_bytes());
    }

    fn relation(&mut self, relation: &Relation) {
        self.u8(b'R');
        self.u32(relation.oid);
        match relation.name.schema.as_str() {
            "pg_catalog" => self.string(b""),
            schema => self.string(schema.as_bytes()),
        }
        self.string(relation.name.name.as_str().as_bytes());
        self.letter(relation.replica_identity.letter());
        self.count16(relation.columns.len());
        for column in &relation.columns {
            self.u8(u8::from(column.key == KeyPart::Key));
            self.string(column.name.as_str().as_bytes());
            self.u32(column.type_oid);
            self.0.extend(column.type_modifier.to_be_bytes());
        }
    }

    fn letter(&mut self, letter: char) {
        let mut buffer = [0; 4];
        self.0
            .extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
    }

    fn old(&mut self, old: &OldRow) {
        match old {
            OldRow::Key(tuple) => self.tuple(b'K', tuple),
            OldRow::Full(tuple) => self.tuple(b'O', tuple),
        }
    }

    fn tuple(&mut self, image: u8, tuple: &Tuple) {
        self.u8(image);
        self.count16(tuple.len());
        for cell in tuple.iter() {
            match cell {
                Cell::Null => self.u8(b'n'),
                Cell::Unchanged => self.u8(b'u'),
                Cell::Text(bytes) => {
                    self.u8(b't');
                    self.block(bytes);
                }
                Cell::Binary(bytes) => {
                    self.u8(b'b');
                    self.block(bytes);
                }
            }
        }
    }
}
