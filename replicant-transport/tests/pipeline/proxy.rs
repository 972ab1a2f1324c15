//! A TCP proxy that lets a test cut every connection, or stop passing bytes on without closing.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What happens to bytes from the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// They pass.
    Open,
    /// They are held back, the connection stays.
    Held,
    /// Connections are closed after this many more bytes of each, in the middle of whatever they carry.
    CutAfter(usize),
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    flow: watch::Sender<Flow>,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy_port = listener.local_addr().unwrap().port();
        let (flow, flows) = watch::channel(Flow::Open);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(
                    client,
                    SocketAddr::from(([127, 0, 0, 1], port)),
                    flows.clone(),
                ));
            }
        });
        Self {
            port: proxy_port,
            flow,
        }
    }

    pub(crate) fn set(&self, flow: Flow) {
        self.flow.send_replace(flow);
    }
}

async fn pass(mut client: TcpStream, server: SocketAddr, mut flow: watch::Receiver<Flow>) {
    let Ok(mut server) = TcpStream::connect(server).await else {
        return;
    };
    let (mut up, mut down) = (vec![0; 8192], vec![0; 8192]);
    let mut left = None;
    loop {
        let now = *flow.borrow_and_update();
        left = match (now, left) {
            (Flow::CutAfter(bytes), None) => Some(bytes),
            (Flow::CutAfter(_), left) => left,
            _ => None,
        };
        tokio::select! {
            changed = flow.changed() => if changed.is_err() { return },
            read = client.read(&mut up) => match read {
                Ok(n) if n > 0 => if server.write_all(&up[..n]).await.is_err() { return },
                _ => return,
            },
            read = server.read(&mut down), if now != Flow::Held => match read {
                Ok(n) if n > 0 => {
                    let n = n.min(left.unwrap_or(n));
                    if client.write_all(&down[..n]).await.is_err() { return }
                    if let Some(rest) = &mut left {
                        *rest -= n;
                        if *rest == 0 { return }
                    }
                }
                _ => return,
            },
        }
    }
}
