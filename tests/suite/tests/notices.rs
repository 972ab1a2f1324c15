//! Does a running pipeline say what can part its mirror from the source without a word of the stream?

use replicant_sink::doctor;
use replicant_test_servers::wait_for;
use replicant_tests::World;
use replicant_tests::compare::{assert_equal, rows};
use replicant_tests::listen::Heard;
use replicant_tests::world::DEADLINE;

#[tokio::test(flavor = "multi_thread")]
async fn partitions_published_through_their_root_are_warned_of_in_log_and_status() {
    let heard = Heard::everything();
    let world = World::new(
        "create table t (id int, region text, primary key (id, region)) partition by list (region); \
         create table t_eu partition of t for values in ('eu'); \
         create table t_us partition of t for values in ('us')",
        "create table t (id int, region text, primary key (id, region))",
    )
    .await;
    let republish = "drop publication everything; \
                     create publication everything for table t, nudge with (publish_via_partition_root)";
    if world.major() < 13 {
        // There is no such publication to warn of.
        let refused = world.source.batch_execute(republish).await;
        assert!(refused.is_err(), "the option exists after all");
        return;
    }
    world.run(republish).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world.run("insert into t values (1, 'eu'), (2, 'us')").await;
    assert_equal(&world, &["t"]).await;
    let told = wait_for("the notice in the status", DEADLINE, async || {
        let reported = doctor::status(&pipeline).await.ok()?.reported?;
        let reported: serde_json::Value = serde_json::from_str(&reported).ok()?;
        (reported["notices"][0] == "source_partitions_unseen").then_some(())
    });
    told.await.unwrap();
    handle.stop().await.unwrap();
    let text = heard.text();
    let warnings = text
        .lines()
        .filter(|line| line.contains("pipeline.noticed"));
    let warnings: Vec<_> = warnings.collect();
    assert_eq!(warnings.len(), 1, "once for every session: {warnings:?}");
    for word in ["source_partitions_unseen", "public.t", "WARN"] {
        assert!(warnings[0].contains(word), "{warnings:?}");
    }

    // What the warning is about: the rows stay.
    let handle = world.start(spec).await;
    world
        .run("truncate t_eu; alter table t detach partition t_us")
        .await;
    world.caught_up().await;
    assert_eq!(rows(&world.source, "t").await.len(), 0);
    assert_eq!(rows(&world.destination, "t").await.len(), 2);
    handle.stop().await.unwrap();
}
