//! Which servers to try: the lists of hosts, addresses and ports, each with its password.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::environment::{Environment, FileLookup};
use super::keyword::{Values, invalid};
use super::passfile::PasswordFile;
use super::socket::socket_name;
use crate::error::Error;

const PORT_DEFAULT: u16 = 5432;
/// Where servers keep their sockets: distributions' choice, then PostgreSQL's own.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// One server to try.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) target: Target,
    pub(super) port: u16,
    pub(super) password: Option<SecretString>,
}

/// How the server is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// A directory with the server's socket.
    Unix(PathBuf),
    /// A name, for certificates and, unless an address is given, for look-up.
    Tcp {
        name: String,
        address: Option<IpAddr>,
    },
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("target", &self.target)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

/// Matches the three lists up. Each host without an explicit password asks the password file.
pub(super) fn hosts(
    values: &Values,
    user: &str,
    database: &str,
    environment: &impl Environment,
) -> Result<Vec<Host>, Error> {
    let names = values
        .given("host")
        .map(|list| list.split(',').collect::<Vec<_>>());
    let addresses = values
        .given("hostaddr")
        .map(|list| list.split(',').collect::<Vec<_>>());
    let ports = values
        .given("port")
        .map_or_else(Vec::new, |list| list.split(',').collect());
    let count = match (&names, &addresses) {
        (Some(names), Some(addresses)) if names.len() != addresses.len() => {
            return Err(invalid("hostaddr", "not as many addresses as hosts"));
        }
        (Some(list), _) | (None, Some(list)) => list.len(),
        (None, None) => 1,
    };
    if ports.len() > 1 && ports.len() != count {
        return Err(invalid("port", "neither one port nor as many as hosts"));
    }

    let password = values.given("password").map(SecretString::from);
    let file = match password {
        Some(_) => None,
        None => PasswordFile::load(values.given("passfile"), environment)?,
    };
    let item = |list: &Option<Vec<&str>>, index: usize| {
        list.as_ref()
            .and_then(|list| list.get(index))
            .map_or("", |item| item.trim())
            .to_owned()
    };
    (0..count)
        .map(|index| {
            let port = port(ports.get(index).or(ports.first()).copied().unwrap_or(""))?;
            let target = target(
                item(&names, index),
                &item(&addresses, index),
                port,
                environment,
            )?;
            let password = password.clone().or_else(|| {
                let host = target.password_file_name();
                file.as_ref()?
                    .lookup([&host, &port.to_string(), database, user])
            });
            Ok(Host {
                target,
                port,
                password,
            })
        })
        .collect()
}

impl Target {
    /// How the password file calls this server: sockets in a standard directory are `localhost`.
    fn password_file_name(&self) -> String {
        match self {
            Self::Unix(directory)
                if SOCKET_DIRECTORIES
                    .iter()
                    .any(|standard| directory == Path::new(standard)) =>
            {
                "localhost".to_owned()
            }
            Self::Unix(directory) => directory.to_string_lossy().into_owned(),
            Self::Tcp { name, .. } => name.clone(),
        }
    }
}

fn target(
    name: String,
    address: &str,
    port: u16,
    environment: &impl Environment,
) -> Result<Target, Error> {
    if !address.is_empty() {
        let address: IpAddr = address
            .parse()
            .map_err(|_| invalid("hostaddr", "not an IP address"))?;
        let name = if name.is_empty() || name.starts_with('/') {
            address.to_string()
        } else {
            name
        };
        return Ok(Target::Tcp {
            name,
            address: Some(address),
        });
    }
    if name.starts_with('@') {
        return Err(invalid("host", "abstract sockets are not supported here"));
    }
    if name.starts_with('/') {
        return Ok(Target::Unix(PathBuf::from(name)));
    }
    if name.is_empty() {
        return Ok(Target::Unix(default_directory(port, environment)));
    }
    let address = name.parse().ok();
    Ok(Target::Tcp { name, address })
}

/// The first standard directory in which a server listens on this port, else the first.
fn default_directory(port: u16, environment: &impl Environment) -> PathBuf {
    let listens = |directory: &&Path| {
        !matches!(
            environment.file(&directory.join(socket_name(port))),
            FileLookup::Absent
        )
    };
    let [first, _] = SOCKET_DIRECTORIES.map(Path::new);
    SOCKET_DIRECTORIES
        .map(Path::new)
        .into_iter()
        .find(listens)
        .unwrap_or(first)
        .to_path_buf()
}

fn port(text: &str) -> Result<u16, Error> {
    match text.trim() {
        "" => Ok(PORT_DEFAULT),
        text => text
            .parse()
            .ok()
            .filter(|port| *port != 0)
            .ok_or_else(|| invalid("port", "not a number from 1 to 65535")),
    }
}
