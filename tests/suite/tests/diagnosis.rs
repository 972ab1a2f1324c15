//! Does a diagnosis change nothing, and can every verdict of it go red?

use std::time::Duration;

use replicant_sink::decision;
use replicant_sink::doctor::{self, Report, State, Verdict};
use replicant_sink::pipeline::Pipeline;
use replicant_test_servers::{ClusterBuilder, Installation, wait_for};
use replicant_tests::World;
use replicant_tests::setups::verdict;
use tokio_postgres::Client;

const TABLES: &str = "create table t (id int primary key, v text)";

async fn stopped(world: &World) -> Pipeline {
    let spec = world.specification(&["t"]).await.build();
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    handle.stop().await.unwrap();
    world.pipeline(spec).await
}

/// How many objects of every kind a database has, and how many rows its checkpoint.
async fn census(client: &Client) -> String {
    let query = "select concat_ws(' ', (select count(*) from pg_class), (select count(*) from pg_namespace), \
         (select count(*) from pg_proc), (select count(*) from pg_publication), \
         (select count(*) from pg_replication_slots where database = current_database()), \
         (select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) from pg_stat_user_tables))";
    client.query_one(query, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diagnosis_creates_nothing_and_grows_with_the_pipeline() {
    let world = World::same(TABLES).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let before = (
        census(&world.source).await,
        census(&world.destination).await,
    );
    let preflight = doctor::preflight(&pipeline).await;
    assert_eq!(preflight.exit_code, 0, "{preflight:#?}");
    let report = doctor::doctor(&pipeline).await;
    assert_eq!(report.exit_code, 2, "{report:#?}");
    assert_eq!(
        verdict(&report, "slot_presence"),
        (Verdict::Warn, "slot_absent")
    );
    assert_eq!(
        verdict(&report, "checkpoint_state"),
        (Verdict::Pass, "checkpoint_absent")
    );
    assert_eq!(
        verdict(&report, "contract_drift"),
        (Verdict::Pass, "contract_unbound")
    );
    assert_eq!(verdict(&report, "lease"), (Verdict::Warn, "lease_absent"));
    doctor::status(&pipeline).await.unwrap();
    assert_eq!(decision::show(&pipeline).await.unwrap(), None);
    let after = (
        census(&world.source).await,
        census(&world.destination).await,
    );
    assert_eq!(before, after);
    // Preflight is what doctor begins with.
    let names = |report: &Report| {
        report
            .checks
            .iter()
            .map(|check| check.name)
            .collect::<Vec<_>>()
    };
    assert!(names(&report).starts_with(&names(&preflight)));

    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a')").await;
    world.caught_up().await;
    let report = doctor::doctor(&pipeline).await;
    assert_eq!(report.exit_code, 0, "{report:#?}");
    for (name, reason) in [
        ("slot_presence", "slot_in_use"),
        ("slot_retention", "retention_reserved"),
        ("slot_position", "ok"),
        ("checkpoint_state", "checkpoint_bound"),
        ("source_position", "ok"),
        ("contract_drift", "contract_equal"),
        ("completeness", "tables_complete"),
        ("lease", "lease_live"),
        ("last_halt", "ok"),
    ] {
        assert_eq!(verdict(&report, name), (Verdict::Pass, reason), "{name}");
    }
    handle.stop().await.unwrap();
    let report = doctor::doctor(&pipeline).await;
    assert_eq!(verdict(&report, "lease"), (Verdict::Warn, "lease_released"));
    assert_eq!(
        verdict(&report, "slot_presence"),
        (Verdict::Pass, "slot_idle")
    );
    assert_eq!(report.exit_code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_verdict_about_the_checkpoint_can_go_red() {
    let world = World::same(TABLES).await;
    let pipeline = stopped(&world).await;
    let forbidden = [
        world.slot.to_owned(),
        world.source_database.clone(),
        "everything".to_owned(),
        "0/".to_owned(),
    ];
    // What breaks it, which check sees it, with which reason, and what heals it.
    let broken = [
        (
            "update replicant.replicant_watermarks set system_id = '1'",
            "checkpoint_state",
            "source_identity_rebound",
        ),
        (
            "update replicant.replicant_watermarks set watermark = -1 + watermark, acked_end = null",
            "checkpoint_state",
            "checkpoint_unpositioned",
        ),
        (
            "update replicant.replicant_format set version = 99",
            "checkpoint_state",
            "checkpoint_format_unknown",
        ),
        (
            "update replicant.replicant_contracts set timeline = 99",
            "source_position",
            "source_timeline_changed",
        ),
        (
            "update replicant.replicant_watermarks set watermark = 1 << 60",
            "source_position",
            "source_behind_watermark",
        ),
        (
            "update replicant.replicant_contracts set manifest = '\\x00'",
            "contract_drift",
            "publication_contract_incompatible",
        ),
        (
            "update replicant.replicant_watermarks set acked_end = 1, watermark = 0",
            "slot_position",
            "destination_behind_slot",
        ),
        (
            "update replicant.replicant_tables set completeness = 'filling'",
            "completeness",
            "tables_filling",
        ),
        (
            "update replicant.replicant_leases set expires_at = now() - interval '1 s'",
            "lease",
            "lease_expired",
        ),
        (
            "update replicant.replicant_leases set terminal_cause = 'from the future', terminal_class = 'terminal', \
             terminal_at = now()",
            "last_halt",
            "tombstone_unknown",
        ),
    ];
    for (breaking, name, reason) in broken {
        world
            .destination
            .batch_execute("create schema saved")
            .await
            .unwrap();
        for table in ["watermarks", "contracts", "leases", "tables", "format"] {
            let save =
                format!("create table saved.{table} as select * from replicant.replicant_{table}");
            world.destination.batch_execute(&save).await.unwrap();
        }
        world.destination.batch_execute(breaking).await.unwrap();
        let report = doctor::doctor(&pipeline).await;
        let (status, found) = verdict(&report, name);
        assert_eq!(found, reason, "{breaking}: {report:#?}");
        assert!(
            matches!(status, Verdict::Fail | Verdict::Warn),
            "{breaking}"
        );
        let printed = serde_json::to_string(&report).unwrap();
        for secret in &forbidden {
            assert!(!printed.contains(secret.as_str()), "{secret}: {printed}");
        }
        assert!(!printed.contains("from the future"), "{printed}");
        for table in ["watermarks", "contracts", "leases", "tables", "format"] {
            let heal = format!(
                "delete from replicant.replicant_{table}; \
                 insert into replicant.replicant_{table} select * from saved.{table}"
            );
            world.destination.batch_execute(&heal).await.unwrap();
        }
        world
            .destination
            .batch_execute("drop schema saved cascade")
            .await
            .unwrap();
    }
    let healed = doctor::doctor(&pipeline).await;
    assert_eq!(healed.exit_code, 2, "{healed:#?}");

    world
        .destination
        .batch_execute("update replicant.replicant_leases set expires_at = now() - interval '1 s'")
        .await
        .unwrap();
    let lost = doctor::status(&pipeline).await.unwrap();
    assert_eq!((lost.state, lost.exit_code), (State::OwnerLost, 1));
    world
        .run(&format!(
            "select pg_drop_replication_slot('{}')",
            world.slot
        ))
        .await;
    let report = doctor::doctor(&pipeline).await;
    assert_eq!(
        verdict(&report, "slot_presence"),
        (Verdict::Fail, "slot_missing")
    );
    assert_eq!(
        verdict(&report, "slot_retention"),
        (Verdict::Fail, "retention_lost")
    );
    assert_eq!(report.exit_code, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grown_declaration_warns_and_a_shrunken_one_fails() {
    let two = "create table t (id int primary key, v text); create table u (id int primary key)";
    let world = World::same(two).await;
    let both = world.specification(&["t", "u"]).await.build();
    let mut one = world.specification(&["t"]).await;
    one.ignored
        .push(replicant_sink::contract::resource::TableName {
            schema: "public",
            table: "u",
        });
    let one = one.build();
    world.run("insert into t values (0, 'before')").await;
    world.start(one).await.stop().await.unwrap();
    let report = doctor::doctor(&world.pipeline(both).await).await;
    assert_eq!(
        verdict(&report, "contract_drift"),
        (Verdict::Warn, "contract_grown")
    );
    assert_eq!(
        verdict(&report, "completeness"),
        (Verdict::Pass, "tables_open")
    );
    world.start(both).await.stop().await.unwrap();
    let report = doctor::doctor(&world.pipeline(one).await).await;
    assert_eq!(
        verdict(&report, "contract_drift"),
        (Verdict::Fail, "publication_contract_incompatible")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_side_that_cannot_be_asked_does_not_hide_the_other() {
    let world = World::same(TABLES).await;
    let pipeline = stopped(&world).await;
    let nowhere = "host=127.0.0.1 port=1 dbname=x user=x";
    let report = doctor::doctor(&pipeline.clone().source(nowhere)).await;
    assert_eq!(report.exit_code, 3);
    assert_eq!(verdict(&report, "source_reachable").0, Verdict::Fail);
    assert_eq!(
        verdict(&report, "slot_presence"),
        (Verdict::Skipped, "source_unreachable")
    );
    assert_eq!(verdict(&report, "checkpoint_state").0, Verdict::Pass);
    let status = doctor::status(&pipeline.clone().source(nowhere))
        .await
        .unwrap();
    assert_eq!(status.source_unasked, Some("source_unreachable"));
    assert!(status.watermark.is_some());

    let report = doctor::doctor(&pipeline.clone().destination(nowhere)).await;
    assert_eq!(report.exit_code, 3);
    assert_eq!(verdict(&report, "destination_reachable").0, Verdict::Fail);
    assert_eq!(verdict(&report, "slot_presence").0, Verdict::Pass);
    assert_eq!(
        verdict(&report, "checkpoint_state"),
        (Verdict::Skipped, "destination_unreachable")
    );
    assert!(
        doctor::status(&pipeline.clone().destination(nowhere))
            .await
            .is_err()
    );

    let report = doctor::doctor(&pipeline.source_identity("7/elsewhere")).await;
    assert_eq!(
        verdict(&report, "source_identity"),
        (Verdict::Fail, "source_identity_mismatch")
    );
    assert_eq!(report.exit_code, 1);
    assert!(
        !serde_json::to_string(&report)
            .unwrap()
            .contains("elsewhere")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_whose_wal_is_gone_is_lost_and_one_of_another_kind_is_no_slot_of_ours() {
    let installation = Installation::selected().unwrap();
    let mut cluster = ClusterBuilder::new(&installation);
    if installation.major() >= 13 {
        cluster = cluster.setting("max_slot_wal_keep_size", "1MB");
    }
    let cluster = cluster.start().unwrap();
    let world = World::on(std::sync::Arc::new(cluster), TABLES, TABLES).await;
    let pipeline = stopped(&world).await;
    let report = doctor::doctor(&pipeline).await;
    assert_eq!(report.exit_code, 2, "{report:#?}");
    // Before 13 a slot keeps its WAL whatever that costs: there is nothing to lose.
    if installation.major() >= 13 {
        lose(&world, &pipeline).await;
    }
    world
        .run(&format!(
            "select pg_drop_replication_slot('{0}'), pg_create_physical_replication_slot('{0}')",
            world.slot
        ))
        .await;
    let report = doctor::preflight(&pipeline).await;
    assert_eq!(
        verdict(&report, "slot_presence"),
        (Verdict::Fail, "slot_not_logical")
    );
}

/// Writes WAL until the slot has lost what it needs, and looks at the verdicts.
async fn lose(world: &World, pipeline: &Pipeline) {
    let lost = wait_for("the slot's loss", Duration::from_secs(60), async || {
        world
            .run("insert into t values (2, 'b') on conflict do nothing")
            .await;
        for statement in [
            "select pg_logical_emit_message(false, 'x', 'y')",
            "select pg_switch_wal()",
            "checkpoint",
        ] {
            world.run(statement).await;
        }
        let report = doctor::doctor(pipeline).await;
        (report.exit_code == 1).then_some(report)
    });
    let lost = lost.await.unwrap();
    assert_eq!(
        verdict(&lost, "slot_retention"),
        (Verdict::Fail, "retention_lost")
    );
    assert_eq!(
        verdict(&lost, "slot_presence"),
        (Verdict::Fail, "slot_invalidated")
    );
    let preflight = doctor::preflight(pipeline).await;
    assert_eq!(preflight.exit_code, 1);
}
