//! Bind compares before it writes, and waits for whoever writes.

use replicant_checkpoint::Reason;
use replicant_checkpoint::store::operator::Position;
use replicant_checkpoint::store::{Binding, LeaseLock, Outcome, Standing};
use replicant_transport::position::{Lsn, WalEnd};

use crate::fixture::{Fixture, commit, end, key, manifest, name, one, until_blocked};

#[tokio::test]
async fn a_new_slot_gets_rows_without_a_position() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let bound = fixture.bound(&mut session.client, "a").await;
    assert_eq!(bound.outcome(), Outcome::Initialised);
    assert_eq!((bound.watermark(), bound.acked_end()), (None, None));
    assert_eq!(fixture.positions(&session.client).await, (None, None));
    let row = session
        .client
        .query_one(
            &format!(
                "select system_id, database, slot, timeline, manifest, fingerprint = pg_catalog.sha256(manifest) from {}",
                fixture.table("replicant_contracts")
            ),
            &[],
        )
        .await
        .unwrap();
    assert_eq!(row.get::<_, &str>(0), "7431250023019842563");
    assert_eq!(row.get::<_, &str>(1), "shop");
    assert_eq!(row.get::<_, &str>(2), "shop_orders");
    assert_eq!(row.get::<_, i64>(3), 1);
    assert_eq!(row.get::<_, Vec<u8>>(4), fixture.manifest.encode());
    assert!(row.get::<_, bool>(5));
}

#[tokio::test]
async fn an_unchanged_contract_is_not_written_and_positions_survive() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    fixture.started(&mut session.client, "a").await;
    let before = contract_version(&fixture, &session.client).await;
    let again = fixture.bound(&mut session.client, "a").await;
    assert_eq!(again.outcome(), Outcome::Unchanged);
    assert_eq!(again.acked_end(), Some(end(1000)));
    assert_eq!(before, contract_version(&fixture, &session.client).await);
}

#[tokio::test]
async fn growth_replaces_the_contract_and_nothing_else() {
    let mut fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    fixture.started(&mut session.client, "a").await;
    fixture.manifest = manifest(&["items", "orders"]);
    let grown = fixture.bound(&mut session.client, "a").await;
    assert_eq!(grown.outcome(), Outcome::Grown);
    assert_eq!(
        fixture.positions(&session.client).await,
        (Some(999), Some(1000))
    );
    let again = fixture.bound(&mut session.client, "a").await;
    assert_eq!(again.outcome(), Outcome::Unchanged);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    fixture.started(&mut session.client, "a").await;
    let foreign = key("7431250023019842563/other", "shop_orders");
    let fewer = manifest(&["items"]);
    let good = fixture.binding("b");
    let before = everything(&fixture, &session.client).await;
    for (binding, reason) in [
        (
            Binding {
                key: &foreign,
                ..good
            },
            Reason::SourceIdentityRebound,
        ),
        (
            Binding {
                timeline: 2,
                ..good
            },
            Reason::SourceTimelineChanged,
        ),
        (
            // The watermark is 999: not beyond, but the acked end is.
            Binding {
                wal_end: WalEnd::new(Lsn::new(999)),
                ..good
            },
            Reason::SourceBehindWatermark,
        ),
        (
            Binding {
                wal_end: WalEnd::new(Lsn::new(998)),
                ..good
            },
            Reason::SourceBehindWatermark,
        ),
        (
            Binding {
                manifest: &fewer,
                ..good
            },
            Reason::PublicationContractIncompatible,
        ),
    ] {
        let error = fixture.store.bind(&mut session.client, &binding).await;
        let error = error.unwrap_err();
        assert_eq!(error.reason(), reason);
        assert_eq!(before, everything(&fixture, &session.client).await);
        if reason == Reason::PublicationContractIncompatible {
            assert!(error.to_string().contains("relation_removed"), "{error}");
        }
    }
    // The old owner was not disturbed.
    fixture.bound(&mut session.client, "a").await;
}

#[tokio::test]
async fn a_contract_that_does_not_match_its_fingerprint_is_incompatible() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    fixture.bound(&mut session.client, "a").await;
    let table = fixture.table("replicant_contracts");
    // The first is a contract from which ours has grown; only its fingerprint gives it away.
    for damage in [manifest(&[]).encode(), vec![0]] {
        let sql = format!("update {table} set manifest = $1");
        session.client.execute(&sql, &[&damage]).await.unwrap();
        let error = fixture
            .store
            .bind(&mut session.client, &fixture.binding("a"))
            .await
            .unwrap_err();
        assert_eq!(error.reason(), Reason::PublicationContractIncompatible);
        assert!(error.to_string().contains("stored_contract_invalid"));
    }
}

#[tokio::test]
async fn an_adopted_watermark_beyond_the_source_is_refused() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let position = Position::Commit(commit(3000));
    let store = &fixture.store;
    store
        .adopt(&mut session.client, &fixture.key, position)
        .await
        .unwrap();
    for (wal_end, fits) in [(2999, false), (3000, true)] {
        let binding = Binding {
            wal_end: WalEnd::new(Lsn::new(wal_end)),
            ..fixture.binding("a")
        };
        let bound = store.bind(&mut session.client, &binding).await;
        let reason = bound.map_err(|error| error.reason()).map(drop);
        let expected = if fits {
            Ok(())
        } else {
            Err(Reason::SourceBehindWatermark)
        };
        assert_eq!(reason, expected);
    }
}

#[tokio::test]
async fn racing_binders_get_different_epochs_and_only_the_last_may_write() {
    let fixture = Fixture::new().await;
    let mut sessions = Vec::new();
    for _ in 0..6 {
        sessions.push(fixture.session().await);
    }
    let binds = sessions.iter_mut().map(|session| async {
        let bound = fixture.bound(&mut session.client, "any").await;
        (bound, &session.client)
    });
    let mut bound = futures_join(binds).await;
    bound.sort_by_key(|(bound, _)| bound.epoch());
    bound.dedup_by_key(|(bound, _)| bound.epoch());
    assert_eq!(bound.len(), 6);
    let initialised = |bound: &replicant_checkpoint::store::Bound| {
        usize::from(bound.outcome() == Outcome::Initialised)
    };
    assert_eq!(
        bound
            .iter()
            .map(|(bound, _)| initialised(bound))
            .sum::<usize>(),
        1
    );
    let (last, client) = bound.pop().unwrap();
    let slot = fixture.slot(1000, replicant_transport::source::SlotProvenance::Reused);
    fixture
        .store
        .origin(client, &last, &slot, &[])
        .await
        .unwrap();
    for (old, client) in &bound {
        let error = fixture.store.begin(client, old).await.unwrap_err();
        assert_eq!(error.reason(), Reason::LeaseLost);
    }
}

#[tokio::test]
async fn racing_binders_of_two_sources_leave_one_row() {
    let fixture = Fixture::new().await;
    let foreign = key("7431250023019842563/other", "shop_orders");
    let (mut a, mut b) = (fixture.session().await, fixture.session().await);
    let other = Binding {
        key: &foreign,
        ..fixture.binding("b")
    };
    let ours = fixture.binding("a");
    let (a, b) = tokio::join!(
        fixture.store.bind(&mut a.client, &ours),
        fixture.store.bind(&mut b.client, &other)
    );
    let (won, lost) = if a.is_ok() { (a, b) } else { (b, a) };
    won.unwrap();
    assert_eq!(lost.unwrap_err().reason(), Reason::SourceIdentityRebound);
}

#[tokio::test]
async fn a_new_owner_waits_for_the_old_ones_open_delivery_and_then_fences_it() {
    let fixture = Fixture::new().await;
    let (mut old, mut new) = (fixture.session().await, fixture.session().await);
    let observer = fixture.session().await;
    let mine = fixture.started(&mut old.client, "old").await;
    let paused = fixture.store.begin(&old.client, &mine).await.unwrap();
    let new_pid = new.pid;
    let binding = fixture.binding("new");
    let (bound, committed) = tokio::join!(fixture.store.bind(&mut new.client, &binding), async {
        until_blocked(&observer.client, new_pid).await;
        paused.commit(commit(2000), end(2008)).await
    });
    committed.unwrap();
    // What the old owner committed while the new one waited is what the new one starts from.
    assert_eq!(bound.unwrap().acked_end(), Some(end(2008)));
    let error = fixture.store.begin(&old.client, &mine).await.unwrap_err();
    assert_eq!(error.reason(), Reason::LeaseLost);
    let idle = fixture
        .store
        .record_idle(&old.client, &mine, end(9000))
        .await;
    assert_eq!(idle.unwrap_err().reason(), Reason::LeaseLost);
    assert_eq!(
        fixture.positions(&observer.client).await,
        (Some(2000), Some(2008))
    );
}

#[tokio::test]
async fn who_has_nothing_to_show_waits_for_the_end_of_a_live_lease() {
    let fixture = Fixture::new().await;
    let (mut a, mut b) = (fixture.session().await, fixture.session().await);
    let held = fixture
        .bound(&mut a.client, "shop-1#0123456789abcdef")
        .await;
    let applicant = Binding {
        standing: Standing::Applicant,
        ..fixture.binding("b")
    };
    let refused = fixture.store.bind(&mut b.client, &applicant).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.reason(), Reason::SlotOwnedElsewhere);
    let said = refused.to_string();
    assert!(said.contains("shop-1#0123456789abcdef, since 20"), "{said}");
    let mine = Binding {
        standing: Standing::Owner,
        ..fixture.binding("shop-1#0123456789abcdef")
    };
    let again = fixture.store.bind(&mut a.client, &mine).await.unwrap();
    assert!(again.epoch() > held.epoch());
    fixture.store.release(&a.client, &again).await.unwrap();
    fixture.store.bind(&mut b.client, &applicant).await.unwrap();
}

#[tokio::test]
async fn a_lease_keeps_the_beginning_of_its_owner_over_every_bind() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let since = async |client: &tokio_postgres::Client| {
        let lease = fixture.store.lease(client, &fixture.key).await.unwrap();
        lease.unwrap().since.unwrap()
    };
    fixture.bound(&mut session.client, "a").await;
    let first = since(&session.client).await;
    fixture.bound(&mut session.client, "a").await;
    assert_eq!(since(&session.client).await, first);
    fixture.bound(&mut session.client, "b").await;
    assert_ne!(since(&session.client).await, first);
}

#[tokio::test]
async fn an_owner_that_lost_its_lease_does_not_bind_again() {
    let fixture = Fixture::new().await;
    let (mut a, mut b) = (fixture.session().await, fixture.session().await);
    fixture.started(&mut a.client, "a").await;
    let bound = fixture.bound(&mut b.client, "b").await;
    let again = Binding {
        standing: Standing::Owner,
        ..fixture.binding("a")
    };
    // Whether the new owner lives, has stopped or was forgotten.
    let lost = fixture.store.bind(&mut a.client, &again).await;
    assert_eq!(lost.unwrap_err().reason(), Reason::LeaseLost);
    fixture.store.release(&b.client, &bound).await.unwrap();
    let lost = fixture.store.bind(&mut a.client, &again).await;
    assert_eq!(lost.unwrap_err().reason(), Reason::LeaseLost);
    fixture
        .store
        .reset(&mut b.client, &fixture.key)
        .await
        .unwrap();
    let lost = fixture.store.bind(&mut a.client, &again).await;
    assert_eq!(lost.unwrap_err().reason(), Reason::LeaseLost);
}

#[tokio::test]
async fn a_decision_ends_an_owner_whose_lease_had_expired() {
    let fixture = Fixture::new().await;
    let (mut a, mut b) = (fixture.session().await, fixture.session().await);
    fixture.started(&mut a.client, "a").await;
    let expire = format!(
        "update {} set expires_at = pg_catalog.clock_timestamp()",
        fixture.table("replicant_leases")
    );
    b.client.batch_execute(&expire).await.unwrap();
    let store = &fixture.store;
    store
        .acknowledge_timeline(&mut b.client, &fixture.key, 2)
        .await
        .unwrap();
    let again = Binding {
        standing: Standing::Owner,
        timeline: 2,
        ..fixture.binding("a")
    };
    let lost = store.bind(&mut a.client, &again).await;
    assert_eq!(lost.unwrap_err().reason(), Reason::LeaseLost);
}

#[tokio::test]
async fn the_lock_of_a_lease_ends_with_its_connection() {
    let fixture = Fixture::unmigrated(None).await;
    let (a, b) = (fixture.session().await, fixture.session().await);
    let (store, key) = (&fixture.store, &fixture.key);
    let look = async |client: &tokio_postgres::Client| store.lease_lock(client, key).await;
    assert_eq!(look(&a.client).await, Ok(LeaseLock::Free));
    let ours = Ok(LeaseLock::Ours);
    let elsewhere = Ok(LeaseLock::Elsewhere);
    assert_eq!(store.try_lease_lock(&a.client, key).await, ours);
    assert_eq!(store.try_lease_lock(&b.client, key).await, elsewhere);
    assert_eq!(look(&a.client).await, ours);
    assert_eq!(look(&b.client).await, elsewhere);
    // Another slot of the same source has another lock.
    let other = crate::fixture::key("7431250023019842563/shop", "shop_items");
    assert_eq!(store.try_lease_lock(&b.client, &other).await, ours);
    store.lease_unlock(&a.client, key).await.unwrap();
    assert_eq!(look(&b.client).await, Ok(LeaseLock::Free));
    assert_eq!(store.try_lease_lock(&a.client, key).await, ours);
    let ended = format!("select pg_catalog.pg_terminate_backend({})", a.pid);
    b.client.batch_execute(&ended).await.unwrap();
    while look(&b.client).await != Ok(LeaseLock::Free) {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.try_lease_lock(&b.client, key).await, ours);
}

#[tokio::test]
async fn a_destination_table_belongs_to_one_slot() {
    let fixture = Fixture::new().await;
    let mut session = fixture.session().await;
    let other = key("7431250023019842563/shop", "shop_items");
    let (first, second) = (
        [name("m.orders"), name("m.a")],
        [name("m.b"), name("m.orders")],
    );
    let ours = Binding {
        targets: &first,
        ..fixture.binding("a")
    };
    let theirs = Binding {
        key: &other,
        targets: &second,
        ..fixture.binding("b")
    };
    fixture
        .store
        .bind(&mut session.client, &ours)
        .await
        .unwrap();
    fixture
        .store
        .bind(&mut session.client, &ours)
        .await
        .unwrap();
    let error = fixture
        .store
        .bind(&mut session.client, &theirs)
        .await
        .unwrap_err();
    assert_eq!(error.reason(), Reason::DestinationTargetClaimed);
    assert_eq!(error.site().table, Some(name("m.orders")));
    let rows: i64 = one(
        &session.client,
        &format!(
            "select pg_catalog.count(*) from {}",
            fixture.table("replicant_targets")
        ),
    )
    .await;
    assert_eq!(rows, 2);
}

async fn futures_join<T>(futures: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut pending: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut done = Vec::new();
    std::future::poll_fn(|cx| {
        pending.retain_mut(|future| match future.as_mut().poll(cx) {
            std::task::Poll::Ready(value) => {
                done.push(value);
                false
            }
            std::task::Poll::Pending => true,
        });
        if pending.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done
}

async fn contract_version(fixture: &Fixture, client: &tokio_postgres::Client) -> String {
    let table = fixture.table("replicant_contracts");
    one(
        client,
        &format!("select xmin::pg_catalog.text from {table}"),
    )
    .await
}

/// The three rows with the transactions that wrote them.
async fn everything(fixture: &Fixture, client: &tokio_postgres::Client) -> String {
    let mut all = String::new();
    for name in [
        "replicant_watermarks",
        "replicant_contracts",
        "replicant_leases",
    ] {
        let table = fixture.table(name);
        let sql = format!(
            "select pg_catalog.string_agg(pg_catalog.concat(stored.xmin, stored), ';') from {table} as stored"
        );
        all += &one::<String>(client, &sql).await;
    }
    all
}
