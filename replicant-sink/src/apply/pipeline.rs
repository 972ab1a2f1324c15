//! How statements overlap: each is sent when it is made, answers are awaited later and in order.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use tokio::task::yield_now;
use tokio_postgres::{Client, Error};

use super::filled::{Filled, FilledArray, FilledPrepared};
use super::parameter::ArrayOf;
use super::sql::Side;
use super::statements::Prepared;
use crate::plan::{Images, Row};

/// What is in flight at most, so that a slow destination holds a few megabytes and no more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Window {
    /// Statements of many rows.
    Wide,
    /// Statements of one row.
    Narrow,
}

impl Window {
    const fn statements(self) -> usize {
        match self {
            Self::Wide => 8,
            Self::Narrow => 128,
        }
    }
}

type Answer<'f> = Pin<Box<dyn Future<Output = Result<u64, Error>> + Send + 'f>>;

enum Sent<'f> {
    Waiting(Answer<'f>),
    Answered(Result<u64, Error>),
}

/// Statements sent in order, their counts in the same order.
pub(crate) struct Pipeline<'f> {
    client: &'f Client,
    window: Window,
    sent: VecDeque<Sent<'f>>,
    counts: Vec<u64>,
    failed: Option<Error>,
}

impl<'f> Pipeline<'f> {
    /// For statements of many rows.
    pub(crate) fn wide(client: &'f Client) -> Self {
        Self::new(client, Window::Wide)
    }

    /// For statements of one row.
    pub(crate) fn narrow(client: &'f Client) -> Self {
        Self::new(client, Window::Narrow)
    }

    fn new(client: &'f Client, window: Window) -> Self {
        Self {
            client,
            window,
            sent: VecDeque::new(),
            counts: Vec::new(),
            failed: None,
        }
    }

    /// Sends statements without parameters; they count as one answer of 0.
    pub(crate) async fn command(&mut self, text: &'f str) {
        let client = self.client;
        self.send(Box::pin(async move {
            client.batch_execute(text).await?;
            Ok(0)
        }))
        .await;
    }

    /// Sends a prepared statement for some rows. `old` and `new` are as long as each other.
    pub(crate) async fn execute(
        &mut self,
        prepared: &'f Prepared,
        images: &'f Images<'_>,
        old: &'f [Row],
        new: &'f [Row],
    ) {
        let client = self.client;
        self.send(Box::pin(async move {
            let arrays = prepared.parameters.iter().map(|parameter| {
                let rows = match parameter.side {
                    Side::Old => old,
                    Side::New => new,
                };
                ArrayOf::new(images, rows, parameter, &prepared.seals)
            });
            let arrays: Vec<ArrayOf<'_, '_>> = arrays.collect();
            client.execute_raw(&prepared.statement, arrays).await
        }))
        .await;
    }

    /// Sends a prepared statement for some filled rows.
    pub(crate) async fn execute_filled<F: Filled + Sync>(
        &mut self,
        prepared: &'f FilledPrepared,
        filled: &'f F,
        items: &'f [F::Item],
    ) where
        F::Item: Sync,
    {
        let client = self.client;
        self.send(Box::pin(async move {
            let arrays = FilledArray::all(filled, items, prepared);
            client.execute_raw(&prepared.statement, arrays).await
        }))
        .await;
    }

    /// Waits for every answer.
    ///
    /// # Errors
    /// The first error; what was sent after it failed because of it.
    pub(crate) async fn finish(mut self) -> Result<Vec<u64>, Error> {
        self.settle(0).await;
        match self.failed {
            None => Ok(self.counts),
            Some(error) => Err(error),
        }
    }

    /// Waits for the answers so far; answers whether all of them are good. A COPY must not be sent into a transaction
    /// that failed already: the client counts one answer less than the server then gives.
    pub(crate) async fn stands(&mut self) -> bool {
        self.settle(0).await;
        self.failed.is_none()
    }

    /// Waits until at most `left` answers are missing.
    async fn settle(&mut self, left: usize) {
        while self.sent.len() > left {
            let answer = match self.sent.pop_front() {
                Some(Sent::Waiting(answer)) => answer.await,
                Some(Sent::Answered(answer)) => answer,
                None => return,
            };
            match answer {
                Ok(count) => self.counts.push(count),
                Err(error) => {
                    self.failed.get_or_insert(error);
                }
            }
        }
    }

    async fn send(&mut self, mut answer: Answer<'f>) {
        if self.failed.is_some() {
            return;
        }
        // The client puts a request into its queue when the future is first polled; a full queue does not exist.
        let first = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
        self.sent.push_back(match first {
            Poll::Ready(answered) => Sent::Answered(answered),
            Poll::Pending => Sent::Waiting(answer),
        });
        if self.window == Window::Wide {
            // The connection's task was woken on this thread and would not run before this one waits: the destination
            // would get its first statement when the last one is made.
            yield_now().await;
        }
        self.settle(self.window.statements()).await;
    }
}
