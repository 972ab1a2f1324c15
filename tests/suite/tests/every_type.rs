//! Does every value of every type arrive byte for byte, in both forms of the stream, whatever the roles have set?

use futures_util::TryStreamExt;
use replicant_sink::pipeline::Handle;
use replicant_tests::World;
use replicant_tests::compare::rows;
use replicant_tests::values::{self, Form, Hard};
use tokio_postgres::Client;

/// What `ALTER ROLE ... SET` can do to values on their way out and in again.
const HOSTILE: &[(&str, &str)] = &[
    ("DateStyle", "'SQL, DMY'"),
    ("IntervalStyle", "sql_standard"),
    ("TimeZone", "'Asia/Kolkata'"),
    ("extra_float_digits", "-15"),
    ("bytea_output", "escape"),
    ("xmlbinary", "hex"),
    ("xmloption", "document"),
    ("array_nulls", "off"),
    ("standard_conforming_strings", "off"),
    ("backslash_quote", "off"),
    ("quote_all_identifiers", "on"),
    ("client_encoding", "LATIN1"),
    ("search_path", "other, public"),
    ("transform_null_equals", "on"),
    ("default_transaction_isolation", "serializable"),
    ("statement_timeout", "'20s'"),
];

/// What a German server has set: other dates, and another comma where the machine knows the locale.
const GERMAN: &[(&str, &str)] = &[
    ("DateStyle", "'German, DMY'"),
    ("IntervalStyle", "iso_8601"),
    ("TimeZone", "'Europe/Berlin'"),
    ("extra_float_digits", "0"),
    ("lc_messages", LOCALE),
    ("lc_monetary", LOCALE),
    ("lc_numeric", LOCALE),
    ("lc_time", LOCALE),
];

/// Stands for the first locale of [`GERMAN_LOCALES`] that the server knows.
const LOCALE: &str = "a German locale";

/// A bare machine has only the last one.
const GERMAN_LOCALES: [&str; 3] = ["'de_DE.UTF-8'", "'de_DE.utf8'", "'C.UTF-8'"];

async fn locale_of(client: &Client) -> &'static str {
    for locale in GERMAN_LOCALES {
        let sql = format!("set lc_monetary = {locale}; reset lc_monetary");
        if client.batch_execute(&sql).await.is_ok() {
            return locale;
        }
    }
    panic!("the server knows not even C.UTF-8");
}

async fn set_for_the_role(world: &World, settings: &[(&str, &str)]) {
    for (client, database) in [
        (&world.source, &world.source_database),
        (&world.destination, &world.destination_database),
    ] {
        let locale = locale_of(client).await;
        for (name, value) in settings {
            let value = if *value == LOCALE { locale } else { value };
            let sql =
                format!("alter role current_user in database {database} set {name} = {value}");
            client.batch_execute(&sql).await.unwrap();
        }
    }
}

/// A statement about the table of a type.
type Made = fn(&str, &Hard) -> String;

/// A table per type on both sides, running.
struct Matrix {
    world: World,
    types: Vec<Hard>,
    tables: Vec<String>,
    handle: Option<Handle>,
}

impl Matrix {
    /// A table per type made by `table`, on both sides; types for which it says nothing are left out.
    async fn start(
        settings: &[(&str, &str)],
        form: Form,
        table: impl Fn(&str, &Hard) -> String,
    ) -> Self {
        let world = World::same("").await;
        values::create_types(&world.source).await;
        values::create_types(&world.destination).await;
        let (mut types, mut tables) = (Vec::new(), Vec::new());
        for one in values::known(&world.source).await {
            let name = format!("t{}", types.len());
            let admitted = form == Form::Text || one.form == Form::Binary;
            if admitted && made(&world, &table(&name, &one)).await {
                types.push(one);
                tables.push(name);
            }
        }
        set_for_the_role(&world, settings).await;
        let names: Vec<&str> = tables.iter().map(String::as_str).collect();
        let handle = world.mirror(&names).await;
        // Before 14 a server sends text only.
        let expected = if world.major() < 14 { Form::Text } else { form };
        assert_eq!(form_of(&world).await, expected);
        Self {
            world,
            types,
            tables,
            handle: Some(handle),
        }
    }

    /// One source transaction over all tables.
    async fn run(&self, statement: impl Fn(&str, &Hard) -> String) {
        let each = self.tables.iter().zip(&self.types);
        let statements: Vec<_> = each.map(|(table, one)| statement(table, one)).collect();
        self.world.run(&statements.join(";\n")).await;
    }

    /// Both sides agree as text and, where no object id of one database is inside, as bytes.
    async fn agree(&mut self, stage: &str) {
        let mut stopped = self.handle.as_ref().unwrap().status_changes();
        tokio::select! {
            () = self.world.caught_up() => {}
            () = async { while stopped.changed().await.is_ok() {} } => {
                let outcome = self.handle.take().unwrap().join().await;
                panic!("stopped after {stage}: {outcome:?}, {:?}", self.name_of(&outcome));
            }
        }
        let (source, destination) = (&self.world.source, &self.world.destination);
        for (table, one) in self.tables.iter().zip(&self.types) {
            assert_eq!(
                rows(destination, table).await,
                rows(source, table).await,
                "{} after {stage}",
                one.name
            );
            assert_eq!(
                bytes(destination, table).await,
                bytes(source, table).await,
                "{} in binary after {stage}",
                one.name
            );
        }
    }

    /// The type whose table an error names.
    fn name_of(&self, outcome: &Result<(), replicant_sink::Error>) -> Option<&str> {
        let table = outcome.as_ref().err()?.site().table?;
        let named = self
            .tables
            .iter()
            .position(|name| name == table.name.as_str())?;
        Some(self.types[named].name)
    }

    async fn stop(self) {
        self.handle.unwrap().stop().await.unwrap();
    }
}

/// Creates a table on both sides, unless the type cannot be used so (no equality for a key).
async fn made(world: &World, ddl: &str) -> bool {
    let Err(refused) = world.source.batch_execute(ddl).await else {
        world.destination.batch_execute(ddl).await.unwrap();
        return true;
    };
    assert_eq!(
        refused.code().unwrap().code(),
        "42704",
        "{ddl}: {refused:?}"
    );
    false
}

/// The form the running stream was asked for.
async fn form_of(world: &World) -> Form {
    let query = "select bool_or(query ~ 'binary ''?(on|true|1)') from pg_stat_activity \
                 where datname = $1 and backend_type = 'walsender' and query like 'START%'";
    let binary: Option<bool> = world
        .source
        .query_one(query, &[&world.source_database])
        .await
        .unwrap()
        .get(0);
    if binary.expect("a walsender streams") {
        Form::Binary
    } else {
        Form::Text
    }
}

/// The table's columns in binary, those left out whose binary form names types of one database by number.
async fn bytes(client: &Client, table: &str) -> Vec<u8> {
    let comparable: String = client
        .query_one(
            "select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute \
             join pg_type t on t.oid = atttypid left join pg_type e on e.oid = t.typelem \
             left join pg_type b on b.oid = t.typbasetype \
             where attrelid = to_regclass($1) and attnum > 0 and t.typtype <> 'c' and t.typsend <> 0 \
             and coalesce(e.oid, 0) < 16384 and (e.oid is null or e.typsend <> 0)",
            &[&table],
        )
        .await
        .unwrap()
        .get(0);
    let sql = format!(
        "copy (select {comparable} from {table} order by n, {table}::text) to stdout (format binary)"
    );
    let mut stream = std::pin::pin!(client.copy_out(&sql).await.unwrap());
    let mut all = Vec::new();
    while let Some(piece) = stream.try_next().await.unwrap() {
        all.extend_from_slice(&piece);
    }
    all
}

/// The element of the array beside a value. Arrays of what is an array itself cannot be written as constructors.
fn element(one: &Hard) -> &'static str {
    match one.name {
        "numbers" | "int2vector" | "oidvector" => "text",
        name => name,
    }
}

fn with_an_array(name: &str, one: &Hard) -> String {
    format!(
        "create table {name} (id int primary key, v {}, a {}[], n int)",
        one.name,
        element(one)
    )
}

fn plain(name: &str, one: &Hard) -> String {
    format!(
        "create table {name} (id int primary key, v {}, n int)",
        one.name
    )
}

/// Every value, a NULL among them, and beside each an array built of the values in another shape.
fn insert_with_arrays(table: &str, one: &Hard) -> String {
    let values = one.expressions();
    let ty = element(one);
    let elements: Vec<_> = values
        .iter()
        .map(|value| format!("{value}::{ty}"))
        .collect();
    let all = elements.join(", ");
    let (first, last) = (&elements[0], &elements[elements.len() - 1]);
    let shapes = [
        format!("array[{all}, null]::{ty}[]"),
        format!("array[array[{first}, null], array[{last}, {first}]]::{ty}[]"),
        format!("array_fill({last}, array[2], array[-3])::{ty}[]"),
        format!("'{{}}'::{ty}[]"),
        format!("array_fill({first}, array[1, 2, 1], array[2, -1, 7])::{ty}[]"),
        "null".to_owned(),
    ];
    let count = values.len().max(shapes.len());
    let rows: Vec<_> = (0..count)
        .map(|row| {
            let value = values.get(row).map_or("null", String::as_str);
            format!("({}, {value}, {}, 0)", row + 1, shapes[row % shapes.len()])
        })
        .collect();
    format!("insert into {table} values {}", rows.join(", "))
}

fn insert(table: &str, one: &Hard) -> String {
    let mut values = one.expressions();
    values.push("null".to_owned());
    let rows: Vec<_> = values
        .iter()
        .enumerate()
        .map(|(row, value)| format!("({}, {value}, 0)", row + 1))
        .collect();
    format!("insert into {table} values {}", rows.join(", "))
}

fn update_another_column(table: &str, _: &Hard) -> String {
    format!("update {table} set n = n + id")
}

fn delete_half(table: &str, _: &Hard) -> String {
    format!("delete from {table} where id % 2 = 0")
}

/// Every row takes the next row's values.
fn rotate(columns: &[&str], table: &str) -> String {
    let set: Vec<_> = columns
        .iter()
        .map(|name| format!("{name} = y.{name}"))
        .collect();
    format!(
        "update {table} x set {} from {table} y where y.id = x.id % (select count(*) from {table}) + 1",
        set.join(", ")
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn every_value_and_array_arrives_as_text_whatever_the_roles_have_set() {
    let mut matrix = Matrix::start(HOSTILE, Form::Text, with_an_array).await;
    assert!(
        matrix.types.len() >= 70,
        "only {} types",
        matrix.types.len()
    );
    matrix.run(insert_with_arrays).await;
    matrix.agree("insert").await;
    matrix.run(|table, _| rotate(&["v", "a"], table)).await;
    matrix.agree("update").await;
    matrix.run(update_another_column).await;
    matrix.run(delete_half).await;
    matrix.agree("an update of another column and delete").await;
    matrix.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_value_and_array_arrives_between_german_servers() {
    for (form, table, insert) in [
        (
            Form::Text,
            with_an_array as Made,
            insert_with_arrays as Made,
        ),
        (Form::Binary, plain, insert),
    ] {
        let mut matrix = Matrix::start(GERMAN, form, table).await;
        let shown = matrix.world.cluster.connect(&matrix.world.source_database);
        let style = shown.await.unwrap().query_one("show DateStyle", &[]).await;
        assert_eq!(style.unwrap().get::<_, &str>(0), "German, DMY");
        matrix.run(insert).await;
        matrix.agree("insert").await;
        matrix.run(|table, _| rotate(&["v"], table)).await;
        matrix.agree("update").await;
        matrix.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_value_arrives_in_binary_whatever_the_roles_have_set() {
    let mut matrix = Matrix::start(HOSTILE, Form::Binary, plain).await;
    assert!(
        matrix.types.len() >= 45,
        "only {} types",
        matrix.types.len()
    );
    matrix.run(insert).await;
    matrix.agree("insert").await;
    matrix.run(|table, _| rotate(&["v"], table)).await;
    matrix.agree("update").await;
    matrix.run(update_another_column).await;
    matrix.run(delete_half).await;
    matrix.agree("an update of another column and delete").await;
    matrix.stop().await;
}

async fn as_keys(form: Form) {
    let mut matrix = Matrix::start(&[], form, |name, one| {
        format!("create table {name} (v {} primary key, n int)", one.name)
    })
    .await;
    assert!(
        matrix.types.len() >= 35,
        "only {} types",
        matrix.types.len()
    );
    matrix
        .run(|table, one| {
            let rows: Vec<_> = one
                .expressions()
                .iter()
                .map(|v| format!("({v}, 0)"))
                .collect();
            format!(
                "insert into {table} values {} on conflict do nothing",
                rows.join(", ")
            )
        })
        .await;
    matrix.agree("insert").await;
    matrix
        .run(|table, _| format!("update {table} set n = n + 1"))
        .await;
    matrix.agree("an update of another column").await;
    matrix
        .run(|table, one| {
            // The last key becomes what the first was. An enum under a domain has no equality to ask with.
            let values = one.expressions();
            let (first, last) = (&values[0], &values[values.len() - 1]);
            let is = |value: &str| format!("format('%s', v) = format('%s', {value})");
            format!(
                "delete from {table} where {}; update {table} set v = {first} where {}",
                is(first),
                is(last)
            )
        })
        .await;
    matrix.agree("an update of the key").await;
    matrix.run(|table, _| format!("delete from {table}")).await;
    matrix.agree("delete").await;
    matrix.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_with_an_equality_can_be_the_key_as_text() {
    as_keys(Form::Text).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_with_an_equality_can_be_the_key_in_binary() {
    as_keys(Form::Binary).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_changes_to_an_equal_value_changes_its_bytes() {
    let cases = [
        ("numeric", "1.0", "1.00"),
        ("double precision", "0", "-0"),
        ("char(3)", "a", "a"),
        ("interval", "1 day", "24:00:00"),
        ("jsonb", "1.0", "1.00"),
        ("citext", "abc", "ABC"),
        ("timetz", "12:00:00+00", "12:00:00+00"),
    ];
    let ddl: Vec<_> = cases
        .iter()
        .enumerate()
        .map(|(index, (ty, ..))| format!("create table t{index} (v {ty} primary key, n int)"))
        .collect();
    let world = World::same(&format!("create extension citext; {}", ddl.join("; "))).await;
    let names: Vec<_> = (0..cases.len()).map(|index| format!("t{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let handle = world.mirror(&names).await;
    for (index, (_, from, to)) in cases.iter().enumerate() {
        world
            .run(&format!("insert into t{index} values ('{from}', 1)"))
            .await;
        world
            .run(&format!(
                "update t{index} set v = '{to}' where v = '{from}'"
            ))
            .await;
        // Gone and back under another spelling, in one transaction.
        world
            .run(&format!(
                "begin; delete from t{index}; insert into t{index} values ('{from}', 2); \
                 delete from t{index}; insert into t{index} values ('{to}', 3); commit"
            ))
            .await;
    }
    replicant_tests::compare::assert_equal(&world, &names).await;
    handle.stop().await.unwrap();
}
