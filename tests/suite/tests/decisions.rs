//! Are a person's decisions about a checkpoint refused while somebody owns it, and recorded once?

use replicant_sink::decision::{self, Decided, Position, SlotOnSource};
use replicant_test_servers::wait_for;
use replicant_tests::World;
use replicant_tests::child::{Launch, MirrorProcess};
use replicant_tests::run::streaming;
use replicant_tests::world::DEADLINE;
use replicant_transport::position::{CommitLsn, EndLsn, Lsn};

const TABLES: &str = "create table t (id int primary key, v text)";

#[tokio::test(flavor = "multi_thread")]
async fn decisions_are_refused_while_an_owner_lives_and_recorded_once() {
    let world = World::same(TABLES).await;
    let spec = world.specification(&["t"]).await.build();
    let pipeline = world.pipeline(spec).await;
    let at = |lsn| Position::Flush(EndLsn::new(Lsn::new(lsn)));
    // A mirror that another tool filled; the tables of the checkpoint are created for it.
    assert_eq!(
        decision::adopt(&pipeline, at(256)).await.unwrap(),
        Decided::Changed
    );
    assert_eq!(
        decision::adopt(&pipeline, at(256)).await.unwrap(),
        Decided::AlreadySo
    );
    let conflict = decision::adopt(&pipeline, at(512)).await.unwrap_err();
    assert_eq!(conflict.code(), "checkpoint_adopt_conflict");
    let keep = SlotOnSource::MayStay;
    let gone = SlotOnSource::MustBeGone;
    assert_eq!(
        decision::reset(&pipeline, gone).await.unwrap(),
        Decided::Changed
    );
    assert_eq!(
        decision::reset(&pipeline, gone).await.unwrap(),
        Decided::AlreadySo
    );
    let commit = Position::Commit(CommitLsn::new(Lsn::new(8)));
    assert_eq!(
        decision::adopt(&pipeline, commit).await.unwrap(),
        Decided::Changed
    );
    assert_eq!(
        decision::reset(&pipeline, keep).await.unwrap(),
        Decided::Changed
    );

    let handle = world.start(spec).await;
    for refused in [
        decision::adopt(&pipeline, at(256)).await,
        decision::reset(&pipeline, keep).await,
        decision::reset(&pipeline, gone).await,
        decision::acknowledge_timeline(&pipeline).await,
    ] {
        assert_eq!(refused.unwrap_err().code(), "slot_already_active");
    }
    handle.stop().await.unwrap();
    assert_eq!(
        decision::acknowledge_timeline(&pipeline).await.unwrap(),
        Decided::AlreadySo
    );
    world
        .destination
        .batch_execute("update replicant.replicant_contracts set timeline = 99")
        .await
        .unwrap();
    assert_eq!(
        decision::acknowledge_timeline(&pipeline).await.unwrap(),
        Decided::Changed
    );
    let refused = decision::reset(&pipeline, gone).await.unwrap_err();
    assert_eq!(refused.code(), "slot_exists");
    let stored = decision::show(&pipeline).await.unwrap().unwrap();
    assert!(stored.watermark.is_some() && stored.fingerprint.is_some());
    assert_eq!(stored.lease, Some("released"));
    assert_eq!(stored.tables.len(), 1);
    assert_eq!(stored.decisions[0].decision, "acknowledge timeline");
    assert_eq!(stored.decisions.len(), 5, "{:#?}", stored.decisions);
    assert_eq!(
        decision::reset(&pipeline, keep).await.unwrap(),
        Decided::Changed
    );
    assert_eq!(decision::show(&pipeline).await.unwrap(), None);
}

/// The owner is another process; killed, it counts for as long as its lease.
#[tokio::test(flavor = "multi_thread")]
async fn another_processs_pipeline_is_not_decided_about_until_its_lease_has_run_out() {
    let world = World::same(TABLES).await;
    let program = env!("CARGO_BIN_EXE_mirror-process");
    let mut process = MirrorProcess::spawn(program, &world, &["t"], Launch::default()).await;
    streaming(&world).await;
    let pipeline = world
        .pipeline(world.specification(&["t"]).await.build())
        .await;
    let flush = Position::Flush(EndLsn::new(Lsn::new(256)));
    let keep = SlotOnSource::MayStay;
    for refused in [
        decision::adopt(&pipeline, flush).await,
        decision::reset(&pipeline, keep).await,
        decision::acknowledge_timeline(&pipeline).await,
    ] {
        assert_eq!(refused.unwrap_err().code(), "slot_already_active");
    }
    // Looking changes nothing and is allowed.
    let shown = decision::show(&pipeline).await.unwrap().unwrap();
    assert_eq!((shown.lease, shown.decisions.len()), (Some("live"), 0));
    process.kill().await;
    let refused = decision::reset(&pipeline, keep).await;
    assert_eq!(refused.unwrap_err().code(), "slot_already_active");
    let decided = wait_for("the lease to run out", DEADLINE, async || {
        decision::reset(&pipeline, keep).await.ok()
    });
    assert_eq!(decided.await.unwrap(), Decided::Changed);
    let again = decision::reset(&pipeline, keep).await;
    assert_eq!(again.unwrap(), Decided::AlreadySo);
    let recorded =
        "select count(*)::text from replicant.replicant_decisions where decision = 'reset'";
    assert_eq!(world.destination_text(recorded).await, "1");
}
