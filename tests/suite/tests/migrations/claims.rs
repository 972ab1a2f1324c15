//! Is the table of claims what it says: for its owner alone, one row for each operation, and no hash cut short?

use replicant_cli::Exit;
use replicant_sink::pipeline::Pipeline;
use replicant_tests::World;
use tempfile::TempDir;

use crate::declared::{before, placed};
use crate::server::{apply, relations};
use crate::{files, migrate, ways};

/// A claim with these hashes, key version, state and hours to be kept.
fn claim(operation: &str, digest: &str, version: i32, state: &str, hours: i32) -> String {
    format!(
        "insert into replicant.replicant_claims (target_schema, target_table, operation_key, digest_key_version, \
         content_digest, state, retain_until) values ('public', 'mail_outbox', {operation}, {version}, {digest}, \
         '{state}', now() + interval '{hours} hours')"
    )
}

async fn refused(world: &World, statement: &str) -> String {
    let error = world.destination.batch_execute(statement).await;
    let error = error.expect_err(statement);
    error.code().unwrap().code().to_owned()
}

fn may(role: &str, what: &str) -> String {
    format!("select has_table_privilege('{role}', 'replicant.replicant_claims', '{what}')::text")
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_are_made_for_their_owner_hold_whole_hashes_and_go_again() {
    let world = World::new("", "").await;
    // Another test of this process may have made them.
    for role in ["ops", "claims_nobody"] {
        let create = format!("create role {role}");
        let _ = world.destination.batch_execute(&create).await;
    }
    let place = TempDir::new().unwrap();
    let clean = relations(&world).await;
    let said = vec![Pipeline::of::<placed::Sink>()];
    assert_eq!(migrate(place.path(), said, &["--tables"]), Exit::Clean);
    let silent = vec![Pipeline::of::<placed::silent::Sink>()];
    let meant = ["--allow-destructive"];
    assert_eq!(migrate(place.path(), silent, &meant), Exit::Clean);
    let (up, down) = (
        ways(place.path(), ".up.sql"),
        ways(place.path(), ".down.sql"),
    );
    apply(&world, &up[0]).await;

    let hash = "sha256('one')";
    let good = claim(hash, "sha256('content')", 1, "processing", 72);
    world.destination.batch_execute(&good).await.unwrap();
    for (broken, state) in [
        (good.clone(), "23505"),
        (claim("'short'", hash, 1, "complete", 1), "23514"),
        (claim("sha256('2') || 'x'", hash, 1, "complete", 1), "23514"),
        (claim("sha256('2')", "''", 1, "complete", 1), "23514"),
        (claim("sha256('2')", hash, 0, "complete", 1), "23514"),
        (claim("sha256('2')", hash, 1, "done", 1), "23514"),
        (claim("sha256('2')", hash, 1, "complete", 0), "23514"),
        (claim("null", hash, 1, "complete", 1), "23502"),
    ] {
        assert_eq!(refused(&world, &broken).await, state, "{broken}");
    }
    for (role, what, expected) in [
        ("ops", "select", "true"),
        ("ops", "insert", "false"),
        ("claims_nobody", "select", "false"),
    ] {
        let found = world.destination_text(&may(role, what)).await;
        assert_eq!(found, expected, "{role} {what}");
    }
    let shape = relations(&world).await;
    assert!(shape.contains("replicant_claims_retain_until i"), "{shape}");

    apply(&world, &up[1]).await;
    let left = relations(&world).await;
    assert!(
        !left.contains("claims") && left.contains("replicant_leases"),
        "{left}"
    );
    apply(&world, &down[1]).await;
    assert_eq!(relations(&world).await, shape);
    assert_eq!(world.destination_text(&may("ops", "select")).await, "true");
    apply(&world, &down[0]).await;
    assert_eq!(relations(&world).await, clean);
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_that_were_left_are_kept_again_when_they_are_declared_again() {
    let world = World::new("", "").await;
    let _ = world.destination.batch_execute("create role ops").await;
    let place = TempDir::new().unwrap();
    let said = || vec![Pipeline::of::<placed::Sink>()];
    let silent = || vec![Pipeline::of::<placed::silent::Sink>()];
    for declared in [said(), silent(), said()] {
        assert_eq!(migrate(place.path(), declared.clone(), &[]), Exit::Clean);
        assert_eq!(migrate(place.path(), declared, &["--check"]), Exit::Clean);
    }
    let (up, down) = (
        ways(place.path(), ".up.sql"),
        ways(place.path(), ".down.sql"),
    );
    let clean = relations(&world).await;
    apply(&world, &up[0]).await;
    let kept = claim("sha256('one')", "sha256('content')", 1, "complete", 72);
    world.destination.batch_execute(&kept).await.unwrap();
    let held = "select count(*)::text from replicant.replicant_claims";
    for (way, reads) in [
        (&up[1], "false"),
        (&up[2], "true"),
        (&down[2], "false"),
        (&down[1], "true"),
    ] {
        apply(&world, way).await;
        assert_eq!(world.destination_text(held).await, "1", "{way}");
        let found = world.destination_text(&may("ops", "select")).await;
        assert_eq!(found, reads, "{way}");
    }
    // Whoever dropped them by hand gets them anew.
    apply(&world, &up[1]).await;
    let drop = "drop table replicant.replicant_claims";
    world.destination.batch_execute(drop).await.unwrap();
    apply(&world, &up[2]).await;
    assert_eq!(world.destination_text(held).await, "0");
    for way in down.iter().rev() {
        apply(&world, way).await;
    }
    assert_eq!(relations(&world).await, clean);
}

#[test]
fn claims_that_are_left_are_recorded_by_whoever_stays_in_the_schema() {
    let place = TempDir::new().unwrap();
    let place = place.path();
    let messages = || Pipeline::of::<placed::Sink>();
    let events = || Pipeline::of::<before::EventSink>();
    let recorded = || files(place).remove("replicant.snapshot.json").unwrap();
    for (declared, left) in [
        (vec![messages(), events()], false),
        (vec![events()], true),
        (vec![messages(), events()], false),
    ] {
        assert_eq!(migrate(place, declared.clone(), &[]), Exit::Clean);
        assert_eq!(migrate(place, declared, &["--check"]), Exit::Clean);
        assert_eq!(recorded().contains("\"left\""), left, "{}", recorded());
    }
    let down = ways(place, ".down.sql");
    let drops = |text: &String| text.contains("\ndrop table \"replicant\".replicant_claims;");
    assert_eq!(
        down.iter().map(drops).collect::<Vec<_>>(),
        [true, false, false]
    );
    // What is dropped on purpose is not recorded as left.
    let meant = ["--allow-destructive"];
    assert_eq!(migrate(place, vec![events()], &meant), Exit::Clean);
    assert!(!recorded().contains("\"left\""), "{}", recorded());
    assert!(drops(&ways(place, ".up.sql")[3]));
}
