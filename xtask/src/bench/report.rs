//! What did the benchmark find, as a table and as JSON?

use serde::Serialize;

/// The whole result; the shape is stable, fields are only added.
#[derive(Serialize, Default, Debug)]
pub(crate) struct Report {
    pub(crate) workloads: Vec<WorkloadReport>,
    pub(crate) decode: Option<Decode>,
    pub(crate) latency_ms: Option<Latency>,
    pub(crate) peak_rss_mib: Option<f64>,
    pub(crate) postgres: String,
    pub(crate) settings: String,
    pub(crate) runs: u32,
}

/// One workload, medians of all runs.
#[derive(Serialize, Debug)]
pub(crate) struct WorkloadReport {
    pub(crate) name: &'static str,
    pub(crate) rows: u32,
    pub(crate) replicant_rows_per_s: Option<f64>,
    pub(crate) baseline_rows_per_s: f64,
    pub(crate) baseline: &'static str,
    pub(crate) ratio: Option<f64>,
    pub(crate) binary_baseline_rows_per_s: Option<f64>,
    pub(crate) replicant_cpu_us_per_row: Option<f64>,
    pub(crate) baseline_cpu_us_per_row: f64,
}

#[derive(Serialize, Debug)]
pub(crate) struct Decode {
    pub(crate) replicant_rows_per_s: f64,
    pub(crate) pg_recvlogical_rows_per_s: f64,
    pub(crate) ratio: f64,
}

#[derive(Serialize, Debug)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

impl Report {
    pub(crate) fn print(&self) {
        println!(
            "PostgreSQL {}, two clusters, fsync on, {}, median of {}",
            self.postgres, self.settings, self.runs
        );
        println!(
            "{:<16} {:>9} {:>14} {:>14} {:>14} {:>7}  cpu us/row",
            "workload", "rows", "replicant/s", "native/s", "binary/s", "ratio"
        );
        for line in &self.workloads {
            println!(
                "{:<16} {:>9} {:>14} {:>14.0} {:>14} {:>7}  {} against {:.1}",
                line.name,
                line.rows,
                number(line.replicant_rows_per_s, 0),
                line.baseline_rows_per_s,
                number(line.binary_baseline_rows_per_s, 0),
                number(line.ratio, 2),
                number(line.replicant_cpu_us_per_row, 1),
                line.baseline_cpu_us_per_row,
            );
        }
        if let Some(decode) = &self.decode {
            println!(
                "decode: {:.0} rows/s, pg_recvlogical {:.0} rows/s, ratio {:.2}",
                decode.replicant_rows_per_s, decode.pg_recvlogical_rows_per_s, decode.ratio
            );
        }
        if let Some(latency) = &self.latency_ms {
            println!(
                "commit to visible: p50 {:.2} ms, p99 {:.2} ms",
                latency.p50, latency.p99
            );
        }
        if let Some(peak) = self.peak_rss_mib {
            println!("peak resident memory: {peak:.0} MiB");
        }
    }
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// The middle value; the lower of the two middle ones for an even count.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_a_measured_value() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 3.0, 4.0]), Some(3.0));
    }
}
