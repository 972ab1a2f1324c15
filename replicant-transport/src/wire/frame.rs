//! What travels inside the copy-both stream: the server's data and keepalives, and our status update.
//!
//! Source: PostgreSQL documentation, "Streaming Replication Protocol", START_REPLICATION.

use std::fmt;
use std::time::SystemTime;

use bytes::{BufMut, Bytes, BytesMut};

use super::malformed::{Malformed, Problem};
use super::reader::Reader;
use super::time;
use crate::ack::Durable;
use crate::error::Error;
use crate::position::{Lsn, WalEnd};

/// One copy-data message from the server.
#[derive(Clone, PartialEq, Eq)]
pub enum Frame {
    /// `w`: a message of the output plugin.
    Data {
        /// Where the server says the data starts. Not progress: descriptions of tables carry 0/0.
        start: Lsn,
        /// The server's clock.
        sent_at: SystemTime,
        /// The plugin's message, see [`decode`](super::decode).
        payload: Bytes,
    },
    /// `k`: the server is alive.
    Keepalive {
        /// How far it has decoded, sent or filtered.
        wal_end: WalEnd,
        /// The server's clock.
        sent_at: SystemTime,
        /// Whether it waits for a status update.
        reply: Reply,
    },
}

/// Does the sender of a frame want an answer at once?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// Yes: without one the server ends the connection when its timeout passes.
    Requested,
    /// No.
    NotNeeded,
}

/// Opens one copy-data message.
///
/// # Errors
/// `decode_failed` when it is not exactly one frame.
pub fn decode(bytes: &Bytes) -> Result<Frame, Error> {
    read(bytes).map_err(Error::from)
}

fn read(bytes: &Bytes) -> Result<Frame, Malformed> {
    let mut reader = Reader::new("copy data", bytes)?;
    let frame = match reader.u8("type")? {
        b'w' => read_data(reader.named("XLogData"))?,
        b'k' => read_keepalive(reader.named("keepalive"))?,
        _ => return Err(reader.malformed("type", Problem::Unknown)),
    };
    reader.end()?;
    Ok(frame)
}

fn read_data(reader: &mut Reader<'_>) -> Result<Frame, Malformed> {
    let start = Lsn::new(reader.u64("start position")?);
    // The second position repeats the first in logical replication and is no measure of progress either.
    let _end = reader.u64("end position")?;
    Ok(Frame::Data {
        start,
        sent_at: time::read(reader, "send time")?,
        payload: reader.remainder(),
    })
}

fn read_keepalive(reader: &mut Reader<'_>) -> Result<Frame, Malformed> {
    Ok(Frame::Keepalive {
        wal_end: WalEnd::new(Lsn::new(reader.u64("end position")?)),
        sent_at: time::read(reader, "send time")?,
        reply: match reader.u8("reply")? {
            0 => Reply::NotNeeded,
            1 => Reply::Requested,
            _ => return Err(reader.malformed("reply", Problem::Unknown)),
        },
    })
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data { start, payload, .. } => {
                write!(f, "Data(at {start}, {} bytes)", payload.len())
            }
            Self::Keepalive { wal_end, reply, .. } => {
                write!(f, "Keepalive({wal_end}, reply {reply:?})")
            }
        }
    }
}

/// `r`: what we tell the server about our progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatusUpdate {
    /// The highest location received. It moves nothing on the server but its statistics.
    pub received: WalEnd,
    /// What is durable; the slot moves here. `None` says nothing, so the slot stays where it is.
    pub durable: Option<Durable>,
    /// Our clock.
    pub sent_at: SystemTime,
    /// Whether the server should answer with a keepalive.
    pub reply: Reply,
}

impl StatusUpdate {
    /// Bytes of an encoded status update.
    pub const BYTES: usize = 1 + 8 + 8 + 8 + 8 + 1;

    /// Appends the body of the copy-data message. Flushed and applied are the same here: what is durable.
    pub fn encode(&self, out: &mut BytesMut) {
        // Zero is the protocol's "no position": the server leaves its own alone.
        let durable = self
            .durable
            .map_or(0, |durable| durable.end_lsn().lsn().value());
        // A consumer cannot have flushed more than it received, whatever order its reports come in.
        let received = self.received.lsn().value().max(durable);
        out.reserve(Self::BYTES);
        out.put_u8(b'r');
        out.put_u64(received);
        out.put_u64(durable);
        out.put_u64(durable);
        out.put_i64(time::to_micros(self.sent_at));
        out.put_u8(match self.reply {
            Reply::Requested => 1,
            Reply::NotNeeded => 0,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::ack::{CommitProof, Receipt};
    use crate::position::{CommitLsn, EndLsn, Watermark};
    use crate::reason::Reason;

    struct Committed;
    impl CommitProof for Committed {
        fn watermark(&self) -> Watermark {
            Watermark::at(CommitLsn::new(Lsn::new(0x10)))
        }
        fn acked_end(&self) -> EndLsn {
            EndLsn::new(Lsn::new(0x20))
        }
    }

    fn durable() -> Option<Durable> {
        let (commit_lsn, end_lsn) = (CommitLsn::new(Lsn::new(0x10)), EndLsn::new(Lsn::new(0x20)));
        Receipt::mint(commit_lsn, end_lsn, UNIX_EPOCH, 7).settle(&Committed)
    }

    fn encoded(received: u64, durable: Option<Durable>, reply: Reply) -> Vec<u8> {
        let mut out = BytesMut::new();
        let update = StatusUpdate {
            received: WalEnd::new(Lsn::new(received)),
            durable,
            sent_at: UNIX_EPOCH + Duration::from_secs(946_684_800) + Duration::from_micros(5),
            reply,
        };
        update.encode(&mut out);
        assert_eq!(out.len(), StatusUpdate::BYTES);
        out.to_vec()
    }

    #[test]
    fn a_status_update_says_received_flushed_and_applied() {
        let word = |value: u64| value.to_be_bytes();
        assert!(durable().is_some());
        let expected = [
            &b"r"[..],
            &word(0x30),
            &word(0x20),
            &word(0x20),
            &word(5),
            b"\x01",
        ];
        assert_eq!(
            encoded(0x30, durable(), Reply::Requested),
            expected.concat()
        );
    }

    #[test]
    fn nothing_durable_moves_nothing_and_received_is_never_behind_durable() {
        let quiet = encoded(0x30, None, Reply::NotNeeded);
        assert_eq!(quiet[9..25], [0; 16]);
        assert_eq!(quiet[33], 0);
        let late = encoded(0x18, durable(), Reply::NotNeeded);
        assert_eq!(late[1..9], 0x20_u64.to_be_bytes());
    }

    #[test]
    fn a_frame_is_read_to_its_last_byte() {
        let keepalive = |reply: u8| [&b"k"[..], &[0; 7], b"\x09", &[0; 8], &[reply]].concat();
        let read = |bytes: Vec<u8>| decode(&Bytes::from(bytes));
        let expected = Frame::Keepalive {
            wal_end: WalEnd::new(Lsn::new(9)),
            sent_at: UNIX_EPOCH + Duration::from_secs(946_684_800),
            reply: Reply::Requested,
        };
        assert_eq!(read(keepalive(1)), Ok(expected));
        for bytes in [
            keepalive(2),
            [keepalive(0), vec![0]].concat(),
            vec![b'w'; 24],
            vec![b'x'; 30],
            vec![],
        ] {
            assert_eq!(read(bytes).unwrap_err().reason, Reason::DecodeFailed);
        }
    }

    #[test]
    fn data_may_be_empty_and_is_never_printed() {
        let mut bytes = vec![0; 25];
        bytes[0] = b'w';
        let empty = format!("{:?}", decode(&Bytes::from(bytes.clone())).unwrap());
        assert_eq!(empty, "Data(at 0/0, 0 bytes)");
        bytes.extend(b"secret");
        let text = format!("{:?}", decode(&Bytes::from(bytes)).unwrap());
        assert_eq!(text, "Data(at 0/0, 6 bytes)");
    }
}
