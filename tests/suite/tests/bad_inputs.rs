//! Does a mirror that already holds rows say by its own name what is wrong with it, and stay where it is meanwhile?

use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use replicant_cli::Exit;
use replicant_sink::doctor::{self, Verdict};
use replicant_sink::pipeline::Pipeline;
use replicant_test_servers::{ClusterBuilder, Installation, wait_for_true};
use replicant_tests::World;
use replicant_tests::compare::{assert_equal, rows};
use replicant_tests::refusal::{assert_says, checkpoint_text, refused, retrying};
use replicant_tests::setups::verdict;
use replicant_tests::world::DEADLINE;

const BASE: &str = "create table t (id int primary key, v text)";

/// One thing that is wrong, and how it is put right.
struct Wrong {
    what: &'static str,
    /// What the pipeline is told instead.
    told: fn(Pipeline, &World) -> Pipeline,
    source: &'static str,
    destination: &'static str,
    code: &'static str,
    mentions: &'static [&'static str],
    /// Of a diagnosis: 1 a check failed, 3 the question could not be asked.
    exit: u8,
    source_repair: &'static str,
    destination_repair: &'static str,
}

const RIGHT: Wrong = Wrong {
    what: "",
    told: |pipeline, _| pipeline,
    source: "",
    destination: "",
    code: "",
    mentions: &[],
    exit: 1,
    source_repair: "",
    destination_repair: "",
};

fn as_user(conninfo: &str, user: &str) -> String {
    conninfo.replace("user=postgres", &format!("user={user}"))
}

const WRONG: &[Wrong] = &[
    Wrong {
        what: "an option of the wrong form",
        told: |pipeline, _| pipeline.source_identity("nonsense"),
        code: "config_invalid",
        mentions: &["option source_identity"],
        exit: 3,
        ..RIGHT
    },
    Wrong {
        what: "a wrong password of the source",
        told: |pipeline, world| {
            pipeline.source(format!(
                "{} password=wrong",
                as_user(&world.source_conninfo, "closed")
            ))
        },
        code: "authentication_failed",
        mentions: &["28P01"],
        exit: 3,
        ..RIGHT
    },
    Wrong {
        what: "a wrong password of the destination",
        told: |pipeline, world| {
            pipeline.destination(format!(
                "{} password=wrong",
                as_user(&world.destination_conninfo, "closed")
            ))
        },
        code: "destination_auth",
        mentions: &["28P01"],
        exit: 3,
        ..RIGHT
    },
    Wrong {
        what: "no password",
        told: |pipeline, world| pipeline.source(as_user(&world.source_conninfo, "closed")),
        code: "password_missing",
        exit: 3,
        ..RIGHT
    },
    Wrong {
        what: "a source database that is not there",
        told: |pipeline, world| {
            pipeline.source(
                world
                    .source_conninfo
                    .replace(&world.source_database, "nowhere"),
            )
        },
        code: "database_missing",
        mentions: &["3D000"],
        exit: 3,
        ..RIGHT
    },
    Wrong {
        what: "a destination database that is not there",
        told: |pipeline, world| {
            pipeline.destination(
                world
                    .destination_conninfo
                    .replace(&world.destination_database, "nowhere"),
            )
        },
        code: "database_missing",
        mentions: &["option destination", "3D000"],
        exit: 3,
        ..RIGHT
    },
    Wrong {
        what: "a role of the source without REPLICATION",
        told: |pipeline, world| pipeline.source(as_user(&world.source_conninfo, "plain")),
        code: "privilege_missing",
        mentions: &["REPLICATION"],
        ..RIGHT
    },
    Wrong {
        what: "a role of the destination without INSERT",
        told: |pipeline, world| pipeline.destination(as_user(&world.destination_conninfo, "plain")),
        destination: "grant select, update, delete on t to plain; grant usage on schema public, replicant to plain; \
                      grant all on all tables in schema replicant to plain",
        code: "destination_privilege",
        mentions: &["public.t", "grant insert"],
        ..RIGHT
    },
    Wrong {
        what: "a role of the destination without the checkpoint",
        told: |pipeline, world| pipeline.destination(as_user(&world.destination_conninfo, "plain")),
        destination: "grant all on t to plain; revoke all on all tables in schema replicant from plain",
        code: "checkpoint_refused",
        mentions: &["42501"],
        ..RIGHT
    },
    Wrong {
        what: "a publication that is not there",
        told: |pipeline, _| pipeline.publication("absent"),
        code: "publication_missing",
        mentions: &["absent"],
        ..RIGHT
    },
    Wrong {
        what: "a publication that sends no deletes",
        source: "alter publication everything set (publish = 'insert, update, truncate')",
        code: "publication_shape",
        mentions: &["delete is not published"],
        source_repair: "alter publication everything set (publish = 'insert, update, delete, truncate')",
        ..RIGHT
    },
    Wrong {
        what: "a table whose rows are not identified",
        source: "alter table t replica identity nothing",
        code: "source_replica_identity",
        mentions: &["public.t"],
        source_repair: "alter table t replica identity default",
        ..RIGHT
    },
    Wrong {
        what: "a destination table that is not there",
        destination: "alter table t rename to elsewhere",
        code: "destination_table_missing",
        mentions: &["public.t"],
        destination_repair: "alter table elsewhere rename to t",
        ..RIGHT
    },
    Wrong {
        what: "a destination column that is not there",
        destination: "alter table t rename v to w",
        code: "destination_column_missing",
        mentions: &["public.t", "column v"],
        destination_repair: "alter table t rename w to v",
        ..RIGHT
    },
    Wrong {
        what: "a destination type that the values cannot become",
        destination: "alter table t rename v to w; alter table t add v int",
        code: "type_pair_lossy",
        mentions: &["public.t", "column v"],
        destination_repair: "alter table t drop v; alter table t rename w to v",
        ..RIGHT
    },
    Wrong {
        what: "no unique index in the destination",
        destination: "alter table t drop constraint t_pkey",
        code: "destination_unique_missing",
        mentions: &["public.t"],
        destination_repair: "alter table t add primary key (id)",
        ..RIGHT
    },
    Wrong {
        what: "a destination that only reads",
        destination: "do $$ begin execute format('alter database %I set default_transaction_read_only = on', \
                      current_database()); end $$",
        code: "destination_read_only",
        mentions: &["default_transaction_read_only"],
        destination_repair: "do $$ begin execute format('alter database %I reset default_transaction_read_only', \
                             current_database()); end $$",
        ..RIGHT
    },
];

/// A mirror on a server of its own that holds one row and has another one to come.
async fn world_with_a_backlog() -> (World, Pipeline) {
    let cluster = ClusterBuilder::new(&Installation::selected().unwrap())
        .setting("wal_sender_timeout", "2s")
        .start()
        .unwrap();
    cluster
        .access_rule("host all,replication closed 127.0.0.1/32 scram-sha-256")
        .unwrap();
    let world = World::on(Arc::new(cluster), BASE, BASE).await;
    world
        .run("select pg_reload_conf(); create role closed login replication password 'right'; create role plain login")
        .await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    let free = format!(
        "select not active from pg_replication_slots where slot_name = '{}'",
        world.slot
    );
    wait_for_true(&world.source, &free, DEADLINE).await.unwrap();
    world.run("insert into t values (2, 'b')").await;
    (world, pipeline)
}

/// Where the mirror stands: its checkpoint, its slot, its rows.
async fn standing(world: &World) -> String {
    let query = "select coalesce((select restart_lsn || '/' || confirmed_flush_lsn \
                 from pg_replication_slots where slot_name = $1), 'no slot')";
    let row = world.source.query_one(query, &[&world.slot]).await;
    let slot: String = row.unwrap().get(0);
    format!("{} {slot}", checkpoint_text(world).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_wrong_has_its_own_reason_and_the_mirror_stays_where_it_is() {
    let (world, good) = world_with_a_backlog().await;
    let before = standing(&world).await;
    for wrong in WRONG {
        let what = wrong.what;
        world.run(wrong.source).await;
        let broken = world.destination.batch_execute(wrong.destination).await;
        broken.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        let pipeline = (wrong.told)(good.clone(), &world);

        let error = refused(&pipeline).await;
        assert_says(&error, wrong.code, wrong.mentions, what);
        assert!(!error.to_string().contains("wrong"), "{what}: {error}");
        let report = doctor::doctor(&pipeline).await;
        assert_eq!(report.exit_code, wrong.exit, "{what}: {report:#?}");
        let seen = report
            .checks
            .iter()
            .any(|check| check.status == Verdict::Fail && check.reason == wrong.code);
        assert!(seen, "{what}: {report:#?}");
        assert_eq!(standing(&world).await, before, "{what}");

        world.run(wrong.source_repair).await;
        let repaired = world.destination.batch_execute(wrong.destination_repair);
        repaired.await.unwrap();
        assert_eq!(rows(&world.destination, "t").await.len(), 1, "{what}");
    }
    let handle = good.start().await.unwrap();
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_is_read_by_another_program_is_left_to_it() {
    let (world, pipeline) = world_with_a_backlog().await;
    let before = standing(&world).await;
    let Some(mut reader) = other_reader(&world) else {
        return;
    };
    wait_for_true(
        &world.source,
        "select exists (select from pg_replication_slots where active)",
        DEADLINE,
    )
    .await
    .unwrap();
    let handle = pipeline.start().await.unwrap();
    retrying(&handle, "slot_active").await;
    assert_eq!(standing(&world).await, before);
    assert!(reader.try_wait().unwrap().is_none(), "it was driven away");
    let report = doctor::doctor(&pipeline).await;
    assert_eq!(
        verdict(&report, "slot_presence"),
        (Verdict::Pass, "slot_in_use")
    );
    // It dies and lets the slot go; nobody has to be told.
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}

/// Another program that reads the slot and acknowledges nothing, where the server brings one.
fn other_reader(world: &World) -> Option<Child> {
    let program = Installation::selected()
        .unwrap()
        .program("pg_recvlogical")?;
    let reader = Command::new(program)
        .args([
            "--start",
            "--slot",
            world.slot,
            "--file",
            "/dev/null",
            "--no-loop",
        ])
        .args(["--fsync-interval", "3600", "--status-interval", "1"])
        .args([
            "-o",
            "proto_version=1",
            "-o",
            "publication_names=everything",
        ])
        .args(["--dbname", &world.source_conninfo])
        .stderr(Stdio::null())
        .spawn();
    Some(reader.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_is_told_by_its_code_and_the_diagnosis_remembers_it() {
    let (world, pipeline) = world_with_a_backlog().await;
    let full = "create function full_disk() returns boolean language plpgsql as $$ begin \
                raise exception 'zzsecret' using errcode = '53100'; end $$; \
                alter table t add constraint disk check (full_disk()) not valid";
    let before = standing(&world).await;
    world.destination.batch_execute(full).await.unwrap();
    let error = refused(&pipeline).await;
    assert_says(&error, "destination_full", &["public.t", "53100"], "full");
    assert!(!format!("{error} {error:?}").contains("zzsecret"));
    assert_eq!(standing(&world).await, before);
    let report = doctor::doctor(&pipeline).await;
    assert_eq!(
        verdict(&report, "last_halt"),
        (Verdict::Fail, "destination_full")
    );
    assert_eq!(report.exit_code, 1, "{report:#?}");
    let room = "alter table t drop constraint disk";
    world.destination.batch_execute(room).await.unwrap();
    let handle = pipeline.start().await.unwrap();
    assert_equal(&world, &["t"]).await;
    assert_eq!(doctor::doctor(&pipeline).await.exit_code, 0);
    handle.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_was_dropped_leaves_the_checkpoint_where_it_is() {
    let (world, pipeline) = world_with_a_backlog().await;
    let before = checkpoint_text(&world).await;
    let drop = format!("select pg_drop_replication_slot('{}')", world.slot);
    world.run(&drop).await;
    let error = refused(&pipeline).await;
    assert_says(
        &error,
        "slot_missing",
        &["fill the mirror again"],
        "dropped",
    );
    let report = doctor::doctor(&pipeline).await;
    assert_eq!(
        verdict(&report, "slot_presence"),
        (Verdict::Fail, "slot_missing")
    );
    assert_eq!(report.exit_code, 1, "{report:#?}");
    assert_eq!(checkpoint_text(&world).await, before);
    assert!(standing(&world).await.ends_with("no slot"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_could_not_ask_says_so_by_its_exit_code() {
    let (world, good) = world_with_a_backlog().await;
    let at = |conninfo: String| good.clone().destination(conninfo);
    let closed = as_user(&world.destination_conninfo, "closed");
    let elsewhere = world.destination_database.as_str();
    for (pipeline, exit, what) in [
        (good.clone(), Exit::Clean, "right"),
        (at(closed.clone()), Exit::NotAsked, "no password"),
        (
            at(format!("{closed} password=wrong")),
            Exit::NotAsked,
            "a wrong password",
        ),
        (
            at(world.destination_conninfo.replace(elsewhere, "nowhere")),
            Exit::NotAsked,
            "no database",
        ),
        (
            at(format!("{closed} sslmode=verify-full sslrootcert=/absent")),
            Exit::NotAsked,
            "no certificates",
        ),
        (
            at(format!("{} sslmode=require", world.destination_conninfo)),
            Exit::NotAsked,
            "no encryption",
        ),
        (
            at(as_user(&world.destination_conninfo, "plain")),
            Exit::Failed,
            "no privilege",
        ),
    ] {
        for command in ["r checkpoint show", "r checkpoint reset --yes --keep-slot"] {
            if exit == Exit::Clean && command.contains("reset") {
                continue;
            }
            let arguments: Vec<std::ffi::OsString> = command.split(' ').map(Into::into).collect();
            let pipeline = pipeline.clone();
            let asked =
                tokio::task::spawn_blocking(move || replicant_cli::run(arguments, [pipeline]));
            assert_eq!(asked.await.unwrap(), exit, "{what}: {command}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_without_room_for_another_reader_is_asked_a_few_times_and_not_for_ever() {
    let cluster = ClusterBuilder::new(&Installation::selected().unwrap())
        .setting("max_wal_senders", "0")
        .start()
        .unwrap();
    let world = World::on(Arc::new(cluster), BASE, BASE).await;
    let pipeline = world.pipeline(world.specification(&["t"]).await.build());
    let pipeline = pipeline.await;
    let error = refused(&pipeline).await;
    let named = ["max_wal_senders", "53300"];
    assert_says(&error, "too_many_connections", &named, "no walsender");
    assert_eq!(doctor::preflight(&pipeline).await.exit_code, 3);
}
