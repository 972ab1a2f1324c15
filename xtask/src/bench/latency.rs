//! How long after its commit on the source can a row be seen in the destination?
//!
//! The pipeline has caught up and is quiet. One small transaction at a time: the clock starts when its COMMIT is
//! answered on the source and ends when a session of the destination, which asks again and again, sees the row.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::arena::{Arena, Prepared, clock};
use super::kept::Keeps;
use super::report::Latency;
use super::workload::product;
use crate::run::Failure;
use crate::shop_process::Program;

const TRANSACTIONS: i64 = 500;
/// Between two transactions, so that each finds the stream quiet.
const QUIET: Duration = Duration::from_millis(5);
const DEADLINE: Duration = Duration::from_secs(30);

/// Percentiles over many lone transactions.
pub(crate) async fn measure(
    program: &Program,
    arena: &Arena,
    prepared: &Prepared,
) -> Result<Latency, Failure> {
    let run = arena.run(prepared, replicant_shop::schema::SLOT).await?;
    let ends = arena
        .ends(prepared, &run, Keeps::Current.pipeline())
        .await?;
    let process = program.start(&ends)?;
    clock(prepared, &run, Keeps::Current.arrival(), || Ok(())).await?;
    // Only WAL that is flushed is sent: a commit that does not wait for it is seen when the WAL writer wakes.
    prepared
        .client
        .batch_execute("set synchronous_commit = on")
        .await?;
    let visible = "select from public.products where id = $1";
    let visible = run.client.prepare(visible).await?;
    let mut histogram = Histogram::<u64>::new(3).map_err(unmeasured)?;
    for number in 1..=TRANSACTIONS {
        tokio::time::sleep(QUIET).await;
        // Keys below every other: nothing else uses them.
        let id = -1_000 - number;
        let insert = product(&format!("({id})"));
        prepared.client.batch_execute(&insert).await?;
        let committed = Instant::now();
        while run.client.query_opt(&visible, &[&id]).await?.is_none() {
            if committed.elapsed() > DEADLINE {
                return Err(Failure::Failed("a row did not arrive in time".to_owned()));
            }
        }
        let micros = u64::try_from(committed.elapsed().as_micros()).unwrap_or(u64::MAX);
        histogram.record(micros).map_err(unmeasured)?;
    }
    process.stop()?;
    arena.finish(prepared, run).await?;
    let milliseconds = |quantile| {
        let micros = u32::try_from(histogram.value_at_quantile(quantile)).unwrap_or(u32::MAX);
        f64::from(micros) / 1e3
    };
    Ok(Latency {
        p50: milliseconds(0.5),
        p99: milliseconds(0.99),
    })
}

fn unmeasured(error: impl std::fmt::Display) -> Failure {
    Failure::Unanswerable(format!("latency: {error}"))
}
