//! The delivery connection: opened with the destination's session settings, and opened again when it breaks.

use std::time::Duration;

use replicant_checkpoint::store::{CommitWarnings, LeaseLock, Prepared, Store};
use replicant_transport::connect::{ConnectOptions, SqlSession, sql_observed};
use replicant_transport::error::Site;
use replicant_transport::reason::Class;

use tokio_postgres::Client;

use crate::apply::Applier;
use crate::error::Error;
use crate::reason::Reason;

/// Longest pause between two attempts to reach the destination.
const RECONNECT_DELAY_MAX: Duration = Duration::from_secs(30);
/// First pause; it doubles from here, with full jitter.
const RECONNECT_DELAY_FIRST: Duration = Duration::from_millis(50);

/// Where the destination is, and the session to it while there is one.
pub(crate) struct Destination {
    options: ConnectOptions,
    warnings: CommitWarnings,
    session: Option<Connected>,
}

/// One session and everything that lives and dies with it.
pub(crate) struct Connected {
    session: SqlSession,
    /// The checkpoint's and the mirror's statements, prepared on this session.
    prepared: Option<(Prepared, Applier)>,
    /// Who had the lease's lock when this session last asked.
    pub(crate) lock: LeaseLock,
}

/// What a delivery works with.
pub(crate) struct Tools<'a> {
    pub(crate) client: &'a Client,
    pub(crate) prepared: &'a Prepared,
    pub(crate) applier: &'a mut Applier,
}

impl Connected {
    pub(crate) fn client(&self) -> &Client {
        &self.session.client
    }

    /// The session with everything prepared on it that a delivery needs.
    ///
    /// # Errors
    /// The destination refused, or the connection is gone.
    pub(crate) async fn tools(
        &mut self,
        store: &Store,
        applier: impl FnOnce() -> Applier,
    ) -> Result<Tools<'_>, replicant_checkpoint::Error> {
        let client = &self.session.client;
        let fresh = match self.prepared.take() {
            Some(prepared) => prepared,
            None => (store.prepare(client).await?, applier()),
        };
        let (prepared, applier) = self.prepared.insert(fresh);
        Ok(Tools {
            client,
            prepared,
            applier,
        })
    }

    pub(crate) fn client_mut(&mut self) -> &mut Client {
        &mut self.session.client
    }
}

impl Destination {
    /// A destination nothing is connected to yet.
    pub(crate) fn new(options: ConnectOptions, warnings: CommitWarnings) -> Self {
        Self {
            options,
            warnings,
            session: None,
        }
    }

    /// The session, connecting once when there is none.
    ///
    /// # Errors
    /// `destination_unreachable`, `destination_auth` or the connection layer's reason.
    pub(crate) async fn session(&mut self) -> Result<&mut Connected, Error> {
        let session = match self.session.take() {
            Some(connected) if !connected.session.client.is_closed() => connected,
            _ => {
                let warnings = self.warnings.clone();
                let session = sql_observed(&self.options, move |notice| warnings.notice(notice))
                    .await
                    .map_err(as_destination)?;
                Connected {
                    session,
                    prepared: None,
                    lock: LeaseLock::Free,
                }
            }
        };
        Ok(self.session.insert(session))
    }

    /// The session, waiting as long as it takes while the destination cannot be reached.
    ///
    /// # Errors
    /// Whatever a longer wait does not cure.
    pub(crate) async fn session_when_reachable(&mut self) -> Result<&mut Connected, Error> {
        let mut delay = RECONNECT_DELAY_FIRST;
        loop {
            match self.session().await {
                Ok(_) => break,
                Err(error) if error.class() == Class::Transient => {
                    tokio::time::sleep(jittered(delay)).await;
                    delay = (delay * 2).min(RECONNECT_DELAY_MAX);
                }
                Err(error) => return Err(error),
            }
        }
        self.session().await
    }

    /// Who had the lease's lock when the session last asked. Nobody without a session.
    pub(crate) fn lock(&self) -> LeaseLock {
        self.session
            .as_ref()
            .map_or(LeaseLock::Free, |session| session.lock)
    }

    /// Closes the session: its transaction, if any, is undone by the server.
    pub(crate) fn discard(&mut self) {
        self.session = None;
    }
}

/// Full jitter: anything between nothing and `delay`.
pub(crate) fn jittered(delay: Duration) -> Duration {
    delay.mul_f64(fastrand::f64())
}

/// The connection layer speaks of a server; here that server is the destination, and the message says so.
pub(crate) fn as_destination(error: replicant_transport::error::Error) -> Error {
    let reason = match (error.reason.class(), error.reason.code()) {
        (Class::Transient, _) => Reason::DestinationUnreachable,
        (_, "authentication_failed") => Reason::DestinationAuth,
        _ => {
            let mut error = error;
            error.site.option = error.site.option.or(Some("destination"));
            return Error::from(error);
        }
    };
    let site = Site::option("destination").sqlstate(error.site.sqlstate);
    Error::new(reason, site)
}
