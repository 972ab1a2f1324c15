//! Who works in the shop while the demo runs? Several sessions, each at its share of the rate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use replicant_shop::traffic::{Done, Traffic};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::stage::Stage;
use crate::run::Failure;

pub(super) struct Workers {
    tasks: Vec<JoinHandle<Result<Done, tokio_postgres::Error>>>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    closing: AtomicBool,
    transactions: AtomicU64,
}

impl Workers {
    pub(super) async fn start(
        stage: &Stage,
        seed: u64,
        sessions: u32,
        rate: u32,
    ) -> Result<Self, Failure> {
        let shared = Arc::new(Shared::default());
        let pause = Duration::from_secs_f64(f64::from(sessions) / f64::from(rate));
        let mut tasks = Vec::new();
        for session in 1..=sessions {
            let client = replicant_test_servers::connect::connect(&stage.source_conninfo()).await?;
            let shared = Arc::clone(&shared);
            tasks.push(tokio::spawn(async move {
                let mut traffic = Traffic::new(seed, session);
                let mut sum = traffic.open(&client).await?;
                let mut pace = tokio::time::interval(pause);
                pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
                while !shared.closing.load(Ordering::Relaxed) {
                    pace.tick().await;
                    let done = traffic.transaction(&client).await?;
                    sum.transactions += done.transactions;
                    sum.changes += done.changes;
                    shared
                        .transactions
                        .fetch_add(done.transactions, Ordering::Relaxed);
                }
                Ok(sum)
            }));
        }
        Ok(Self { tasks, shared })
    }

    /// Committed so far.
    pub(super) fn transactions(&self) -> u64 {
        self.shared.transactions.load(Ordering::Relaxed)
    }

    /// Closes the shop and waits for the last transaction.
    pub(super) async fn stop(self) -> Result<Done, Failure> {
        self.shared.closing.store(true, Ordering::Relaxed);
        let mut sum = Done::default();
        for task in self.tasks {
            let done = task
                .await
                .map_err(|_| Failure::Failed("a session of the shop panicked".to_owned()))??;
            sum.transactions += done.transactions;
            sum.changes += done.changes;
        }
        Ok(sum)
    }
}
