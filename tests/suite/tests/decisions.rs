//! Are a person's decisions about a checkpoint refused while somebody owns it, and recorded once?

use replicant_sink::decision::{self, Decided, Position, SlotOnSource};
use replicant_tests::World;
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
