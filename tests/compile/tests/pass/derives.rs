//! Other derives keep working: they see the struct as it was written, without our attributes.
#![deny(warnings)]

use std::sync::Arc;

use replicant_sink::prelude::*;
use serde::{Deserialize, Serialize};
use sqlx::any::{AnyArguments, AnyRow, AnyValue};
use sqlx::{Arguments, FromRow};

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

/// The host reads what was mirrored: by the names of the destination.
#[replicant(
    source_table = "clients", table = "customers", skip(blob),
    actions(read, destroy, create(accept = all)),
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, FromRow)]
struct Customer {
    #[replicant(primary_key)]
    id: i64,
    #[replicant(source = "e_mail", column = "mail")]
    #[sqlx(rename = "mail")]
    #[serde(rename = "mail")]
    email: Option<String>,
    picture: Vec<u8>,
    #[replicant(column = "type")]
    #[sqlx(rename = "type")]
    r#type: String,
}

#[test]
fn a_declared_struct_is_read_by_sqlx_and_written_by_serde() {
    let columns = ["id", "mail", "picture", "type"];
    let mut values = AnyArguments::default();
    values.add(7_i64).unwrap();
    values.add("a@b").unwrap();
    values.add(vec![1_u8]).unwrap();
    values.add("person").unwrap();
    let row = AnyRow {
        column_names: Arc::new(columns.into_iter().map(Into::into).zip(0..).collect()),
        columns: Vec::new(),
        values: values
            .values
            .0
            .into_iter()
            .map(|kind| AnyValue { kind })
            .collect(),
    };
    let customer = Customer::from_row(&row).unwrap().clone();
    assert_eq!(
        serde_json::to_string(&customer).unwrap(),
        r#"{"id":7,"mail":"a@b","picture":[1],"type":"person"}"#
    );
    let targets = Customer::SPEC.columns.iter().map(|column| column.target);
    assert_eq!(targets.collect::<Vec<_>>(), columns);
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
