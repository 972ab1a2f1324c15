//! How a transaction of ours begins and ends, also when nobody ends it.
//!
//! Beginning a second transaction on a connection that still has one open does not fail in PostgreSQL: it only warns,
//! and the second would commit the first one's leftovers. So an [`Open`] that is dropped queues a ROLLBACK behind
//! everything it sent; whatever the connection is asked next comes after that.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use tokio_postgres::Client;

use crate::error::Error;

/// Isolation is set here and never inherited: under REPEATABLE READ a locked row that moved is an error instead of
/// its newest version.
pub(super) const BEGIN: &str = "begin isolation level read committed read write";

/// An open transaction.
#[derive(Debug)]
pub(super) struct Open<'c> {
    client: &'c Client,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// Nothing was sent that ends it.
    Missing,
    /// COMMIT or ROLLBACK was sent and answered, or the connection is gone.
    Answered,
}

impl<'c> Open<'c> {
    /// Guards a transaction whose BEGIN is about to be sent on this client.
    pub(super) fn new(client: &'c Client) -> Self {
        Self {
            client,
            end: End::Missing,
        }
    }

    pub(super) fn client(&self) -> &'c Client {
        self.client
    }

    /// Says that the transaction is over.
    pub(super) fn ended(mut self) {
        self.end = End::Answered;
    }

    pub(super) async fn commit(self) -> Result<(), Error> {
        self.client.batch_execute("commit").await?;
        self.ended();
        Ok(())
    }

    pub(super) async fn rollback(self) -> Result<(), Error> {
        self.client.batch_execute("rollback").await?;
        self.ended();
        Ok(())
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.end == End::Missing {
            // The first poll hands the message to the connection; nobody has to wait for the answer.
            let rollback = pin!(self.client.batch_execute("rollback"));
            let _ = rollback.poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}
