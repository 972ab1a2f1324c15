//! An authenticated connection between statements: the simple query protocol and nothing more.
//!
//! A walsender understands only simple queries. Source: PostgreSQL documentation, "Streaming Replication Protocol".

use bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use super::fault::{ServerFault, sqlstate_of};
use super::frame::{Frame, Frames};
use super::rows::RowSet;
use super::socket::Stream;
use crate::error::SqlState;

/// A connection whose handshake finished.
pub(super) struct Session<S = Stream> {
    pub(super) stream: S,
    pub(super) frames: Frames,
    /// The server's messages from AuthenticationOk to ReadyForQuery, for a client that wants to see them.
    pub(super) greeting: Bytes,
    /// The major version of the server.
    pub(super) major: u32,
    pub(super) turn: Turn,
}

/// Whose turn it is to speak.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Ours: the last answer was read to its end.
    Ours,
    /// The server's: an answer is on its way, or the future reading it was dropped.
    Servers,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    /// Runs statements and collects their rows.
    pub(super) async fn simple_query(&mut self, sql: &str) -> Result<Vec<RowSet>, ServerFault> {
        self.send_query(sql).await?;
        let mut sets: Vec<RowSet> = Vec::new();
        let mut refused: Option<SqlState> = None;
        loop {
            let Frame { tag, body } = match self.next().await {
                Ok(frame) => frame,
                // A fatal error is followed by the end of the connection, and it is the better answer.
                Err(fault) => return Err(refused.map_or(fault, ServerFault::SqlState)),
            };
            match tag {
                b'T' => sets.push(RowSet::described(body)?),
                b'D' => sets.last_mut().ok_or(ServerFault::Unexpected)?.push(body)?,
                b'E' => refused = refused.or(Some(sqlstate_of(&body))),
                b'C' | b'I' | b'N' | b'S' | b'A' => {}
                b'Z' => {
                    self.turn = Turn::Ours;
                    return refused.map_or(Ok(sets), |state| Err(ServerFault::SqlState(state)));
                }
                _ => return Err(ServerFault::Unexpected),
            }
        }
    }

    /// Sends one statement that switches to copy-both mode and waits until it did.
    pub(super) async fn start_copy_both(&mut self, sql: &str) -> Result<(), ServerFault> {
        self.send_query(sql).await?;
        loop {
            let Frame { tag, body } = self.next().await?;
            match tag {
                b'W' => return Ok(()),
                b'E' => return Err(ServerFault::SqlState(sqlstate_of(&body))),
                b'N' | b'S' | b'A' => {}
                _ => return Err(ServerFault::Unexpected),
            }
        }
    }

    async fn send_query(&mut self, sql: &str) -> Result<(), ServerFault> {
        if self.turn == Turn::Servers {
            return Err(ServerFault::ConnectionLost);
        }
        let mut message = BytesMut::new();
        postgres_protocol::message::frontend::query(sql, &mut message)
            .map_err(|_| ServerFault::Unexpected)?;
        self.turn = Turn::Servers;
        let sent = async {
            self.stream.write_all(&message).await?;
            self.stream.flush().await
        };
        sent.await.map_err(|_| ServerFault::ConnectionLost)
    }

    async fn next(&mut self) -> Result<Frame, ServerFault> {
        let frame = self.frames.read(&mut self.stream).await;
        frame.map_err(|error| match error.reason {
            crate::reason::Reason::SourceUnreachable => ServerFault::ConnectionLost,
            _ => ServerFault::Unexpected,
        })
    }
}

/// Writes a frame again as it came.
pub(super) fn put_frame(frame: &Frame, into: &mut BytesMut) {
    // The body came out of a frame whose length fitted.
    let length = u32::try_from(frame.body.len() + 4).unwrap_or(u32::MAX);
    into.put_u8(frame.tag);
    into.put_u32(length);
    into.put_slice(&frame.body);
}
