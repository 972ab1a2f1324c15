//! What happens to a history, a log, sealed columns and tenants when the source's table changes its shape under them?
//!
//! The same as to a mirror: they stop before the first row that does not fit, with everything before it applied, and go on
//! without a loss once they fit.

use replicant_checkpoint::contract::resource::OnSchemaChange;
use replicant_sink::prelude::*;
use replicant_tests::World;
use replicant_tests::journal::stored_versions;
use replicant_tests::kept::{AXES, STAMPS, WINDOW};
use replicant_tests::refusal::{assert_says, drop_slot, halted, refused};
use replicant_tests::sealing::{keys, opened, seal};

const SOURCE: &str = "create table t (id int primary key, org text not null, v varchar(5), w int); \
    alter table t replica identity full";

/// Everything that is kept in another way than as a plain row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kept {
    History,
    Log,
    Sealed,
    Tenants,
    Schemas,
}

impl Kept {
    const ALL: [Self; 5] = [
        Self::History,
        Self::Log,
        Self::Sealed,
        Self::Tenants,
        Self::Schemas,
    ];

    fn tables(self) -> &'static [&'static str] {
        match self {
            Self::History => &["t: history(id)"],
            Self::Log => &["t: log"],
            Self::Sealed => &["t"],
            Self::Tenants => &["t by org"],
            Self::Schemas => &["t by org in tenant_{}"],
        }
    }

    fn destination(self) -> String {
        let columns = "org text not null, v varchar(5), w int";
        match self {
            Self::History => format!(
                "create table t (id int not null, {columns}, {WINDOW}); \
                 create unique index on t (id, valid_from_lsn); \
                 create unique index on t (id) where valid_to_lsn is null"
            ),
            Self::Log => format!(
                "create table t (id int, org text, v varchar(5), w int, before_w int, {STAMPS}); \
                 create unique index on t ({AXES})"
            ),
            Self::Sealed => "create table t (id int primary key, org text not null, v varchar(5), encrypted_w bytea)"
                .to_owned(),
            Self::Tenants => format!("create table t (id int primary key, {columns}, unique (org, id))"),
            // The table in `public` only tells tests which columns there are.
            Self::Schemas => format!(
                "create table t (id int primary key, {columns}); create schema tenant_a; \
                 create table tenant_a.t (id int primary key, {columns})"
            ),
        }
    }

    /// Is this a stop to look at what was written, after which the next start finds that everything fits? Old rows of the
    /// default identity tell a key, and a sealed column holds the text of any type.
    fn takes_after_a_look(self, change: &str) -> bool {
        match self {
            Self::History => change.contains("identity default"),
            Self::Sealed => change.contains("identity default") || change.contains("w type"),
            Self::Log | Self::Tenants | Self::Schemas => false,
        }
    }

    /// The table that has the rows.
    fn table(self) -> &'static str {
        match self {
            Self::Schemas => "tenant_a.t",
            _ => "t",
        }
    }

    async fn pipeline(self, world: &World, policy: OnSchemaChange) -> Pipeline {
        let specification = world.specification(self.tables()).await;
        let specification = specification.with("t", |resource| {
            resource.on_schema_change = policy;
            if self == Self::Sealed {
                seal(resource);
            }
        });
        let vault = StaticVault::new(keys(&[("k", 1)]));
        world.pipeline(specification.build()).await.vault(vault)
    }

    /// Which rows have left a trace.
    async fn ids(self, world: &World) -> String {
        let query = format!(
            "select string_agg(distinct id::text, ',' order by id::text) from {}",
            self.table()
        );
        world.destination_text(&query).await
    }

    /// Adds a column to the tables that hold rows, and to the one that tells tests which there are.
    async fn add(self, world: &World, column: &str) {
        for table in ["t", self.table()] {
            let add = format!("alter table {table} add column if not exists {column}");
            world.destination.batch_execute(&add).await.unwrap();
        }
    }
}

async fn started(pipeline: &Pipeline) -> Handle {
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    handle
}

/// A running pipeline that has rows 1 and 2.
async fn running(kept: Kept, policy: OnSchemaChange) -> (World, Pipeline, Handle) {
    let world = World::new(SOURCE, &kept.destination()).await;
    let pipeline = kept.pipeline(&world, policy).await;
    let handle = started(&pipeline).await;
    world.run("insert into t values (1, 'a', 'x', 1)").await;
    world.run("insert into t values (2, 'a', 'y', 2)").await;
    world.caught_up().await;
    (world, pipeline, handle)
}

/// A change of the source's table with a row after it, the reason, and what the message names.
const CHANGES: &[(&str, &str, &str)] = &[
    (
        "alter table t add c int; insert into t values (3, 'a', 'z', 3, 4)",
        "source_column_unmapped",
        "column c",
    ),
    (
        "alter table t drop w; insert into t values (3, 'a', 'z')",
        "schema_change_destructive",
        "column w",
    ),
    (
        "alter table t rename w to ww; insert into t values (3, 'a', 'z', 3)",
        "schema_change_destructive",
        "column w",
    ),
    (
        "alter table t rename to tt; insert into tt values (3, 'a', 'z', 3)",
        "source_table_unmapped",
        "public.tt",
    ),
    (
        "alter table t alter w type bigint; insert into t values (3, 'a', 'z', 3)",
        "schema_change_destructive",
        "column w",
    ),
    (
        "alter table t alter v type varchar(9); insert into t values (3, 'a', 'z', 3)",
        "type_modifier_widened",
        "column v",
    ),
    (
        "alter table t drop w; alter table t add w int; insert into t values (3, 'a', 'z', 3)",
        "source_column_replaced",
        "column w",
    ),
    (
        "alter table t replica identity default; insert into t values (3, 'a', 'z', 3)",
        "schema_change_destructive",
        "public.t",
    ),
    (
        "drop table t; create table t (id int primary key, org text not null, v varchar(5), w int); \
         alter table t replica identity full; insert into t values (3, 'a', 'z', 3)",
        "schema_change_destructive",
        "public.t",
    ),
];

async fn stops_before_the_first_row(kept: Kept) {
    for (change, code, named) in CHANGES {
        let what = format!("{kept:?}: {change}");
        let (world, pipeline, handle) = running(kept, OnSchemaChange::HaltDestructive).await;
        world.run(change).await;
        assert_says(&halted(handle).await, code, &[named], &what);
        assert_eq!(kept.ids(&world).await, "1,2", "{what}");
        if kept.takes_after_a_look(change) {
            let handle = started(&pipeline).await;
            world.caught_up().await;
            assert_eq!(kept.ids(&world).await, "1,2,3", "{what}");
            handle.stop().await.unwrap();
            drop_slot(&world).await;
            continue;
        }
        // Trying again changes nothing.
        let watermark = world.watermark().await;
        refused(&pipeline).await;
        assert_eq!(world.watermark().await, watermark, "{what}");
        assert_eq!(kept.ids(&world).await, "1,2", "{what}");
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_stops_before_the_first_row_that_does_not_fit() {
    stops_before_the_first_row(Kept::History).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_stops_before_the_first_row_that_does_not_fit() {
    stops_before_the_first_row(Kept::Log).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sealed_columns_stop_before_the_first_row_that_does_not_fit() {
    stops_before_the_first_row(Kept::Sealed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_stop_before_the_first_row_that_does_not_fit() {
    stops_before_the_first_row(Kept::Tenants).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn schemas_of_tenants_stop_before_the_first_row_that_does_not_fit() {
    stops_before_the_first_row(Kept::Schemas).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stopped_at_an_added_column_goes_on_without_a_loss_once_it_is_mapped() {
    for kept in Kept::ALL {
        let (world, _, handle) = running(kept, OnSchemaChange::HaltDestructive).await;
        world
            .run(
                "begin; update t set w = 5 where id = 1; alter table t add c int; \
                 update t set c = 6 where id = 1; insert into t values (3, 'a', 'z', 3, 4); commit",
            )
            .await;
        world
            .run("update t set c = 7 where id = 2; delete from t where id = 3")
            .await;
        assert_eq!(
            halted(handle).await.code(),
            "source_column_unmapped",
            "{kept:?}"
        );
        assert_eq!(kept.ids(&world).await, "1,2", "{kept:?}");
        kept.add(&world, "c int").await;
        let handle = started(&kept.pipeline(&world, OnSchemaChange::HaltDestructive).await).await;
        world.caught_up().await;
        let rows = async |query: &str| world.destination_text(query).await;
        match kept {
            Kept::History => {
                let found = rows(
                    "select string_agg(concat_ws(' ', id, w, coalesce(c::text, '-'), \
                     case when valid_to_lsn is null then 'open' end), ', ' order by id, valid_from_lsn) from t",
                );
                let expected = "1 1 -, 1 5 6 open, 2 2 -, 2 2 7 open, 3 3 4";
                assert_eq!(found.await, expected);
            }
            Kept::Log => {
                let found = rows(
                    "select string_agg(concat_ws(' ', operation, id, w, coalesce(c::text, '-'), coalesce(before_w::text, '-')), \
                     ', ' order by commit_lsn, ordinal) from t",
                );
                assert_eq!(
                    found.await,
                    "insert 1 1 - -, insert 2 2 - -, update 1 5 - 1, update 1 5 6 5, insert 3 3 4 -, \
                     update 2 2 7 2, delete 3 3 4 3"
                );
            }
            Kept::Sealed | Kept::Tenants | Kept::Schemas => {
                let table = kept.table();
                let query = format!(
                    "select string_agg(concat_ws(' ', id, c), ', ' order by id) from {table}"
                );
                assert_eq!(rows(&query).await, "1 6, 2 7", "{kept:?}");
            }
        }
        if kept == Kept::Sealed {
            let there = opened(&world, &keys(&[("k", 1)]), ("t", "encrypted_w"), "id").await;
            assert_eq!(there, [Some("5".to_owned()), Some("2".to_owned())]);
        }
        handle.stop().await.unwrap();
        drop_slot(&world).await;
    }
}

/// What is sealed is a text of any length. Digits behind the point are another matter: the source wrote every stored
/// value anew with more of them, and an envelope has the old ones.
#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_column_takes_a_longer_text_and_stops_at_more_digits() {
    let world = World::new(
        "create table t (id int primary key, v varchar(5), n numeric(4, 1))",
        "create table t (id int primary key, encrypted_v bytea, encrypted_n bytea)",
    )
    .await;
    let keys = keys(&[("k", 1)]);
    let specification = world.specification(&["t"]).await.with("t", seal);
    let pipeline = world.pipeline(specification.build()).await;
    let handle = started(&pipeline.vault(StaticVault::new(keys.clone()))).await;
    world
        .run(
            "insert into t values (1, 'short', 1.5); alter table t alter v type varchar(30); \
             insert into t values (2, 'longer than before', 2.5)",
        )
        .await;
    world.caught_up().await;
    let there = opened(&world, &keys, ("t", "encrypted_v"), "id").await;
    assert_eq!(there[1].as_deref(), Some("longer than before"));
    world
        .run(
            "alter table t alter n type numeric(20, 9); insert into t values (3, 'x', 1.123456789)",
        )
        .await;
    let error = halted(handle).await;
    assert_says(&error, "schema_change_destructive", &["column n"], "digits");
    drop_slot(&world).await;
}

/// A value that is not sent any more is carried from version to version, and not told by a log.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_column_that_is_ignored_is_carried_by_a_history_and_absent_from_a_log() {
    for kept in Kept::ALL {
        let (world, _, handle) = running(kept, OnSchemaChange::Ignore).await;
        world
            .run(
                "begin; update t set w = 9 where id = 2; alter table t drop w; \
                 insert into t values (3, 'a', 'z'); update t set v = 'Y' where id = 2; commit",
            )
            .await;
        world
            .run("update t set v = 'YY' where id = 2; delete from t where id = 1")
            .await;
        world.caught_up().await;
        let rows = async |query: &str| world.destination_text(query).await;
        match kept {
            Kept::History => {
                let found = stored_versions(&world.destination, "t", &["id", "v", "w"]).await;
                let found: Vec<String> = found
                    .into_iter()
                    .map(|version| {
                        let row: Vec<_> = version
                            .row
                            .into_iter()
                            .map(Option::unwrap_or_default)
                            .collect();
                        let open = if version.to.is_none() { " open" } else { "" };
                        format!("{}{open}", row.join(" "))
                    })
                    .collect();
                let expected = ["1 x 1", "2 Y 9", "2 YY 9 open", "2 y 2", "3 z  open"];
                assert_eq!(found, expected);
            }
            Kept::Log => {
                let found = rows(
                    "select string_agg(concat_ws(' ', operation, id, v, coalesce(w::text, '-')), ', ' \
                     order by commit_lsn, ordinal) from t",
                );
                assert_eq!(
                    found.await,
                    "insert 1 x 1, insert 2 y 2, update 2 y 9, insert 3 z -, update 2 Y -, update 2 YY -, delete 1 x -"
                );
            }
            Kept::Sealed => {
                let there = opened(&world, &keys(&[("k", 1)]), ("t", "encrypted_w"), "id").await;
                assert_eq!(there, [Some("9".to_owned()), None]);
            }
            Kept::Tenants | Kept::Schemas => {
                let table = kept.table();
                let query = format!(
                    "select string_agg(concat_ws(' ', id, v, coalesce(w::text, '-')), ', ' order by id) from {table}"
                );
                assert_eq!(rows(&query).await, "2 YY 9, 3 z -", "{kept:?}");
            }
        }
        handle.stop().await.unwrap();
        drop_slot(&world).await;
    }
}

/// Nobody ever told the history what such a row had in the column, and its later versions go on without it.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_older_than_its_history_has_nothing_to_carry_from_a_dropped_column() {
    let source = format!("{SOURCE}; insert into t values (1, 'a', 'old', 1), (2, 'a', 'old', 2)");
    let world = World::new(&source, &Kept::History.destination()).await;
    let pipeline = Kept::History.pipeline(&world, OnSchemaChange::Ignore).await;
    let handle = started(&pipeline).await;
    world.run("update t set v = 'x' where id = 1").await;
    world
        .run("alter table t drop w; update t set v = 'y'; update t set v = 'z'")
        .await;
    world.run("update t set v = 'last'").await;
    world.caught_up().await;
    let versions = "select string_agg(concat_ws(' ', id, v, coalesce(w::text, '-')), ', ' order by id, valid_from_lsn) from t";
    assert_eq!(
        world.destination_text(versions).await,
        "1 x 1, 1 z 1, 1 last 1, 2 z -, 2 last -"
    );
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}
