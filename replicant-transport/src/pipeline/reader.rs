//! Which thread reads the socket: one of its own, that sleeps while the socket fills.
//!
//! On a shared runtime a pause between reads saves nothing: the runtime waits for all its sockets at once, and every
//! message that arrives wakes it, paused reader or not. A thread of its own that sleeps is not woken, whatever
//! arrives, over TCP, TLS and Unix sockets alike.

use std::future::Future;
use std::io;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// A runtime with one thread, for one session's socket.
#[derive(Debug)]
pub(super) struct ReaderThread {
    handle: Handle,
    /// There until the thread is let go.
    runtime: Option<Runtime>,
}

impl ReaderThread {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Self> {
        Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("replicant-reader")
            .enable_all()
            .build()
            .map(|runtime| Self {
                handle: runtime.handle().clone(),
                runtime: Some(runtime),
            })
    }

    /// Runs a future on the thread. A socket that it opens belongs to the thread. Dropping the handle ends it.
    pub(super) fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Running<T> {
        Running(self.handle.spawn(future))
    }
}

impl Drop for ReaderThread {
    fn drop(&mut self) {
        // Waiting for the thread would block whoever drops this, which may be a runtime's own thread.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A future on the reader's thread; it does not outlive its handle.
#[derive(Debug)]
pub(super) struct Running<T>(JoinHandle<T>);

impl<T> Running<T> {
    /// What it answered; `None` when it panicked.
    ///
    /// # Cancel safety
    /// Safe: it goes on until the handle is dropped.
    pub(super) async fn end(&mut self) -> Option<T> {
        (&mut self.0).await.ok()
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_runs_there_runs_on_a_thread_of_its_own_and_ends_with_its_handle() {
        let reader = ReaderThread::start().unwrap();
        let name = async { std::thread::current().name().map(str::to_owned) };
        let name = reader.run(name).end().await.flatten();
        assert_eq!(name.as_deref(), Some("replicant-reader"));
        let (held, gone) = tokio::sync::oneshot::channel::<()>();
        let endless = async move {
            let _held = held;
            std::future::pending::<()>().await;
        };
        drop(reader.run(endless));
        assert!(gone.await.is_err());
    }
}
