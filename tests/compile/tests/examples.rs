//! The examples of the guide: they compile, they mean what they say, and the guide shows exactly these files.
#![allow(missing_docs, reason = "an example documents what it is about")]
#![allow(dead_code, unreachable_pub, reason = "an example is read by people")]

#[path = "examples/append_log.rs"]
mod append_log;
#[path = "examples/context_tenancy.rs"]
mod context_tenancy;
#[path = "examples/halts.rs"]
mod halts;
#[path = "examples/history.rs"]
mod history;
#[path = "examples/hooks.rs"]
mod hooks;
#[path = "examples/messages.rs"]
mod messages;
#[path = "examples/order_versions.rs"]
mod order_versions;
#[path = "examples/provenance.rs"]
mod provenance;
#[path = "examples/sealing.rs"]
mod sealing;
#[path = "examples/shop.rs"]
mod shop;
#[path = "examples/tenant_schemas.rs"]
mod tenant_schemas;
#[path = "examples/tenants.rs"]
mod tenants_of_rows;

// As in a program of its own, where the functions are at the root.
use context_tenancy::tenants;
use tenant_schemas::regions;

use std::fs;
use std::path::Path;

use replicant_sink::contract::resource::{Shape, Tenancy};
use replicant_sink::contract::rules;
use replicant_sink::prelude::*;

#[test]
fn the_guide_shows_exactly_these_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = [
        "guide/declarations.md",
        "guide/history.md",
        "guide/append-log.md",
        "guide/hooks.md",
        "guide/tenancy.md",
        "guide/sealing.md",
        "operating/halts.md",
    ];
    let guide: String = pages
        .iter()
        .map(|page| fs::read_to_string(root.join("../../docs/src").join(page)).unwrap())
        .collect();
    let blocks: Vec<String> = guide
        .split("```rust\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"))
        .map(|(block, _)| without_hidden_lines(block))
        .collect();
    let mut files: Vec<_> = fs::read_dir(root.join("tests/examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    assert!(files.len() > 5);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let shown = blocks
            .iter()
            .any(|block| block.trim() == without_header(&text));
        assert!(shown, "the guide does not show {}", file.display());
    }
}

/// The doc comment of the file is prose, which the guide has instead.
fn without_header(text: &str) -> &str {
    text.split_once("\n\n")
        .map_or(text, |(_, rest)| rest)
        .trim()
}

fn without_hidden_lines(block: &str) -> String {
    let shown = block.lines().filter(|line| !line.starts_with("# "));
    shown.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn every_example_is_legal_by_the_rules_admission_runs() {
    for sink in [
        shop::ShopSink::SPEC,
        history::HistorySink::SPEC,
        order_versions::VersionsSink::SPEC,
        append_log::EventsSink::SPEC,
        tenants_of_rows::BillingSink::SPEC,
        tenant_schemas::PaymentsSink::SPEC,
        sealing::CardSink::SPEC,
        messages::MailSink::SPEC,
        hooks::PaymentsSink::SPEC,
    ] {
        assert_eq!(rules::sink(&sink), [], "{}", sink.rust_name);
    }
    for resource in [provenance::Order::SPEC, context_tenancy::Invoice::SPEC] {
        assert_eq!(rules::resource(&resource), [], "{}", resource.rust_name);
    }
}

/// What a release cannot do yet compiles, and does not start.
#[tokio::test]
async fn an_example_of_what_this_release_lacks_is_refused_by_name() {
    assert_eq!(
        refused_option::<messages::MailSink>().await,
        Some("message")
    );
}

/// The option a sink is refused for before any database is asked.
async fn refused_option<S: SinkDeclaration>() -> Option<&'static str> {
    let refused = Pipeline::of::<S>()
        .source("host=/nowhere dbname=a user=a")
        .destination("host=/nowhere dbname=b user=b")
        .publication("p")
        .source_identity("1/a")
        .go_forward()
        .start()
        .await
        .err()?;
    assert_eq!(refused.code(), "option_not_available");
    refused.site().option
}

#[test]
fn a_sealed_column_is_stored_under_a_name_that_says_so() {
    let order = shop::Order::SPEC;
    assert_eq!(order.key_fields(), ["id"]);
    assert_eq!(
        order.column("pan").map(|column| column.target),
        Some("encrypted_pan")
    );
}

#[test]
fn the_shape_and_the_tenancy_are_in_the_specification() {
    assert!(matches!(
        history::OrderVersion::SPEC.shape,
        Shape::History(_)
    ));
    assert!(matches!(
        append_log::OrderEvent::SPEC.shape,
        Shape::AppendLog(_)
    ));
    assert!(matches!(messages::MailOutbox::SPEC.shape, Shape::Auxiliary));
    assert!(matches!(
        context_tenancy::Invoice::SPEC.tenancy,
        Tenancy::Tenanted { .. }
    ));
    assert!(provenance::Order::SPEC.provenance.is_some());
}

#[test]
fn functions_stand_beside_the_specification() {
    assert_eq!(tenants::all().map(|all| all.len()), Ok(2));
    assert!(context_tenancy::Invoice::CODE.tenant.is_some());
    let payment = tenant_schemas::Payment::CODE.tenant.unwrap();
    let row = RowView::new(&["org"], &[]);
    assert_eq!(payment(&row, &["eu"]), regions::of(&row, &["eu"]));
    assert!(context_tenancy::Invoice::CODE.scopes.is_some());
    let [create] = hooks::Payment::CODE.actions else {
        panic!("one action has hooks");
    };
    assert_eq!(
        (
            create.action,
            create.changes.len(),
            create.validations.len()
        ),
        ("create", 2, 1)
    );
    let names: Vec<&str> = create
        .changes
        .iter()
        .map(|change| (change.name)())
        .collect();
    assert!(
        names.iter().all(|name| name.contains("hooks::")),
        "{names:?}"
    );
    assert_eq!(
        hooks::Receipt::ACTIONS.record.resource,
        hooks::Receipt::PATH
    );
}
