//! The statements as text: quoted names, qualified types and operators, values only as parameters.

use super::super::sql::{Action, empty, sql};
use crate::fixture::{INT8, TEXT, column, keyless, pg_type, plain_table, table};
use crate::generation::{Conversion, CopyBinary, Table, Travel};
use crate::plan::ColumnSet;

fn orders() -> Table {
    plain_table(
        "public.Orders",
        &[
            ("Id", "int8", INT8),
            ("v\"q", "text", TEXT),
            ("w", "text", TEXT),
        ],
        &[0],
    )
}

fn set(columns: &[usize]) -> ColumnSet {
    let mut set = ColumnSet::default();
    for column in columns {
        set.insert(*column);
    }
    set
}

fn text(table: &Table, action: Action, columns: &[usize]) -> String {
    sql(table, action, &set(columns)).text
}

#[test]
fn text_travels_as_text_arrays_and_is_cast() {
    let table = orders();
    assert_eq!(
        text(&table, Action::Insert, &[0, 1]),
        "insert into \"public\".\"Orders\" (\"Id\", \"v\"\"q\") \
         select cast(u.c0 as \"pg_catalog\".\"int8\"), cast(u.c1 as \"pg_catalog\".\"text\") \
         from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (c0, c1)"
    );
    assert_eq!(
        text(&table, Action::Update, &[0, 2]),
        "update \"public\".\"Orders\" as t set \"w\" = cast(u.c1 as \"pg_catalog\".\"text\") \
         from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (c0, c1) \
         where t.\"Id\" OPERATOR(pg_catalog.=) cast(u.c0 as \"pg_catalog\".\"int8\")"
    );
    assert_eq!(
        text(&table, Action::Delete, &[]),
        "delete from \"public\".\"Orders\" as t using rows from (pg_catalog.unnest($1)) as u (c0) \
         where t.\"Id\" OPERATOR(pg_catalog.=) cast(u.c0 as \"pg_catalog\".\"int8\")"
    );
    assert_eq!(empty(&table), "delete from \"public\".\"Orders\"");
}

#[test]
fn an_upsert_sets_everything_but_the_key() {
    let table = orders();
    assert!(text(&table, Action::Upsert, &[0, 1, 2]).ends_with(
        " on conflict (\"Id\") do update set \"v\"\"q\" = excluded.\"v\"\"q\", \"w\" = excluded.\"w\""
    ));
    assert!(text(&table, Action::Upsert, &[0]).ends_with(" on conflict (\"Id\") do nothing"));
}

#[test]
fn a_move_finds_the_old_key_and_sets_the_new_one() {
    let sql = sql(&orders(), Action::Move, &set(&[0, 1]));
    assert_eq!(
        sql.text,
        "update \"public\".\"Orders\" as t set \"Id\" = cast(u.c1 as \"pg_catalog\".\"int8\"), \
         \"v\"\"q\" = cast(u.c2 as \"pg_catalog\".\"text\") \
         from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2), pg_catalog.unnest($3)) \
         as u (c0, c1, c2) \
         where t.\"Id\" OPERATOR(pg_catalog.=) cast(u.c0 as \"pg_catalog\".\"int8\")"
    );
    let columns: Vec<usize> = sql.parameters.iter().map(|p| p.column).collect();
    assert_eq!(columns, [0, 0, 1]);
}

#[test]
fn binary_travels_as_its_own_array_and_is_cast_only_to_widen() {
    let mut columns = vec![
        column("id", pg_type("pg_catalog", "int8", INT8)),
        column("n", pg_type("pg_catalog", "int4", 23)),
    ];
    columns[0].travel = Travel::Binary {
        element_oid: 23,
        array_oid: 1007,
        cast: Some(Conversion::Cast("pg_catalog.int8".to_owned())),
        copy: CopyBinary::NeedsCast,
    };
    columns[1].travel = Travel::Binary {
        element_oid: 23,
        array_oid: 1007,
        cast: None,
        copy: CopyBinary::Same,
    };
    columns[0].target_identity = true;
    let mut table = table("s.t", columns, &[0]);
    table.overriding_system_value = true;
    let sql = sql(&table, Action::Insert, &set(&[0, 1]));
    assert_eq!(
        sql.text,
        "insert into \"s\".\"t\" (\"id\", \"n\") overriding system value \
         select cast(u.c0 as pg_catalog.int8), u.c1 \
         from rows from (pg_catalog.unnest($1), pg_catalog.unnest($2)) as u (c0, c1)"
    );
    let types: Vec<(u32, u32)> = sql
        .parameters
        .iter()
        .map(|p| (p.element, p.array))
        .collect();
    assert_eq!(types, [(23, 1007), (23, 1007)]);
    assert_eq!(
        text(&table, Action::Copy, &[0, 1]),
        "copy \"s\".\"t\" (\"id\", \"n\") from stdin (format binary)"
    );
}

#[test]
fn a_row_without_a_key_is_found_by_its_image_once() {
    let table = keyless(plain_table("s.t", &[("a", "int8", INT8)], &[]));
    assert_eq!(
        text(&table, Action::Delete, &[]),
        "with one as materialized (select t.tableoid as part, t.ctid as place from \"s\".\"t\" as t \
         where cast(row(cast(t.\"a\" as \"pg_catalog\".\"int8\")) as pg_catalog.record) \
         OPERATOR(pg_catalog.*=) \
         cast(row(cast(cast(($1)[1] as \"pg_catalog\".\"int8\") as \"pg_catalog\".\"int8\")) as pg_catalog.record) \
         limit 1 for update) \
         delete from \"s\".\"t\" as t where t.ctid OPERATOR(pg_catalog.=) (select one.place from one) \
         and t.tableoid OPERATOR(pg_catalog.=) (select one.part from one)"
    );
}

#[test]
fn no_statement_mentions_an_unqualified_function_type_or_operator() {
    for action in [
        Action::Insert,
        Action::Upsert,
        Action::Update,
        Action::Move,
        Action::Delete,
        Action::Absent,
        Action::Stored,
    ] {
        let text = text(&orders(), action, &[0, 1, 2]);
        for unqualified in [" unnest(", "::", " as text", " as int8", "format('"] {
            let qualified = text.replace("pg_catalog.format('", "");
            assert!(!qualified.contains(unqualified), "{action:?}: {text}");
        }
    }
}
