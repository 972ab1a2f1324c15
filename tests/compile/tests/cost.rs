//! What declarations cost the compiler: a sink of 300 resources with 40 columns each compiles without a lint, and a
//! resource takes less than 20 ms.

mod compiler;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[test]
fn three_hundred_resources_of_forty_columns_in_one_sink_compile_without_a_lint() {
    let (took, reports) = compile("large", 300);
    assert!(reports.is_empty(), "{reports:?}");
    // Printed for the record; the limit is generous, because other tests run beside this one.
    eprintln!("300 resources: {took:?}");
    assert!(took < Duration::from_secs(120), "{took:?}");
}

#[test]
fn a_resource_costs_less_than_twenty_milliseconds() {
    let (nothing, _) = compile("nothing", 0);
    let (took, reports) = compile("fifty", 50);
    assert!(reports.is_empty(), "{reports:?}");
    let each = took.saturating_sub(nothing) / 50;
    eprintln!("50 resources: {took:?}, of which {nothing:?} for none: {each:?} each");
    assert!(each < Duration::from_millis(20), "{each:?}");
}

/// Checks a sink of so many resources, and says how long it took.
fn compile(name: &str, resources: usize) -> (Duration, Vec<compiler::Report>) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.rs"));
    fs::write(&path, source(resources)).unwrap();
    // The library and its dependencies are compiled before the clock starts.
    compiler::check_with(&["generated"], Some(&path));
    fs::write(&path, source(resources) + "\n// again\n").unwrap();
    let started = Instant::now();
    let reports = compiler::check_with(&["generated"], Some(&path));
    (started.elapsed(), reports)
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
