//! A sink of 300 resources with 40 columns each compiles, and no lint about long evaluation fires.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

#[test]
fn three_hundred_resources_of_forty_columns_compile() {
    let mut source =
        String::from("#![deny(warnings)]\n#![allow(dead_code)]\nuse replicant_sink::prelude::*;\n");
    for table in 0..300 {
        let head = format!(
            "table = \"some_rather_long_table_name_{table}\", actions(read, destroy, create(accept = all))"
        );
        writeln!(
            source,
            "#[replicant({head})] struct T{table} {{ #[replicant(primary_key)] id: i64,"
        )
        .unwrap();
        for column in 1..40 {
            writeln!(source, "column_{column}: Option<String>,").unwrap();
        }
        source.push_str("}\n");
    }
    let resources: Vec<String> = (0..300).map(|table| format!("T{table}")).collect();
    writeln!(
        source,
        "#[replicant_domain(resources({}))] struct Large;",
        resources.join(", ")
    )
    .unwrap();
    source.push_str(
        "#[replicant_checkpoint(schema = \"replicant\")] struct LargeCheckpoint;
         #[replicant_sink(slot_name = \"large\", domains(Large), checkpoint = LargeCheckpoint)] struct LargeSink;
         fn main() { assert_eq!(<LargeSink as SinkDeclaration>::SPEC.resources().count(), 300); }",
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("large_sink.rs");
    fs::write(&path, source).unwrap();
    trybuild::TestCases::new().pass(path);
}
