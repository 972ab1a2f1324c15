//! How does a test wait for something to happen? For the event itself, with a deadline, never for a while.

use std::time::{Duration, Instant};

use tokio_postgres::Client;

use crate::error::Error;

const POLL: Duration = Duration::from_millis(5);

/// Asks `probe` again and again until it answers.
///
/// # Errors
/// [`Error::Timeout`] naming `what` when it did not answer within the deadline.
///
/// # Cancel safety
/// As safe as `probe`.
pub async fn wait_for<T>(
    what: &str,
    within: Duration,
    mut probe: impl AsyncFnMut() -> Option<T>,
) -> Result<T, Error> {
    let deadline = Instant::now() + within;
    loop {
        if let Some(answer) = probe().await {
            return Ok(answer);
        }
        if Instant::now() >= deadline {
            return Err(Error::Timeout {
                what: what.to_owned(),
                seconds: within.as_secs_f64(),
            });
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Runs a query of one boolean until it is true; NULL and no row count as not yet.
///
/// # Errors
/// [`Error::Timeout`] naming the query, or the server's refusal.
///
/// # Cancel safety
/// Cancel safe for queries that only read.
pub async fn wait_for_true(client: &Client, query: &str, within: Duration) -> Result<(), Error> {
    wait_for(query, within, async || {
        match client.query_opt(query, &[]).await {
            Ok(row) => row
                .and_then(|row| row.get::<_, Option<bool>>(0))
                .filter(|holds| *holds)
                .map(|_| Ok(())),
            Err(error) => Some(Err(Error::from(error))),
        }
    })
    .await?
}
