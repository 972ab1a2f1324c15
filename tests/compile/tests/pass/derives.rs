//! Other derives keep working: they see the struct as it was written, without our attributes.
#![deny(warnings)]

use replicant_sink::prelude::*;
use serde::{Deserialize, Serialize};

#[replicant(table = "orders", skip(blob), actions(read, destroy, create(accept = all)))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    /// The key.
    #[replicant(primary_key)]
    #[serde(rename = "number")]
    id: i64,
    #[serde(default)]
    #[replicant(source = "remark", lossy)]
    note: Option<String>,
}

/// The attribute may also come after the derives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[replicant(table = "points", actions(read, destroy, create(accept = all)))]
struct Point {
    #[replicant(primary_key)]
    x: i32,
    y: i32,
}

#[test]
fn derives_see_the_struct_as_it_was_written() {
    let order: Order = serde_json::from_str(r#"{"number": 7}"#).unwrap();
    assert_eq!(order, Order { id: 7, note: None }.clone());
    assert_eq!(
        serde_json::to_string(&order).unwrap(),
        r#"{"number":7,"note":null}"#
    );
    assert!(Point { x: 1, y: 2 } > Point::default());
    assert_eq!(Order::SPEC.column("note").unwrap().target, "note");
}
