//! What copy-both mode carries: CopyData in both directions until one side ends it.
//!
//! The two halves are driven from one task with `select!`; a dropped future of either loses nothing.
//! Source: PostgreSQL documentation, "Streaming Replication Protocol" and "COPY Operations".

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf};

use super::fault::{ServerFault, sqlstate_of};
use super::frame::{Frame, Frames, violation};
use super::socket::Stream;
use crate::error::Error;
use crate::reason::Reason;

/// `object_not_in_prerequisite_state`: the condition of the warning "skipped loading publication".
const SKIPPED_PUBLICATION: &str = "55000";

/// A session in copy-both mode.
pub struct CopyBoth {
    pub(super) stream: Stream,
    pub(super) frames: Frames,
}

/// The receiving half.
pub struct CopyReader {
    socket: ReadHalf<Stream>,
    frames: Frames,
    /// Why nothing more will arrive; what did arrive is handed out first.
    broken: Option<Error>,
    /// Why nothing more will be handed out; asked again, the answer stays the same.
    ended: Option<Error>,
}

/// The sending half.
pub struct CopyWriter {
    socket: WriteHalf<Stream>,
    /// Frames or parts of one that a dropped `send` left behind: they go first next time.
    pending: BytesMut,
}

impl CopyBoth {
    /// Two halves for one task.
    pub fn split(self) -> (CopyReader, CopyWriter) {
        let (read, write) = tokio::io::split(self.stream);
        let reader = CopyReader {
            socket: read,
            frames: self.frames,
            broken: None,
            ended: None,
        };
        let writer = CopyWriter {
            socket: write,
            pending: BytesMut::new(),
        };
        (reader, writer)
    }
}

impl CopyReader {
    /// Reads once from the socket and returns how many bytes came.
    ///
    /// # Errors
    /// `source_unreachable` when the stream broke; after the end of the stream its reason again.
    ///
    /// # Cancel safety
    /// Safe: what was read stays in the buffer.
    pub async fn fill(&mut self) -> Result<usize, Error> {
        if let Some(error) = self.ended.as_ref().or(self.broken.as_ref()) {
            return Err(error.clone());
        }
        let read = self.frames.fill(&mut self.socket).await;
        self.broken = read.as_ref().err().cloned();
        read
    }

    /// The payload of the next whole CopyData message in the buffer, without copying.
    ///
    /// # Errors
    /// `stream_ended` once the server ended the stream in good order (after our own [`CopyWriter::finish`], or because
    /// it shuts down); the reason of an error it sent; `protocol_violation`. The same error is returned ever after.
    pub fn next_copy_data(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(ended) = &self.ended {
            return Err(ended.clone());
        }
        let next = match (self.next_payload(), &self.broken) {
            (Ok(None), Some(broken)) => Err(broken.clone()),
            (next, _) => next,
        };
        self.ended = next.as_ref().err().cloned();
        next
    }

    /// Bytes that arrived and were not handed out: whether another payload may be there without reading.
    pub fn buffered(&self) -> usize {
        self.frames.buffered()
    }

    fn next_payload(&mut self) -> Result<Option<Bytes>, Error> {
        while let Some(Frame { tag, body }) = self.frames.next()? {
            match tag {
                b'd' => return Ok(Some(body)),
                // A server that shuts down completes the command without CopyDone.
                b'c' | b'C' => return Err(Reason::StreamEnded.into()),
                b'E' => return Err(ServerFault::SqlState(sqlstate_of(&body)).into()),
                // From release 18 on the server only warns that a publication does not exist at this point of the
                // WAL, and skips the changes; older releases fail there. Nothing may be skipped.
                b'N' if sqlstate_of(&body).as_str() == SKIPPED_PUBLICATION => {
                    return Err(Reason::PublicationMissing.into());
                }
                b'N' | b'S' | b'A' => {}
                _ => return Err(violation("a message that copy-both mode does not know")),
            }
        }
        Ok(None)
    }
}

impl CopyWriter {
    /// Sends one CopyData message.
    ///
    /// # Errors
    /// `source_unreachable` when the stream broke.
    ///
    /// # Cancel safety
    /// Safe: a message once started is finished by the next call, so the stream stays whole. It may thus be sent later.
    pub async fn send(&mut self, payload: &[u8]) -> Result<(), Error> {
        let length = u32::try_from(payload.len())
            .ok()
            .and_then(|length| length.checked_add(4))
            .ok_or_else(|| violation("a payload longer than a message can be"))?;
        self.pending.put_u8(b'd');
        self.pending.put_u32(length);
        self.pending.put_slice(payload);
        self.flush().await
    }

    /// Sends CopyDone. The server answers with its own, which the reader reports as `stream_ended`.
    ///
    /// # Errors
    /// `source_unreachable` when the stream broke.
    ///
    /// # Cancel safety
    /// As [`CopyWriter::send`].
    pub async fn finish(&mut self) -> Result<(), Error> {
        self.pending.put_slice(b"c\0\0\0\x04");
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), Error> {
        while self.pending.has_remaining() {
            match self.socket.write_buf(&mut self.pending).await {
                Ok(0) | Err(_) => return Err(Reason::SourceUnreachable.into()),
                Ok(_) => {}
            }
        }
        self.socket
            .flush()
            .await
            .map_err(|_| Reason::SourceUnreachable.into())
    }
}
