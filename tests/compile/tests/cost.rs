//! What declarations cost the compiler: a sink of 300 resources with 40 columns each compiles without a lint, and a
//! resource takes less than 20 ms of processor time, which does not depend on what else the machine does.

#![expect(
    clippy::unwrap_used,
    reason = "a test stops at what it does not understand"
)]

mod compiler;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[test]
fn three_hundred_resources_of_forty_columns_in_one_sink_compile_without_a_lint() {
    let (took, reports) = compile("large", 300);
    assert!(reports.is_empty(), "{reports:?}");
    eprintln!("300 resources: {took:?}");
    assert!(took < Duration::from_secs(60), "{took:?}");
}

#[test]
fn a_resource_costs_less_than_twenty_milliseconds() {
    let (nothing, _) = compile("nothing", 0);
    let (took, reports) = compile("fifty", 50);
    assert!(reports.is_empty(), "{reports:?}");
    assert!(took > nothing, "{took:?}, {nothing:?} for none");
    let each = took.saturating_sub(nothing) / 50;
    eprintln!("50 resources: {took:?}, of which {nothing:?} for none: {each:?} each");
    assert!(each < Duration::from_millis(20), "{each:?}");
}

/// The clock counts every process that was waited for, so one test at a time looks at it.
static CLOCK: Mutex<()> = Mutex::new(());

/// Checks a sink of so many resources, and says how long it took.
fn compile(name: &str, resources: usize) -> (Duration, Vec<compiler::Report>) {
    let _alone = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.rs"));
    fs::write(&path, source(resources)).unwrap();
    // The library and its dependencies are compiled before the clock starts.
    compiler::check_with(&["generated"], Some(&path));
    fs::write(&path, source(resources) + "\n// again\n").unwrap();
    let before = processor_time_of_children();
    let reports = compiler::check_with(&["generated"], Some(&path));
    (processor_time_of_children().saturating_sub(before), reports)
}

/// User and system time of every process waited for. Source: proc_pid_stat(5), fields 16 and 17, in ticks of which
/// Linux has 100 a second on every machine we know.
fn processor_time_of_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = fields.split(' ').skip(13).take(2);
    let ticks: u64 = ticks.map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

fn source(resources: usize) -> String {
    let mut source = String::from("use replicant_sink::prelude::*;\n");
    for table in 0..resources {
        let options = format!(
            "table = \"some_rather_long_table_name_{table}\", actions(read, destroy, create(accept = all))"
        );
        writeln!(
            source,
            "#[replicant({options})] pub struct T{table} {{ #[replicant(primary_key)] id: i64,"
        )
        .unwrap();
        for column in 1..40 {
            writeln!(source, "column_{column}: Option<String>,").unwrap();
        }
        source.push_str("}\n");
    }
    let resources: Vec<String> = (0..resources).map(|table| format!("T{table}")).collect();
    writeln!(
        source,
        "#[replicant_domain(resources({}))] pub struct Large;",
        resources.join(", ")
    )
    .unwrap();
    source.push_str(
        "#[replicant_checkpoint(schema = \"replicant\")] pub struct LargeCheckpoint;
         #[replicant_sink(slot_name = \"large\", domains(Large), checkpoint = LargeCheckpoint)] pub struct LargeSink;
         fn main() { assert!(LargeSink::SPEC.resources().count() < 1000); }",
    );
    source
}
