//! What the compiler judges about a sink is judged the same at run time.

use super::super::relations::{self, Index, count};
use super::super::resource::{ResourceSpec, TableName};
use super::super::rules::{Part, Rule, Violation};
use super::super::sink::SinkSpec;
use super::{ITEMS, ORDERS, resource, shop, sink, table};

fn found(spec: &SinkSpec) -> Vec<(Rule, Part)> {
    relations::check(spec)
        .iter()
        .map(|one| (one.rule, Violation::part(one)))
        .collect()
}

static COPY: ResourceSpec = resource("Copy", "orders", "orders_copy");
static MERGED: ResourceSpec = resource("Merged", "other", "orders");
static SAME: ResourceSpec = resource("Other", "orders", "orders");
static BROKEN: ResourceSpec = ResourceSpec {
    broken: true,
    ..SAME
};
static INSIDE: ResourceSpec = ResourceSpec {
    target: TableName {
        schema: "replicant",
        table: "x",
    },
    ..ORDERS
};

#[test]
fn two_resources_share_neither_source_nor_target() {
    assert_eq!(found(&shop()), []);
    assert_eq!(
        found(&sink(const { &[&[&ORDERS, &ITEMS], &[&ORDERS]] })),
        [(Rule::DuplicateResource, Part::Domain(1))]
    );
    assert_eq!(
        found(&sink(const { &[&[&ORDERS, &COPY]] })),
        [(Rule::DuplicateSource, Part::Domain(0))]
    );
    assert_eq!(
        found(&sink(const { &[&[&ORDERS], &[&MERGED]] })),
        [(Rule::DuplicateTarget, Part::Domain(1))]
    );
    assert_eq!(
        found(&sink(const { &[&[&ORDERS, &SAME]] })),
        [(Rule::DuplicateSource, Part::Domain(0))]
    );
    assert_eq!(found(&sink(const { &[&[&ORDERS, &BROKEN]] })), []);
}

#[test]
fn ignored_tables_are_not_mapped_and_the_checkpoint_has_its_schema_alone() {
    let ignoring = |spec| SinkSpec {
        ignored_sources: const { &[table("a"), table("orders")] },
        ..spec
    };
    assert_eq!(
        found(&ignoring(sink(const { &[&[&ORDERS]] }))),
        [(Rule::IgnoredSourceMapped, Part::IgnoredSource(1))]
    );
    assert_eq!(found(&ignoring(sink(const { &[&[&BROKEN]] }))), []);
    assert_eq!(
        found(&sink(const { &[&[&INSIDE]] })),
        [(Rule::TargetInCheckpointSchema, Part::Domain(0))]
    );
}

#[test]
fn the_compilers_message_names_both_sides() {
    let spec = sink(const { &[&[&ORDERS, &COPY]] });
    assert_eq!(count(&spec), 2);
    let refused = std::panic::catch_unwind(|| {
        let index = Index::<2>::new(&spec);
        relations::refuse(&spec, &index, Rule::DuplicateSource, Part::Domain(0));
    });
    let message = refused.unwrap_err();
    let message = message.downcast_ref::<String>().unwrap();
    assert_eq!(
        message,
        "replicant[duplicate_source]: `public.orders` is the source of `Order` and of `Copy`\n\
         help: one sink maps a source table once; declare a second sink with its own slot"
    );
}
