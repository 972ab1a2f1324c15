//! How long did rows take from their commit on the source to their commit on the mirror?
//!
//! Both servers remember when the transaction that wrote a row's present version committed, and they share a clock,
//! so the answer needs no help from the pipeline and includes the time in which it was dead.

use std::collections::HashMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio_postgres::Client;

use crate::run::Failure;

const COMMITTED: &str = "select row(order_id, line_no)::text, \
     (extract(epoch from pg_catalog.pg_xact_commit_timestamp(xmin)) * 1000)::float8 from public.order_lines";

/// Percentiles in milliseconds.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Lag {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

pub(super) async fn measure(source: &Client, mirror: &Client) -> Result<Lag, Failure> {
    let committed: HashMap<String, f64> = source
        .query(COMMITTED, &[])
        .await?
        .iter()
        .map(|row| (row.get(0), row.get(1)))
        .collect();
    // In microseconds, up to an hour.
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000, 3)
        .map_err(|error| Failure::Unanswerable(error.to_string()))?;
    for row in mirror.query(COMMITTED, &[]).await? {
        let (key, arrived): (String, f64) = (row.get(0), row.get(1));
        if let Some(left) = committed.get(&key) {
            histogram.saturating_record(whole_microseconds(arrived - left));
        }
    }
    Ok(Lag {
        p50: milliseconds(&histogram, 0.50),
        p99: milliseconds(&histogram, 0.99),
    })
}

/// Clocks have a resolution of a microsecond, so nothing is quicker than that.
fn whole_microseconds(milliseconds: f64) -> u64 {
    let whole = (milliseconds * 1000.0).round().max(1.0);
    Duration::from_secs_f64(whole / 1e6)
        .as_micros()
        .try_into()
        .unwrap_or(u64::MAX)
}

fn milliseconds(histogram: &Histogram<u64>, quantile: f64) -> f64 {
    Duration::from_micros(histogram.value_at_quantile(quantile)).as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lag_is_at_least_a_microsecond() {
        assert_eq!(whole_microseconds(-3.0), 1);
        assert_eq!(whole_microseconds(2.5), 2500);
    }
}
