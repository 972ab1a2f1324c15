//! Is a pooler between a pipeline and its servers told by its own reason, before anything exists?

use replicant_sink::doctor;
use replicant_test_servers::{Parameters, Pooler};
use replicant_tests::World;
use replicant_tests::compare::assert_equal;
use replicant_tests::refusal::{
    assert_says, drop_slot, has_checkpoint_tables, refused, slot_exists,
};
use replicant_tests::setups::BASE;

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_refuses_the_start_of_a_session_is_told_from_a_server_that_speaks_nonsense() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let good = world.pipeline(spec).await;
    let pooler = Pooler::to_port(world.cluster.port(), Parameters::Refused)
        .await
        .unwrap();
    let through = |database: &str| {
        format!(
            "host=127.0.0.1 port={} user=postgres dbname={database} sslmode=prefer",
            pooler.port()
        )
    };
    for (pipeline, mentions) in [
        (
            good.clone().source(through(&world.source_database)),
            &["08P01", "not through a pooler"][..],
        ),
        (
            good.clone()
                .destination(through(&world.destination_database)),
            &["option destination", "08P01", "not through a pooler"],
        ),
    ] {
        let error = refused(&pipeline).await;
        assert_says(&error, "session_settings_refused", mentions, "refused");
        let report = doctor::preflight(&pipeline).await;
        assert_eq!(report.exit_code, 3, "nobody answered: {report:?}");
        assert!(
            report
                .checks
                .iter()
                .any(|check| check.reason == "session_settings_refused")
        );
        assert!(!slot_exists(&world).await && !has_checkpoint_tables(&world).await);
    }
    let mut handle = good.start().await.unwrap();
    handle.ready().await.unwrap();
    world.run("insert into t values (1, 'a')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_drops_the_settings_of_a_session_is_refused_before_it_writes() {
    let world = World::same(BASE).await;
    let spec = world.specification(&["t"]).await.build();
    let good = world.pipeline(spec).await;
    let pooler = Pooler::to_port(world.cluster.port(), Parameters::Dropped)
        .await
        .unwrap();
    let through = format!(
        "host=127.0.0.1 port={} user=postgres dbname={}",
        pooler.port(),
        world.destination_database
    );
    // It lets everybody in, with the server's settings.
    let session = replicant_test_servers::connect::connect(&through)
        .await
        .unwrap();
    session.batch_execute("select 1").await.unwrap();
    let pipeline = good.clone().destination(&through);
    let error = refused(&pipeline).await;
    let lost = [
        "option destination",
        "search_path",
        "lock_timeout",
        "row_security",
    ];
    assert_says(&error, "session_settings_refused", &lost, "dropped");
    assert!(!slot_exists(&world).await && !has_checkpoint_tables(&world).await);
    assert_eq!(doctor::preflight(&pipeline).await.exit_code, 3);
    // One that comes between a mirror and its destination later is found by the next session.
    world.start(spec).await.stop().await.unwrap();
    let error = refused(&pipeline).await;
    assert_says(&error, "session_settings_refused", &lost, "later");
    let handle = world.start(spec).await;
    world.run("insert into t values (1, 'a')").await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}
