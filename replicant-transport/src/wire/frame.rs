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
