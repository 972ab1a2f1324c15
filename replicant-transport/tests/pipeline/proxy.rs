//! A TCP proxy that lets a test cut every connection, or stop passing bytes on without closing.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::runner::DEADLINE;

/// What happens to bytes from the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// They pass.
    Open,
    /// They are held back, the connection stays.
    Held,
    /// What comes from the client passes until it contains this, which is held back.
    HeldBefore(&'static str),
    /// Connections are closed after this many more bytes of each, in the middle of whatever they carry.
    CutAfter(usize),
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    flow: watch::Sender<Flow>,
    held: watch::Sender<bool>,
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy_port = listener.local_addr().unwrap().port();
        let (flow, flows) = watch::channel(Flow::Open);
        let held = watch::Sender::new(false);
        let holding = held.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(
                    client,
                    SocketAddr::from(([127, 0, 0, 1], port)),
                    flows.clone(),
                    holding.clone(),
                ));
            }
        });
        Self {
            port: proxy_port,
            flow,
            held,
        }
    }

    /// Waits until something was held back by [`Flow::HeldBefore`].
    pub(crate) async fn held(&self) {
        let mut held = self.held.subscribe();
        let waiting = tokio::time::timeout(DEADLINE, held.wait_for(|held| *held));
        waiting.await.expect("in time").unwrap();
    }

    pub(crate) fn set(&self, flow: Flow) {
        self.flow.send_replace(flow);
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

async fn pass(
    mut client: TcpStream,
    server: SocketAddr,
    mut flow: watch::Receiver<Flow>,
    held: watch::Sender<bool>,
) {
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
                Ok(n) if n > 0 => {
                    if let Flow::HeldBefore(text) = now && contains(&up[..n], text) {
                        held.send_replace(true);
                        let opened = flow.wait_for(|flow| *flow == Flow::Open).await.is_ok();
                        if !opened { return }
                    }
                    if server.write_all(&up[..n]).await.is_err() { return }
                }
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
