//! What does the start of a session look like through a pooler in transaction mode?
//!
//! It knows the few parameters that it can give to any server connection, and either refuses the rest or, told to,
//! drops them. Replication it refuses always. That is what PgBouncer does up to 1.22, with and without
//! `ignore_startup_parameters`.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::error::Error;

/// What happens to parameters that the pooler does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameters {
    /// The session is refused.
    Refused,
    /// The server never hears of them.
    Dropped,
}

/// What a pooler can give to any server connection.
const KNOWN: [&str; 7] = [
    "user",
    "database",
    "application_name",
    "client_encoding",
    "datestyle",
    "timezone",
    "standard_conforming_strings",
];

/// The code of a request for TLS or GSSAPI, in place of a protocol version.
const ENCRYPTION: [u32; 2] = [80_877_103, 80_877_104];

/// A pooler in front of one server. Dropping it lets nobody in any more.
#[derive(Debug)]
pub struct Pooler {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Pooler {
    /// A pooler in front of a server on a port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port is free.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn to_port(port: u16, parameters: Parameters) -> Result<Self, Error> {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.map_err(Error::io("could not listen on", "127.0.0.1"))?;
        let address = listener
            .local_addr()
            .map_err(Error::io("could not listen on", "127.0.0.1"))?;
        let server = SocketAddr::from(([127, 0, 0, 1], port));
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    // Whoever is cut off sees it; there is nobody else to tell.
                    let _ = serve(client, server, parameters).await;
                });
            }
        });
        Ok(Self { address, task })
    }

    /// The port to connect to, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut client: TcpStream,
    server: SocketAddr,
    parameters: Parameters,
) -> std::io::Result<()> {
    let (version, asked) = loop {
        let length = client.read_u32().await?.saturating_sub(8);
        let version = client.read_u32().await?;
        let mut body = vec![0; usize::try_from(length.min(10_000)).unwrap_or_default()];
        client.read_exact(&mut body).await?;
        if !ENCRYPTION.contains(&version) {
            break (version, pairs(&body));
        }
        client.write_all(b"N").await?;
    };
    let known = |name: &str| KNOWN.iter().any(|one| one.eq_ignore_ascii_case(name));
    let refused = asked
        .iter()
        .map(|(name, _)| name.as_str())
        .find(|name| *name == "replication" || (parameters == Parameters::Refused && !known(name)));
    if let Some(name) = refused {
        return client.write_all(&refusal(name)).await;
    }
    let mut upstream = TcpStream::connect(server).await?;
    let kept = asked.iter().filter(|(name, _)| known(name));
    upstream.write_all(&start(version, kept)).await?;
    copy_bidirectional(&mut client, &mut upstream).await?;
    Ok(())
}

/// Names and values of a start.
fn pairs(body: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(body);
    let mut texts = text.split('\0').map(str::to_owned);
    let mut pairs = Vec::new();
    while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
        if name.is_empty() {
            break;
        }
        pairs.push((name, value));
    }
    pairs
}

fn start<'a>(version: u32, pairs: impl Iterator<Item = &'a (String, String)>) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    for (name, value) in pairs {
        body.extend_from_slice(format!("{name}\0{value}\0").as_bytes());
    }
    body.push(0);
    framed(&body)
}

fn refusal(name: &str) -> Vec<u8> {
    let fields = format!("SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: {name}\0\0");
    let mut message = b"E".to_vec();
    message.extend(framed(fields.as_bytes()));
    message
}

/// With its length, which counts itself, before it.
fn framed(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    let mut message = length.to_be_bytes().to_vec();
    message.extend_from_slice(body);
    message
}
