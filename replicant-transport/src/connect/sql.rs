//! Ordinary SQL over a stream of our own.
//!
//! The published client would send a cleartext password without TLS, log notices with their texts and accept only
//! its own TLS. So the handshake is ours, the same for every session, and the client is handed a finished one: it
//! writes its startup message into the void and reads the greeting the server gave us.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::DbError;
use tokio_postgres::{AsyncMessage, NoTls};

use super::fault::classify;
use super::handshake::{self, Purpose};
use super::options::ConnectOptions;
use super::socket::Stream;
use crate::error::Error;

/// A connected client and the task that moves its bytes. Dropping it closes the connection.
pub struct SqlSession {
    /// The client. At level `debug` it logs every bound parameter with its `Debug`, so bind only types whose `Debug`
    /// hides the value, and write no value into the text of a statement.
    pub client: tokio_postgres::Client,
    major: u32,
    connection: JoinHandle<()>,
}

impl SqlSession {
    /// The major version of the server, as it announced itself.
    pub fn server_major(&self) -> u32 {
        self.major
    }
}

impl Drop for SqlSession {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

/// Connects, authenticates and pins the session's settings.
///
/// # Errors
/// The reasons listed under "Connecting" in [`Reason`](crate::reason::Reason).
///
/// # Cancel safety
/// Safe: dropping the future closes the connection.
pub async fn sql(options: &ConnectOptions) -> Result<SqlSession, Error> {
    sql_observed(options, |_| {}).await
}

/// As [`sql`], showing every notice of the server to `observe` before any later answer is handed out.
///
/// A commit that a synchronous standby did not confirm says so only in a notice. Nothing of a notice but its condition
/// code may be kept.
///
/// # Errors
/// As [`sql`].
///
/// # Cancel safety
/// As [`sql`].
pub async fn sql_observed(
    options: &ConnectOptions,
    observe: impl Fn(&DbError) + Send + 'static,
) -> Result<SqlSession, Error> {
    let session = Box::pin(handshake::open(options, Purpose::Sql)).await?;
    let major = session.major;
    let handed = Handed {
        stream: session.stream,
        greeting: session.greeting,
    };
    let mut config = tokio_postgres::Config::new();
    config.user(options.user()).ssl_mode(SslMode::Disable);
    let connected = config.connect_raw(handed, NoTls).await;
    let (client, mut connection) = connected.map_err(|error| Error::from(classify(&error)))?;
    let connection = tokio::spawn(async move {
        // Not awaited as a future: that would log every notice with its text.
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notice(notice) = message {
                observe(&notice);
            }
        }
    });
    Ok(SqlSession {
        client,
        major,
        connection,
    })
}

/// A stream whose handshake is over, for a client that wants to make one.
struct Handed {
    stream: Stream,
    /// What is left of the server's greeting. Until it is read, whatever the client writes is its startup message.
    greeting: Bytes,
}

impl AsyncRead for Handed {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.greeting.is_empty() {
            return Pin::new(&mut this.stream).poll_read(cx, buf);
        }
        let part = this
            .greeting
            .split_to(this.greeting.len().min(buf.remaining()));
        buf.put_slice(part.chunk());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Handed {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.greeting.is_empty() {
            return Pin::new(&mut this.stream).poll_write(cx, bytes);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
