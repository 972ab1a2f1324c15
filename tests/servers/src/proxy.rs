//! How does a network fail? A TCP proxy in front of a server that cuts, stalls, delays and limits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::error::Error;

/// Which way bytes travel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// What happens to bytes that travel one way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// They pass.
    Pass,
    /// They wait until the flow changes, and so does the news that the other side closed the connection: to whom it
    /// may concern it stays open.
    Stall,
    /// Every chunk arrives this much later.
    Delay(Duration),
    /// No more than this many bytes in a second.
    Limit {
        /// The limit.
        bytes_per_second: u64,
    },
    /// This many more bytes pass on each connection, then it is cut in the middle of whatever it was saying.
    CutAfter {
        /// How many.
        bytes: u64,
    },
}

/// Are new connections let in?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Door {
    /// Yes.
    Open,
    /// They are accepted and closed at once.
    Closed,
}

/// A proxy in front of one server. Dropping it closes every connection.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    to_server: watch::Sender<Flow>,
    to_client: watch::Sender<Flow>,
    door: watch::Sender<Door>,
    cuts: watch::Sender<u64>,
    open: AtomicUsize,
    accepted: AtomicUsize,
    bytes_to_server: AtomicU64,
    bytes_to_client: AtomicU64,
}

impl Proxy {
    /// A proxy to a server on a port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port is free.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn to_port(port: u16) -> Result<Self, Error> {
        let failed = "could not listen on";
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .map_err(Error::io(failed, "127.0.0.1"))?;
        let address = listener
            .local_addr()
            .map_err(Error::io(failed, "127.0.0.1"))?;
        let shared = Arc::new(Shared {
            to_server: watch::Sender::new(Flow::Pass),
            to_client: watch::Sender::new(Flow::Pass),
            door: watch::Sender::new(Door::Open),
            cuts: watch::Sender::new(0),
            open: AtomicUsize::new(0),
            accepted: AtomicUsize::new(0),
            bytes_to_server: AtomicU64::new(0),
            bytes_to_client: AtomicU64::new(0),
        });
        let server = SocketAddr::from(([127, 0, 0, 1], port));
        let task = tokio::spawn(accept(listener, server, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            task,
        })
    }

    /// The port to connect to, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Changes what happens to bytes of one direction, on open connections too.
    pub fn set(&self, direction: Direction, flow: Flow) {
        match direction {
            Direction::ToServer => &self.shared.to_server,
            Direction::ToClient => &self.shared.to_client,
        }
        .send_replace(flow);
    }

    /// Lets new connections in, or not. Open ones stay.
    pub fn door(&self, door: Door) {
        self.shared.door.send_replace(door);
    }

    /// Closes every open connection, on both sides.
    pub fn cut(&self) {
        self.shared.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// How many connections are open now.
    pub fn open(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// How many connections were ever let in.
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// How many bytes went one way.
    pub fn bytes(&self, direction: Direction) -> u64 {
        match direction {
            Direction::ToServer => &self.shared.bytes_to_server,
            Direction::ToClient => &self.shared.bytes_to_client,
        }
        .load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        if *shared.door.borrow() == Door::Closed {
            continue;
        }
        shared.accepted.fetch_add(1, Ordering::SeqCst);
        tokio::spawn(serve(client, server, Arc::clone(&shared)));
    }
}

async fn serve(client: TcpStream, server: SocketAddr, shared: Arc<Shared>) {
    let mut cuts = shared.cuts.subscribe();
    shared.open.fetch_add(1, Ordering::SeqCst);
    if let Ok(upstream) = TcpStream::connect(server).await {
        let _ = client.set_nodelay(true);
        let _ = upstream.set_nodelay(true);
        let (client_read, client_write) = client.into_split();
        let (server_read, server_write) = upstream.into_split();
        let there = pump(
            client_read,
            server_write,
            shared.to_server.subscribe(),
            &shared.bytes_to_server,
        );
        let back = pump(
            server_read,
            client_write,
            shared.to_client.subscribe(),
            &shared.bytes_to_client,
        );
        // Whichever side ends first ends both, as a broken network does.
        tokio::select! {
            () = there => {}
            () = back => {}
            _ = cuts.changed() => {}
        }
    }
    shared.open.fetch_sub(1, Ordering::SeqCst);
}

/// Ends when the reading side closes, the writing side fails or the flow cuts.
async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut flow: watch::Receiver<Flow>,
    count: &AtomicU64,
) {
    let mut buffer = vec![0_u8; 64 * 1024];
    let mut budget: Option<u64> = None;
    loop {
        let read = from.read(&mut buffer).await.unwrap_or(0);
        if read == 0 {
            let _ = flow.wait_for(|now| *now != Flow::Stall).await;
            return;
        }
        let mut chunk = buffer.get(..read).unwrap_or_default();
        while !chunk.is_empty() {
            if flow.has_changed().unwrap_or(false) {
                budget = None;
            }
            let now = *flow.borrow_and_update();
            let length = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
            let send = match now {
                Flow::Pass => length,
                Flow::Stall => {
                    if flow.changed().await.is_err() {
                        return;
                    }
                    budget = None;
                    continue;
                }
                Flow::Delay(delay) => {
                    tokio::time::sleep(delay).await;
                    length
                }
                Flow::Limit { bytes_per_second } => {
                    let step = (bytes_per_second / 100).max(1);
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    length.min(step)
                }
                Flow::CutAfter { bytes } => {
                    let left = budget.get_or_insert(bytes);
                    if *left == 0 {
                        return;
                    }
                    let send = length.min(*left);
                    *left -= send;
                    send
                }
            };
            let (now, later) = chunk.split_at(usize::try_from(send).unwrap_or(chunk.len()));
            if to.write_all(now).await.is_err() {
                return;
            }
            count.fetch_add(send, Ordering::SeqCst);
            chunk = later;
        }
    }
}
