//! Every refusal names its cause, and the statement it shows repairs it.

use replicant_checkpoint::contract::resource::{ColumnSpec, Fidelity, Origin, Storage, TableName};
use replicant_checkpoint::contract::sink::SinkSpec;
use tokio_postgres::Client;

use super::super::DestinationConstraints::{Deferred, Trusted};
use super::super::{DestinationConstraints, Refused, Request, Values, admit};
use super::cluster::Cluster;
use super::declared::{any, column, found_by, resource, sink};
use super::source::{self, ident};
use crate::generation::Generation;

async fn ask(
    client: &Client,
    spec: &SinkSpec,
    constraints: DestinationConstraints,
) -> Result<Generation, Refused> {
    let session = source::session(client).await;
    admit(
        &Request {
            spec,
            constraints,
            values: Values::Fastest,
            code: &[],
        },
        &session,
        client,
    )
    .await
}

pub(super) async fn database(setup: &str) -> (std::sync::Arc<Cluster>, Client) {
    let cluster = Cluster::shared();
    let client = cluster.database().await;
    client.batch_execute(setup).await.unwrap();
    (cluster, client)
}

pub(super) fn codes(refused: &Refused) -> Vec<&'static str> {
    refused.iter().map(|error| error.code()).collect()
}

/// The statement inside a fact, after the words that introduce it.
fn statement(fact: &str) -> &str {
    let starts = ["alter ", "create ", "grant ", "drop rule "];
    let at = starts.iter().filter_map(|start| fact.find(start)).min();
    &fact[at.unwrap_or_else(|| panic!("no statement in {fact:?}"))..]
}

/// Expects these codes, runs what is shown, and expects admission.
async fn repaired(
    client: &Client,
    setup: &str,
    spec: &SinkSpec,
    constraints: DestinationConstraints,
    expected: &[&str],
) {
    Cluster::reset(client).await;
    client.batch_execute(setup).await.unwrap();
    let refused = ask(client, spec, constraints).await.unwrap_err();
    assert_eq!(codes(&refused), expected, "{setup}: {refused}");
    for error in refused.iter() {
        let fact = error.site().fact.clone().unwrap_or_default();
        let run = statement(&fact);
        if let Err(error) = client.batch_execute(run).await {
            panic!("{run}: {error:?}");
        }
    }
    if let Err(refused) = ask(client, spec, constraints).await {
        panic!("{setup}: not repaired: {refused}");
    }
}

pub(super) const SOURCE: &str = "create schema mirror; create schema other;
    create table public.t (id int primary key, v varchar(20));";

pub(super) fn plain() -> SinkSpec {
    sink(&[resource("t", &[any("id"), any("v")], &["id"])])
}

#[tokio::test]
async fn what_the_destination_lacks_is_shown_as_a_statement_that_adds_it() {
    let (_cluster, client) = database("").await;
    let cases: &[(&str, DestinationConstraints, &[&str])] = &[
        ("", Deferred, &["destination_table_missing"]),
        (
            "create table mirror.t (id int primary key);",
            Deferred,
            &["destination_column_missing"],
        ),
        (
            "create table mirror.t (id int, v text);",
            Deferred,
            &["destination_unique_missing"],
        ),
        (
            "create table mirror.t (id int, v text); create unique index on mirror.t (id) where id > 0;
             create unique index on mirror.t ((id + 1)); create unique index on mirror.t (id, v);
             alter table mirror.t add unique (id) deferrable;",
            Deferred,
            &["destination_unique_missing"],
        ),
        (
            "create table mirror.t (id int primary key, v text not null, extra int not null);",
            Deferred,
            &["destination_nullability", "destination_column_unfilled"],
        ),
        (
            "create table mirror.t (id int primary key, v varchar(10));",
            Deferred,
            &["type_pair_lossy"],
        ),
        (
            "create table mirror.t (id int primary key, v text generated always as ('x') stored);",
            Deferred,
            &["destination_generated_column"],
        ),
        (
            "alter table public.t drop column v, add column v int;
             create table mirror.t (id int primary key, v int generated always as identity);
             alter table public.t alter column v set not null;",
            Deferred,
            &["destination_generated_column"],
        ),
    ];
    for (setup, constraints, expected) in cases {
        repaired(
            &client,
            &format!("{SOURCE}{setup}"),
            &plain(),
            *constraints,
            expected,
        )
        .await;
    }
}

#[tokio::test]
async fn whatever_would_change_veto_or_hide_rows_is_shown_as_a_statement_that_removes_it() {
    let (_cluster, client) = database("").await;
    let t = "create table mirror.t (id int primary key, v text);
        create function other.f() returns trigger language plpgsql as 'begin return null; end';";
    let cases: &[(&str, DestinationConstraints, &[&str])] = &[
        (
            "create trigger \"T r\" before insert on mirror.t for each row execute function other.f();",
            Deferred,
            &["destination_trigger"],
        ),
        (
            "create trigger a after insert on mirror.t for each row execute function other.f();
             create trigger b after insert on mirror.t execute function other.f();
             alter table mirror.t enable always trigger b;",
            Trusted,
            &["destination_trust_refused", "destination_trigger"],
        ),
        (
            "create rule r as on delete to mirror.t do instead nothing;",
            Deferred,
            &["destination_rule"],
        ),
        (
            "create table other.child (t int references mirror.t on delete cascade);",
            Deferred,
            &["destination_foreign_key"],
        ),
        (
            "create table other.child (t int references mirror.t);",
            Deferred,
            &["destination_foreign_key"],
        ),
        (
            "create table other.child (t int references mirror.t deferrable);",
            Trusted,
            &["destination_trust_refused"],
        ),
        (
            "create table other.parent (v text primary key);
             alter table mirror.t add foreign key (v) references other.parent match full on update restrict deferrable;",
            Deferred,
            &["destination_foreign_key"],
        ),
        (
            "alter table mirror.t add unique (v) deferrable;",
            Trusted,
            &["destination_trust_refused"],
        ),
    ];
    for (setup, constraints, expected) in cases {
        let setup = format!("{SOURCE}{t}{setup}");
        repaired(&client, &setup, &plain(), *constraints, expected).await;
    }
}

#[tokio::test]
async fn what_hangs_on_a_partition_is_found_too() {
    let (_cluster, client) = database("").await;
    let setup = format!(
        "{SOURCE}
        create table mirror.t (id int primary key, v text) partition by range (id);
        create table mirror.t1 partition of mirror.t default;
        create table other.parent (v text primary key);
        alter table mirror.t1 add foreign key (v) references other.parent;
        create function other.f() returns trigger language plpgsql as 'begin return null; end';
        create trigger own after insert on mirror.t1 for each row execute function other.f();
        create trigger cloned after insert on mirror.t for each row execute function other.f();"
    );
    let expected = [
        "destination_foreign_key",
        "destination_trigger",
        "destination_trigger",
    ];
    repaired(&client, &setup, &plain(), Deferred, &expected).await;
}

#[tokio::test]
async fn what_the_source_lacks_is_shown_as_a_statement_that_adds_it() {
    let (_cluster, client) = database("").await;
    let destination = "create table mirror.t (id int primary key, v text);";
    for (setup, expected) in [
        (
            "create table public.t (id int primary key, v text);
             alter table public.t replica identity nothing;",
            "source_replica_identity",
        ),
        (
            "create table public.t (id int not null, v text);",
            "source_replica_identity",
        ),
        (
            "create table public.t (id int primary key deferrable, v text);",
            "source_replica_identity",
        ),
        (
            "create table public.t (id int, v text, k int primary key);
             alter table public.t alter column id set not null;
             alter table public.t drop column k;
             alter table public.t replica identity default;",
            "source_replica_identity",
        ),
        (
            "create unlogged table public.t (id int primary key, v text);",
            "source_table_kind",
        ),
        (
            "create table public.t (id int, v text); alter table public.t replica identity full;",
            "destination_nullability",
        ),
    ] {
        let setup = format!("create schema mirror; {setup} {destination}");
        repaired(&client, &setup, &plain(), Deferred, &[expected]).await;
    }
    // A table without any key is matched by whole rows, which takes FULL.
    let keyless = sink(&[resource("t", &[any("id"), any("v")], &[])]);
    let setup = "create schema mirror; create table public.t (id int, v text);
        create table mirror.t (id int, v text);";
    repaired(
        &client,
        setup,
        &keyless,
        Deferred,
        &["source_replica_identity"],
    )
    .await;
}

#[tokio::test]
async fn coverage_reports_every_mistake_in_a_stable_order() {
    let setup = "create schema mirror;
        create table public.t (id int primary key, v varchar(20), secret text, twice int generated always as (id * 2) stored);
        create table public.unmapped (id int);
        create table public.audit (id int);
        create table mirror.t (id int primary key, v text, twice int);";
    let (_cluster, client) = database(setup).await;
    let mut declared = resource(
        "t",
        &[any("id"), any("v"), any("twice"), any("absent")],
        &["id"],
    );
    declared.skips = &["gone"];
    let mut spec = sink(&[declared, resource("nowhere", &[any("id")], &["id"])]);
    spec.ignored_sources = &[TableName {
        schema: "public",
        table: "audit",
    }];
    let refused = ask(&client, &spec, Deferred).await.unwrap_err();
    let lines: Vec<_> = refused
        .iter()
        .map(|error| {
            let site = error.site();
            let column = site.column.as_ref().map(ToString::to_string);
            let table = site.table.as_ref().map(ToString::to_string);
            (
                error.code(),
                table.unwrap_or_default(),
                column.unwrap_or_default(),
            )
        })
        .collect();
    let line = |code, table: &str, column: &str| (code, table.to_owned(), column.to_owned());
    assert_eq!(
        lines,
        [
            line("source_column_unpublished", "public.t", "twice"),
            line("source_column_missing", "public.t", "absent"),
            line("source_column_unmapped", "public.t", "secret"),
            line("source_table_missing", "public.nowhere", ""),
            line("source_table_unmapped", "public.unmapped", ""),
        ]
    );
}

#[tokio::test]
async fn a_destination_that_cannot_be_written_is_refused() {
    let (cluster, client) = database(&format!(
        "{SOURCE} create table mirror.t (id int primary key, v text);
         create role narrow login; alter role narrow set default_transaction_read_only = on;
         grant usage on schema public to narrow;
         grant select on mirror.t to narrow; alter table mirror.t enable row level security;"
    ))
    .await;
    let name: String = client
        .query_one("select pg_catalog.current_database()::text", &[])
        .await
        .unwrap()
        .get(0);
    let expected = [
        "destination_read_only",
        "destination_privilege",
        "destination_row_security",
        "destination_trust_refused",
    ];
    let spec = plain();
    let request = Request {
        spec: &spec,
        constraints: Trusted,
        values: Values::Fastest,
        code: &[],
    };
    let session = source::session(&client).await;
    let narrow = cluster.connect(&name, "narrow").await;
    let refused = admit(&request, &session, &narrow).await.unwrap_err();
    assert_eq!(codes(&refused), expected, "{refused}");
    for error in refused.iter() {
        let fact = error.site().fact.clone().unwrap_or_default();
        client.batch_execute(statement(&fact)).await.unwrap();
    }
    let narrow = cluster.connect(&name, "narrow").await;
    let after = admit(&request, &session, &narrow).await;
    client
        .batch_execute("drop owned by narrow; alter role narrow nosuperuser; drop role narrow")
        .await
        .unwrap();
    assert!(after.is_ok(), "{after:?}");
}

#[tokio::test]
async fn views_and_inherited_tables_are_no_destination() {
    for destination in [
        "create view mirror.t as select 1 as id, 'x'::text as v;",
        "create table mirror.t (id int primary key, v text); create table other.c () inherits (mirror.t);",
    ] {
        let (_cluster, client) = database(&format!("{SOURCE}{destination}")).await;
        let refused = ask(&client, &plain(), Deferred).await.unwrap_err();
        assert_eq!(codes(&refused), ["destination_table_kind"]);
    }
}

#[tokio::test]
async fn a_deferrable_key_that_shares_its_name_with_one_that_is_not_is_refused() {
    let (_cluster, client) = database(&format!(
        "{SOURCE} create table mirror.t (id int primary key, v text);
         create table mirror.child (t int constraint shared references mirror.t deferrable);
         create table mirror.bystander (n int constraint shared check (n > 0));"
    ))
    .await;
    let refused = ask(&client, &plain(), Deferred).await.unwrap_err();
    assert_eq!(codes(&refused), ["destination_foreign_key"]);
    // The reason for the refusal: the statement that every delivery begins with fails.
    let set = "begin; set constraints mirror.shared deferred";
    assert!(client.batch_execute(set).await.is_err());
}

#[tokio::test]
async fn declarations_that_say_nothing_usable_are_refused() {
    let setup = format!("{SOURCE} create table mirror.t (id int primary key, v text, n bigint);");
    let (_cluster, client) = database(&setup).await;
    let plain_t = resource("t", &[any("id"), any("v")], &["id"]);
    let made = ColumnSpec {
        origin: Origin::Destination,
        ..column("n", Storage::Int8)
    };
    let by = |origin| ColumnSpec { origin, ..made };
    let mut broken = plain_t;
    broken.broken = true;
    let mut control = plain_t;
    control.target.table = "t\n";
    let mut elsewhere = plain_t;
    elsewhere.source.table = "u";
    elsewhere.rust_name = "u";
    let mut again = plain_t;
    again.target.table = "u";
    again.rust_name = "u";
    for (resources, expected) in [
        (vec![], "config_invalid"),
        (
            vec![resource(
                "t",
                &[any("id"), any("v"), by(Origin::Stamp)],
                &["id"],
            )],
            "declaration_invalid",
        ),
        (
            vec![resource(
                "t",
                &[any("id"), any("v"), by(Origin::Action)],
                &["id"],
            )],
            "declaration_invalid",
        ),
        (vec![broken], "declaration_invalid"),
        (vec![control], "declaration_invalid"),
        (vec![plain_t, again], "declaration_invalid"),
        (vec![plain_t, elsewhere], "destination_target_claimed"),
        (
            vec![found_by(
                resource("t", &[any("id"), any("v"), made], &["id"]),
                &["n"],
            )],
            "declaration_invalid",
        ),
        (
            vec![resource("t", &[any("id"), any("v"), made], &["id"])],
            "destination_column_unfilled",
        ),
        (
            vec![resource(
                "t",
                &[any("id"), column("v", Storage::Int8)],
                &["id"],
            )],
            "type_pair_lossy",
        ),
    ] {
        let refused = ask(&client, &sink(&resources), Deferred).await.unwrap_err();
        assert!(codes(&refused).contains(&expected), "{refused}");
        assert!(!refused.to_string().contains("t\n"));
    }
}

#[tokio::test]
async fn a_loss_is_accepted_where_it_is_declared_but_never_in_a_key() {
    let lossy = |name| ColumnSpec {
        fidelity: Fidelity::Lossy,
        ..any(name)
    };
    let setup = "create schema mirror;
        create table public.t (id numeric primary key, at timestamptz);
        create table mirror.t (id numeric(5,2) primary key, at timestamp);";
    let (_cluster, client) = database(setup).await;
    let spec = sink(&[resource("t", &[lossy("id"), lossy("at")], &["id"])]);
    let refused = ask(&client, &spec, Deferred).await.unwrap_err();
    assert_eq!(codes(&refused), ["type_pair_lossy"]);
    assert_eq!(refused.first().site().column, Some(ident("id")));
}

#[tokio::test]
async fn nothing_that_rows_are_found_by_may_be_lossy() {
    let lossy = |name| ColumnSpec {
        fidelity: Fidelity::Lossy,
        ..any(name)
    };
    // Without a key every column is compared. A key's loss would only begin when the source is widened.
    for (spec, columns) in [
        (sink(&[resource("t", &[any("id"), lossy("at")], &[])]), "at"),
        (
            sink(&[resource("t", &[lossy("id"), any("at")], &["id"])]),
            "id",
        ),
    ] {
        let setup = "create schema mirror;
            create table public.t (id numeric(5,2) primary key, at timestamptz);
            alter table public.t replica identity full;
            create table mirror.t (id numeric(5,2) primary key, at timestamptz);";
        let (_cluster, client) = database(setup).await;
        let refused = ask(&client, &spec, Deferred).await.unwrap_err();
        assert_eq!(codes(&refused), ["type_pair_lossy"]);
        assert_eq!(refused.first().site().column, Some(ident(columns)));
    }
}

#[tokio::test]
async fn a_key_whose_destination_equality_merges_source_values_is_refused() {
    let (_cluster, client) = database(
        "create extension citext schema public; create schema mirror;
        create table public.t (id text primary key, v text);
        create table mirror.t (id public.citext primary key, v public.citext);",
    )
    .await;
    let refused = ask(&client, &plain(), Deferred).await.unwrap_err();
    assert_eq!(codes(&refused), ["type_pair_lossy"]);
    assert_eq!(refused.first().site().column, Some(ident("id")));
}
