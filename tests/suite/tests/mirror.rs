//! Does a mirror hold what its source holds?

use replicant_tests::World;
use replicant_tests::compare::assert_equal;

#[tokio::test(flavor = "multi_thread")]
async fn inserts_updates_and_deletes_arrive() {
    let world = World::same("create table t (id int primary key, v text)").await;
    let handle = world.mirror(&["t"]).await;
    world
        .run("insert into t values (1, 'a'), (2, 'b'), (3, null)")
        .await;
    world
        .run("update t set v = 'c' where id = 2; delete from t where id = 1")
        .await;
    assert_equal(&world, &["t"]).await;
    handle.stop().await.unwrap();
}
