//! Where one message ends and the next begins: tag, length, body.
//!
//! Source: PostgreSQL documentation, "Message Flow" and "Message Formats": every message after the startup packet is
//! one byte of tag and a big-endian length that counts itself.

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::tls;
use crate::error::{Error, Site};
use crate::reason::Reason;

/// Tag and length.
const HEADER_BYTES: usize = 5;
/// The most one read may bring; also how much a growing buffer gains at a time, whatever length a frame claims.
const READ_BYTES: usize = 64 * 1024;
/// Below this much free space the buffer grows before a read.
const READ_BYTES_MIN: usize = 8 * 1024;
/// The longest message of a session: the server's own limit for one allocation (`MaxAllocSize`).
pub(super) const SESSION_FRAME_BYTES_MAX: usize = 0x3fff_ffff;
/// The longest message before authentication finished; the longest honest one is an error with its texts.
pub(super) const HANDSHAKE_FRAME_BYTES_MAX: usize = 64 * 1024;

/// One whole message.
pub(super) struct Frame {
    pub(super) tag: u8,
    pub(super) body: Bytes,
}

/// Bytes that arrived, cut into frames.
pub(super) struct Frames {
    buffer: BytesMut,
    limit: usize,
}

impl Frames {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            limit,
        }
    }

    /// Changes the longest acceptable frame, at the end of the handshake.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Bytes not yet handed out.
    pub(super) fn buffered(&self) -> usize {
        self.buffer.len()
    }

    /// The next whole frame, without copying.
    ///
    /// # Errors
    /// `protocol_violation` for a length that is negative, too small to count itself or above the limit.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, Error> {
        let Some((&[tag, a, b, c, d], _)) = self.buffer.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let total = usize::try_from(u32::from_be_bytes([a, b, c, d]))
            .ok()
            .filter(|length| (4..=self.limit).contains(length))
            .map(|length| length + 1)
            .ok_or_else(|| violation("a message length out of bounds"))?;
        if self.buffer.len() < total {
            return Ok(None);
        }
        let mut body = self.buffer.split_to(total).freeze();
        body.advance(HEADER_BYTES);
        Ok(Some(Frame { tag, body }))
    }

    /// Reads once. Memory grows with what arrived, never with what a length claims.
    ///
    /// # Errors
    /// `source_unreachable` at the end of the stream or when it breaks.
    ///
    /// # Cancel safety
    /// Safe: either nothing was read or the bytes are in the buffer.
    pub(super) async fn fill(
        &mut self,
        from: &mut (impl AsyncRead + Unpin),
    ) -> Result<usize, Error> {
        if self.buffer.capacity() - self.buffer.len() < READ_BYTES_MIN {
            self.buffer.reserve(READ_BYTES);
        }
        match from.read_buf(&mut self.buffer).await {
            Ok(0) => Err(Reason::SourceUnreachable.into()),
            Ok(read) => Ok(read),
            Err(error) => Err(tls::reason_of_broken_read(&error).into()),
        }
    }

    /// Reads until a whole frame is there.
    ///
    /// # Cancel safety
    /// Safe, as [`Frames::fill`].
    pub(super) async fn read(
        &mut self,
        from: &mut (impl AsyncRead + Unpin),
    ) -> Result<Frame, Error> {
        loop {
            if let Some(frame) = self.next()? {
                return Ok(frame);
            }
            self.fill(from).await?;
        }
    }
}

/// Bytes that the protocol does not allow here.
pub(super) fn violation(fact: &'static str) -> Error {
    Error::new(Reason::ProtocolViolation, Site::none().fact(fact))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_are_the_same_however_the_bytes_are_cut() {
        let bytes = b"Z\0\0\0\x05Id\0\0\0\x07abcc\0\0\0\x04";
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            let mut from = in_two_reads(head, tail);
            let mut frames = Frames::new(SESSION_FRAME_BYTES_MAX);
            for (tag, body) in [(b'Z', &b"I"[..]), (b'd', b"abc"), (b'c', b"")] {
                let frame = frames.read(&mut from).await.unwrap();
                assert_eq!((frame.tag, &frame.body[..]), (tag, body), "cut at {cut}");
            }
            assert_eq!(frames.buffered(), 0);
            let end = frames.fill(&mut from).await.unwrap_err();
            assert_eq!(end.reason, Reason::SourceUnreachable);
        }
    }

    fn in_two_reads(head: &[u8], tail: &[u8]) -> impl AsyncRead + Unpin {
        AsyncReadExt::chain(
            std::io::Cursor::new(head.to_vec()),
            std::io::Cursor::new(tail.to_vec()),
        )
    }

    #[test]
    fn an_absurd_length_is_refused_before_any_memory_is_reserved() {
        for length in [0u32, 3, 0x4000_0000, u32::MAX] {
            let mut frames = Frames::new(SESSION_FRAME_BYTES_MAX);
            frames.buffer.extend_from_slice(b"d");
            frames.buffer.extend_from_slice(&length.to_be_bytes());
            let capacity = frames.buffer.capacity();
            let refused = frames.next().err().map(|error| error.reason);
            assert_eq!(refused, Some(Reason::ProtocolViolation), "{length}");
            assert_eq!(frames.buffer.capacity(), capacity);
        }
    }
}
