//! How bytes reach the server: one stream type over TCP, TLS and Unix sockets.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

/// A connected stream.
pub(super) enum Stream {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Unix(UnixStream),
}

/// How the kernel finds out that a peer is gone. Without it a vanished server is noticed after two hours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Liveness {
    /// `None` when `keepalives=0`.
    pub(super) keepalive: Option<Keepalive>,
    /// `None` leaves the system's own limit for unacknowledged data.
    pub(super) user_timeout: Option<Duration>,
}

/// When and how often an idle connection is probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Keepalive {
    pub(super) idle: Duration,
    pub(super) interval: Duration,
    pub(super) count: u32,
}

impl Stream {
    /// Connects over TCP, without Nagle's delay: one small COPY per transaction would otherwise wait 40 ms each.
    pub(super) async fn tcp(address: SocketAddr, liveness: Liveness) -> io::Result<TcpStream> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_nodelay(true)?;
        let raw = SockRef::from(&socket);
        if let Some(Keepalive {
            idle,
            interval,
            count,
        }) = liveness.keepalive
        {
            let probes = TcpKeepalive::new()
                .with_time(idle)
                .with_interval(interval)
                .with_retries(count);
            raw.set_tcp_keepalive(&probes)?;
        }
        if liveness.user_timeout.is_some() {
            raw.set_tcp_user_timeout(liveness.user_timeout)?;
        }
        socket.connect(address).await
    }

    /// Connects to the socket a server on `port` keeps in this directory.
    pub(super) async fn unix(directory: &Path, port: u16) -> io::Result<Self> {
        UnixStream::connect(directory.join(socket_name(port)))
            .await
            .map(Self::Unix)
    }
}

/// The name of the socket file of a port. Source: PostgreSQL documentation, `unix_socket_directories`.
pub(super) fn socket_name(port: u16) -> String {
    format!(".s.PGSQL.{port}")
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_tcp_stream_never_delays_and_notices_a_dead_peer() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let keepalive = Keepalive {
            idle: Duration::from_secs(7),
            interval: Duration::from_secs(3),
            count: 5,
        };
        let liveness = Liveness {
            keepalive: Some(keepalive),
            user_timeout: Some(Duration::from_secs(9)),
        };
        let stream = Stream::tcp(listener.local_addr().unwrap(), liveness)
            .await
            .unwrap();
        let raw = SockRef::from(&stream);
        assert!(stream.nodelay().unwrap() && raw.keepalive().unwrap());
        assert_eq!(raw.tcp_keepalive_time().unwrap(), keepalive.idle);
        assert_eq!(raw.tcp_keepalive_interval().unwrap(), keepalive.interval);
        assert_eq!(raw.tcp_keepalive_retries().unwrap(), keepalive.count);
        assert_eq!(raw.tcp_user_timeout().unwrap(), liveness.user_timeout);
    }
}
