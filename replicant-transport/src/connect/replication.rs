//! The walsender session: opened, asked, and turned into a stream.

use super::copy::CopyBoth;
use super::fault::QueryError;
use super::handshake::{self, Purpose};
use super::options::ConnectOptions;
use super::rows::RowSet;
use super::session::Session;
use crate::error::Error;

/// A session with `replication=database`. Holding one proves that the handshake finished, and that the output
/// settings every later value depends on are in force.
pub struct Replication {
    session: Session,
}

impl Replication {
    /// Connects, authenticates and pins the session's settings.
    ///
    /// # Errors
    /// The reasons listed under "Connecting" in [`Reason`](crate::reason::Reason).
    ///
    /// # Cancel safety
    /// Safe: dropping the future closes the connection.
    pub async fn open(options: &ConnectOptions) -> Result<Self, Error> {
        let session = Box::pin(handshake::open(options, Purpose::Replication)).await?;
        Ok(Self { session })
    }

    /// The same for a connection that streams, to a server that [`open`](Self::open) reached before: it is not asked
    /// whether its settings arrived.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    ///
    /// # Cancel safety
    /// Safe: dropping the future closes the connection.
    pub(crate) async fn open_to_stream(options: &ConnectOptions) -> Result<Self, Error> {
        let session = Box::pin(handshake::open(options, Purpose::Stream)).await?;
        Ok(Self { session })
    }

    /// Runs statements or replication commands and returns a set for each that has columns.
    ///
    /// # Errors
    /// The SQLSTATE of the first refusal, or a lost connection.
    ///
    /// # Cancel safety
    /// Not safe to go on: after a dropped future every call answers [`QueryError::ConnectionLost`].
    pub async fn simple_query(&mut self, sql: &str) -> Result<Vec<RowSet>, QueryError> {
        self.session.simple_query(sql).await
    }

    /// The major version of the server, as it announced itself.
    pub fn server_major(&self) -> u32 {
        self.session.major
    }

    /// Sends `START_REPLICATION ...` and enters copy-both mode.
    ///
    /// # Errors
    /// The SQLSTATE of a refusal, or a lost connection. The session is gone either way.
    ///
    /// # Cancel safety
    /// Safe: dropping the future closes the connection.
    pub async fn start_streaming(mut self, command: &str) -> Result<CopyBoth, QueryError> {
        self.session.start_copy_both(command).await?;
        Ok(CopyBoth {
            stream: self.session.stream,
            frames: self.session.frames,
        })
    }
}
