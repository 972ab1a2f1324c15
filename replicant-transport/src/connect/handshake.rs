//! From options to an authenticated session: which host, which stream, which login, which settings.
//!
//! Source: PostgreSQL documentation, "Start-up", "SSL Session Encryption", and libpq's "Specifying Multiple Hosts".

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::auth::{AuthFailure, Channel, Login, authenticate};
use super::binding::tls_server_end_point;
use super::fault::{ServerFault, sqlstate_of};
use super::frame::{Frames, HANDSHAKE_FRAME_BYTES_MAX, SESSION_FRAME_BYTES_MAX, violation};
use super::host::{Host, Target};
use super::options::ConnectOptions;
use super::policy::{HostOrder, Negotiation, SessionAttributes, SslMode};
use super::session::{Session, Turn, put_frame};
use super::socket::Stream;
use super::tls::TlsClient;
use crate::error::{Error, Site};
use crate::reason::{Class, Reason};

/// AuthenticationOk, as the greeting begins.
const AUTHENTICATION_OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";
/// The first version that knows `idle_session_timeout`.
const IDLE_SESSION_TIMEOUT_SINCE: u32 = 14;

/// What the session is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// A walsender bound to a database, to be asked.
    Replication,
    /// A walsender that is to stream: it decodes with what it has read from the catalog, so it is asked nothing.
    Stream,
    /// An ordinary backend.
    Sql,
}

/// Tries every address of every host until one answers. Only what may be different elsewhere moves on to the next: a
/// wrong password or an untrusted certificate ends the search.
pub(super) async fn open(options: &ConnectOptions, purpose: Purpose) -> Result<Session, Error> {
    let mut hosts: Vec<&Host> = options.hosts.iter().collect();
    if options.order == HostOrder::Random {
        fastrand::shuffle(&mut hosts);
    }
    let tcp = |host: &&Host| matches!(host.target, Target::Tcp { .. });
    let encrypts = options.tls.mode != SslMode::Disable && hosts.iter().any(tcp);
    let tls = encrypts.then(|| TlsClient::new(&options.tls)).transpose()?;
    let attempt = Attempt {
        options,
        purpose,
        tls,
    };
    let mut last = Error::from(Reason::SourceUnreachable);
    for host in hosts {
        let endpoints = match attempt.within_timeout(endpoints(host)).await {
            Ok(endpoints) => endpoints,
            Err(error) => {
                last = error;
                continue;
            }
        };
        for endpoint in &endpoints {
            match attempt.within_timeout(attempt.reach(host, endpoint)).await {
                Ok(session) => return Ok(session),
                Err(error) if error.reason.class() == Class::Transient => last = error,
                Err(error) => return Err(error),
            }
        }
    }
    Err(last)
}

/// One place to connect to.
enum Endpoint<'a> {
    Unix(&'a PathBuf),
    Tcp { name: &'a str, address: SocketAddr },
}

/// A host's addresses. A look-up that fails may succeed later.
async fn endpoints(host: &Host) -> Result<Vec<Endpoint<'_>>, Error> {
    match &host.target {
        Target::Unix(directory) => Ok(vec![Endpoint::Unix(directory)]),
        Target::Tcp {
            name,
            address: Some(address),
        } => Ok(vec![Endpoint::Tcp {
            name,
            address: SocketAddr::new(*address, host.port),
        }]),
        Target::Tcp {
            name,
            address: None,
        } => {
            let found = tokio::net::lookup_host((name.as_str(), host.port)).await;
            let found: Vec<_> = found
                .map_err(|_| Error::from(Reason::HostNotFound))?
                .map(|address| Endpoint::Tcp { name, address })
                .collect();
            if found.is_empty() {
                Err(Reason::HostNotFound.into())
            } else {
                Ok(found)
            }
        }
    }
}

/// What one attempt needs.
struct Attempt<'a> {
    options: &'a ConnectOptions,
    purpose: Purpose,
    /// Absent where nothing is encrypted, so that certificate files are not even looked at.
    tls: Option<TlsClient>,
}

/// Whether TLS may still be tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encryption {
    AsConfigured,
    PlaintextOnly,
}

impl Attempt<'_> {
    async fn within_timeout<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        match self.options.timeout {
            None => work.await,
            Some(limit) => {
                let ended = tokio::time::timeout(limit, work).await;
                ended.unwrap_or_else(|_| Err(Reason::ConnectTimeout.into()))
            }
        }
    }

    /// One session with one address. `sslmode=prefer` alone may be answered in plaintext, and only when the server
    /// declined TLS or has no rule for it; a certificate that fails, or any later error, never leads there.
    async fn reach(&self, host: &Host, endpoint: &Endpoint<'_>) -> Result<Session, Error> {
        let first = match self.log_in(host, endpoint, Encryption::AsConfigured).await {
            Err(AuthFailure::Unasked(error))
                if self.options.tls.mode == SslMode::Prefer
                    && error.reason == Reason::AuthenticationFailed =>
            {
                tracing::warn!("the server has no rule for TLS; sslmode=prefer tries plaintext");
                self.log_in(host, endpoint, Encryption::PlaintextOnly).await
            }
            first => first,
        };
        let mut session = first.map_err(|failure| match failure {
            AuthFailure::Unasked(error) | AuthFailure::Failed(error) => error,
        })?;
        if session.major >= IDLE_SESSION_TIMEOUT_SINCE {
            session.simple_query("set idle_session_timeout = 0").await?;
        }
        if self.purpose != Purpose::Stream {
            check_settings(&mut session, self.options).await?;
        }
        check_attributes(&mut session, self.options.attributes).await?;
        Ok(session)
    }

    async fn log_in(
        &self,
        host: &Host,
        endpoint: &Endpoint<'_>,
        encryption: Encryption,
    ) -> Result<Session, AuthFailure> {
        let unreachable = |_| Error::from(Reason::SourceUnreachable);
        let (mut stream, channel) = match endpoint {
            Endpoint::Unix(directory) => (
                Stream::unix(directory, host.port)
                    .await
                    .map_err(unreachable)?,
                Channel::Plain,
            ),
            Endpoint::Tcp { name, address } => {
                let stream = Stream::tcp(*address, self.options.liveness)
                    .await
                    .map_err(unreachable)?;
                self.secure(stream, name, encryption).await?
            }
        };
        let mut frames = Frames::new(HANDSHAKE_FRAME_BYTES_MAX);
        let startup = self.startup_message()?;
        let sent = async {
            stream.write_all(&startup).await?;
            stream.flush().await
        };
        sent.await.map_err(unreachable)?;
        let login = Login {
            user: self.options.user(),
            password: host.password.as_ref(),
            require: &self.options.require_auth,
            channel_binding: self.options.channel_binding,
            channel: &channel,
        };
        match (
            authenticate(&mut stream, &mut frames, &login).await,
            &channel,
        ) {
            (Err(AuthFailure::Unasked(error)), Channel::Plain) => return Err(error.into()),
            (ended, _) => ended?,
        }
        Ok(greet(stream, frames).await?)
    }

    /// Asks for TLS as `sslmode` says. Exactly one byte is read before the handshake, so bytes injected behind the
    /// answer reach the TLS layer, which refuses them, and never the session.
    async fn secure(
        &self,
        mut stream: TcpStream,
        name: &str,
        encryption: Encryption,
    ) -> Result<(Stream, Channel), Error> {
        let policy = &self.options.tls;
        let (Some(tls), Encryption::AsConfigured) = (&self.tls, encryption) else {
            return Ok((Stream::Tcp(stream), Channel::Plain));
        };
        if policy.negotiation == Negotiation::Postgres {
            let mut request = BytesMut::new();
            frontend::ssl_request(&mut request);
            let asked = async {
                stream.write_all(&request).await?;
                stream.read_u8().await
            };
            match asked
                .await
                .map_err(|_| Error::from(Reason::SourceUnreachable))?
            {
                b'S' => {}
                b'N' if policy.mode == SslMode::Prefer => {
                    return Ok((Stream::Tcp(stream), Channel::Plain));
                }
                b'N' => return Err(Reason::TlsRefused.into()),
                // The server failed before it could look at the request; what it says is not authenticated.
                b'E' => return Err(Reason::ServerUnavailable.into()),
                _ => return Err(violation("an answer to SSLRequest that is neither S nor N")),
            }
        }
        let stream = tls.connect(stream, name).await?;
        let certificates = stream.get_ref().1.peer_certificates();
        let binding = certificates.and_then(|chain| tls_server_end_point(chain.first()?));
        Ok((Stream::Tls(Box::new(stream)), Channel::Tls { binding }))
    }

    fn startup_message(&self) -> Result<BytesMut, Error> {
        let options = self.options;
        let mut parameters = vec![("user", options.user()), ("database", options.database())];
        if self.purpose != Purpose::Sql {
            parameters.push(("replication", "database"));
        }
        if let Some(own) = &options.options {
            // The server applies these first, so the pinned settings win.
            parameters.push(("options", own));
        }
        parameters.push(("application_name", options.application_name()));
        parameters.extend(options.settings());
        let mut message = BytesMut::new();
        frontend::startup_message(parameters, &mut message)
            .map_err(|_| super::keyword::invalid("conninfo", "a zero byte"))?;
        Ok(message)
    }
}

/// Reads what the server says of itself between AuthenticationOk and its first ReadyForQuery.
async fn greet<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    mut frames: Frames,
) -> Result<Session<S>, Error> {
    let mut greeting = BytesMut::from(AUTHENTICATION_OK);
    let mut major = None;
    loop {
        let frame = frames.read(&mut stream).await?;
        match frame.tag {
            b'S' => major = major.or(server_major(&frame.body)),
            b'K' | b'Z' => {}
            b'N' => continue,
            b'E' => return Err(ServerFault::SqlState(sqlstate_of(&frame.body)).into()),
            _ => {
                return Err(violation(
                    "a message that the start of a session does not know",
                ));
            }
        }
        put_frame(&frame, &mut greeting);
        if frame.tag == b'Z' {
            break;
        }
    }
    frames.set_limit(SESSION_FRAME_BYTES_MAX);
    let major = major.ok_or_else(|| violation("a server that does not tell its version"))?;
    Ok(Session {
        stream,
        frames,
        greeting: greeting.freeze(),
        major,
        turn: Turn::Ours,
    })
}

/// `15` from the parameter status `server_version`, `15.18 (Debian ...)`.
fn server_major(parameter: &[u8]) -> Option<u32> {
    let version = parameter.strip_prefix(b"server_version\0")?;
    let digits = version
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .copied()
        .collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

/// Whether the session begins with what was asked for. A pooler may take the parameters of a start and give them to
/// nobody; the server knows which of its settings came from a client.
async fn check_settings(session: &mut Session, options: &ConnectOptions) -> Result<(), Error> {
    let sets = session
        .simple_query("select name from pg_catalog.pg_settings where source = 'client'")
        .await?;
    let taken = sets.first().ok_or(ServerFault::Unexpected)?;
    let taken = taken.rows().map(|row| row.text("name"));
    let taken: Vec<Option<&str>> = taken.collect::<Result<_, _>>()?;
    let is_taken = |wanted: &str| {
        let mut names = taken.iter().flatten();
        names.any(|name| name.eq_ignore_ascii_case(wanted))
    };
    let lost: Vec<&str> = options
        .settings()
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| !is_taken(name))
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    let fact = format!("not taken: {}", lost.join(", "));
    Err(Error::new(
        Reason::SessionSettingsRefused,
        Site::none().fact(fact),
    ))
}

/// Whether this server is of the wanted kind.
async fn check_attributes(session: &mut Session, wanted: SessionAttributes) -> Result<(), Error> {
    if wanted == SessionAttributes::Any {
        return Ok(());
    }
    let sets = session
        .simple_query(
            "select pg_catalog.pg_is_in_recovery() as standby, \
             pg_catalog.current_setting('transaction_read_only') as read_only",
        )
        .await?;
    let facts = sets.first().ok_or(ServerFault::Unexpected)?.only()?;
    let (standby, read_only) = (
        facts.flag("standby")?,
        facts.text("read_only")? == Some("on"),
    );
    let matches = match wanted {
        SessionAttributes::Any => true,
        SessionAttributes::ReadWrite => !read_only,
        SessionAttributes::ReadOnly => read_only,
        SessionAttributes::Primary => !standby,
        SessionAttributes::Standby => standby,
    };
    if matches {
        return Ok(());
    }
    Err(Error::new(
        Reason::SessionAttributesUnmatched,
        Site::option("target_session_attrs"),
    ))
}
