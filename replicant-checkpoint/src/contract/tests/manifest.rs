//! The order of anything in a declaration does not change its manifest, and Rust names do not occur in it.

use proptest::prelude::*;

use super::super::manifest::Manifest;
use super::super::resource::{ColumnSpec, ResourceSpec, Storage, TableName};
use super::{ITEMS, ORDERS, column, shop, sink, table};

#[test]
fn a_manifest_names_destination_columns_and_no_rust_name() {
    let manifest = Manifest::new(&shop(), &["pub_b", "pub_a", "pub_b"]);
    let text = format!("{manifest:?}");
    for rust in ["ShopSink", "Order\"", "Item\"", "by_note"] {
        assert!(!text.contains(rust), "{text}");
    }
    assert!(
        text.contains("publications: [\"pub_a\", \"pub_b\"]"),
        "{text}"
    );
    assert_eq!(
        manifest.relations.first().unwrap().source.to_string(),
        "public.items"
    );
    assert_eq!(manifest.relations.first().unwrap().key, ["id"]);
}

fn leak<T>(items: Vec<T>) -> &'static [T] {
    Vec::leak(items)
}

proptest! {
    #[test]
    fn declaration_order_does_not_matter(
        columns in Just(vec![
            column("id", Storage::Int8), column("note", Storage::Text), column("amount", Storage::Numeric),
        ]).prop_shuffle(),
        skips in Just(vec!["a", "b", "c"]).prop_shuffle(),
        keys in Just(vec!["id", "note"]).prop_shuffle(),
        ignored in Just(vec![table("audit"), table("sessions"), table("z")]).prop_shuffle(),
        publications in Just(vec!["p", "q", "r"]).prop_shuffle(),
        swapped in any::<bool>(),
        one_domain in any::<bool>(),
    ) {
        let build = |columns: Vec<ColumnSpec>, skips, keys, ignored: Vec<TableName>, publications: &[&str], swapped, one_domain| {
            let orders: &'static ResourceSpec = Box::leak(Box::new(ResourceSpec {
                columns: leak(columns), skips: leak(skips), primary_key: leak(keys), ..ORDERS
            }));
            let pair = if swapped { [&ITEMS, orders] } else { [orders, &ITEMS] };
            let domains = if one_domain {
                vec![leak(pair.to_vec())]
            } else {
                pair.iter().map(|one| leak(vec![*one])).collect()
            };
            let spec = super::SinkSpec { ignored_sources: leak(ignored), ..sink(leak(domains)) };
            Manifest::new(&spec, publications).encode()
        };
        let straight = build(
            vec![column("id", Storage::Int8), column("note", Storage::Text), column("amount", Storage::Numeric)],
            vec!["a", "b", "c"], vec!["id", "note"], vec![table("audit"), table("sessions"), table("z")],
            &["p", "q", "r"], false, false,
        );
        prop_assert_eq!(build(columns, skips, keys, ignored, &publications, swapped, one_domain), straight);
    }
}
