//! Does the queue keep order and bounds, and does nobody wait for ever?

use std::sync::Arc;
use std::time::Duration;

use replicant_transport::position::{CommitLsn, Lsn};
use tokio::time::timeout;

use super::*;
use crate::fixture::{message, receipt};
use crate::reason::Reason;

const SOON: Duration = Duration::from_secs(5);

fn queue(rows_max: usize) -> Arc<Queue> {
    Arc::new(Queue::new(GroupLimits {
        rows_max,
        bytes_max: usize::MAX,
    }))
}

fn begin(at: u64) -> Begin {
    Begin {
        commit_lsn: Some(CommitLsn::new(Lsn::new(at))),
        committed_at: None,
        xid: 1,
    }
}

fn rows(count: usize) -> Vec<Change> {
    (0..count).map(|_| message()).collect()
}

async fn whole(queue: &Queue, at: u64, count: usize) {
    queue.begin(begin(at)).await.unwrap();
    queue.changes(rows(count)).await.unwrap();
    queue.commit(receipt(at)).unwrap();
}

async fn next(queue: &Queue) -> Work {
    timeout(SOON, queue.next()).await.expect("work is waiting")
}

fn sizes(work: Work) -> Vec<usize> {
    match work {
        Work::Group(group) => group.iter().map(|whole| whole.changes.len()).collect(),
        other => panic!("expected a group, not {other:?}"),
    }
}

#[tokio::test]
async fn an_idle_destination_takes_one_and_a_busy_one_takes_what_gathered() {
    let queue = queue(10);
    whole(&queue, 0x100, 1).await;
    assert_eq!(sizes(next(&queue).await), [1]);
    for at in [0x200, 0x300, 0x400] {
        whole(&queue, at, 2).await;
    }
    assert_eq!(sizes(next(&queue).await), [2, 2, 2]);
}

/// Is there work without waiting? What is asked is dropped again, so nothing is taken.
fn is_ready(queue: &Queue) -> bool {
    let next = std::pin::pin!(queue.next());
    futures_util::FutureExt::now_or_never(next).is_some()
}

#[tokio::test(start_paused = true)]
async fn a_backlog_is_gathered_until_the_source_has_sent_everything() {
    let queue = queue(10_000);
    for at in [0x100, 0x200] {
        whole(&queue, at, 1).await;
    }
    assert!(!is_ready(&queue));
    queue.lull();
    let before = Instant::now();
    assert_eq!(sizes(next(&queue).await), [1, 1]);
    assert_eq!(before.elapsed(), Duration::ZERO);
    // What begins after the word is a backlog again.
    whole(&queue, 0x300, 1).await;
    assert!(!is_ready(&queue));
}

#[tokio::test(start_paused = true)]
async fn a_backlog_waits_no_longer_than_its_patience_and_not_at_all_when_it_is_enough() {
    let queue = queue(10_000);
    whole(&queue, 0x100, 1).await;
    let before = Instant::now();
    assert_eq!(sizes(next(&queue).await), [1]);
    assert!(before.elapsed() >= GATHER_MAX && before.elapsed() < GATHER_MAX * 2);
    whole(&queue, 0x200, 1_500).await;
    assert!(!is_ready(&queue));
    whole(&queue, 0x300, 500).await;
    let before = Instant::now();
    assert_eq!(sizes(next(&queue).await), [1_500, 500]);
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_quiet_or_an_end_waits_for_no_gathering() {
    type Asking = fn(&Queue);
    let cases: [Asking; 2] = [Queue::hurry, Queue::close];
    for ask in cases {
        let queue = queue(10_000);
        whole(&queue, 0x100, 1).await;
        ask(&queue);
        let before = Instant::now();
        assert_eq!(sizes(next(&queue).await), [1]);
        assert_eq!(before.elapsed(), Duration::ZERO);
    }
}

#[tokio::test]
async fn a_group_ends_before_its_cap_is_passed_and_holds_at_least_one() {
    let queue = queue(10);
    whole(&queue, 0x100, 4).await;
    whole(&queue, 0x200, 4).await;
    whole(&queue, 0x300, 1).await;
    whole(&queue, 0x400, 2).await;
    assert_eq!(sizes(next(&queue).await), [4, 4, 1]);
    assert_eq!(sizes(next(&queue).await), [2]);
}

#[tokio::test]
async fn a_full_queue_makes_the_producer_wait_and_a_taken_group_lets_it_go_on() {
    let queue = queue(4);
    whole(&queue, 0x100, 4).await;
    queue.begin(begin(0x200)).await.unwrap();
    let producer = tokio::spawn({
        let queue = Arc::clone(&queue);
        async move { queue.changes(rows(1)).await }
    });
    tokio::task::yield_now().await;
    assert!(!producer.is_finished());
    assert_eq!(sizes(next(&queue).await), [4]);
    timeout(SOON, producer).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_transaction_beyond_the_cap_comes_in_parts_and_the_next_one_waits_for_its_last() {
    let queue = queue(3);
    let producer = tokio::spawn({
        let queue = Arc::clone(&queue);
        async move {
            queue.begin(begin(0x100)).await.unwrap();
            for _ in 0..4 {
                queue.changes(rows(2)).await.unwrap();
            }
            queue.commit(receipt(0x100)).unwrap();
            whole(&queue, 0x200, 1).await;
        }
    });
    let Work::Part(first) = next(&queue).await else {
        panic!("expected a part")
    };
    let mut received = first.changes.len();
    let mut end = first.end;
    while matches!(end, PartEnd::More) {
        let part = timeout(SOON, queue.next_part()).await.unwrap();
        received += part.changes.len();
        end = part.end;
    }
    assert_eq!(received, 8);
    assert!(
        matches!(end, PartEnd::Commit(receipt) if receipt.commit_lsn() == CommitLsn::new(Lsn::new(0x100)))
    );
    assert_eq!(sizes(next(&queue).await), [1]);
    timeout(SOON, producer).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_transaction_given_up_in_parts_says_so_and_one_given_up_before_leaves_nothing() {
    let queue = queue(2);
    queue.begin(begin(0x100)).await.unwrap();
    queue.changes(rows(2)).await.unwrap();
    let Work::Part(first) = next(&queue).await else {
        panic!("expected a part")
    };
    assert!(matches!(first.end, PartEnd::More));
    queue.abort().unwrap();
    let last = timeout(SOON, queue.next_part()).await.unwrap();
    assert!(matches!(last.end, PartEnd::Abort));

    queue.begin(begin(0x200)).await.unwrap();
    queue.changes(rows(1)).await.unwrap();
    queue.abort().unwrap();
    whole(&queue, 0x300, 1).await;
    assert_eq!(sizes(next(&queue).await), [1]);
}

#[tokio::test]
async fn closing_hands_out_what_is_whole_and_drops_what_is_not() {
    let queue = queue(10);
    whole(&queue, 0x100, 1).await;
    queue.begin(begin(0x200)).await.unwrap();
    queue.changes(rows(1)).await.unwrap();
    queue.close();
    assert_eq!(sizes(next(&queue).await), [1]);
    assert!(matches!(next(&queue).await, Work::Closed));
}

#[tokio::test]
async fn abandoning_drops_everything_that_was_not_taken() {
    let queue = queue(10);
    whole(&queue, 0x100, 1).await;
    queue.abandon();
    assert!(matches!(next(&queue).await, Work::Closed));
}

#[tokio::test]
async fn a_failure_reaches_whoever_waits_and_every_later_call() {
    let queue = queue(1);
    whole(&queue, 0x100, 1).await;
    queue.begin(begin(0x200)).await.unwrap();
    let producer = tokio::spawn({
        let queue = Arc::clone(&queue);
        async move { queue.changes(rows(1)).await }
    });
    tokio::task::yield_now().await;
    queue.fail(Reason::DestinationFull.into());
    let refused = timeout(SOON, producer).await.unwrap().unwrap().unwrap_err();
    assert_eq!(refused.code(), "destination_full");
    assert_eq!(
        queue.begin(begin(0x300)).await.unwrap_err().code(),
        "destination_full"
    );
    assert_eq!(
        queue.commit(receipt(0x300)).unwrap_err().code(),
        "destination_full"
    );
    assert_eq!(
        timeout(SOON, queue.quiet())
            .await
            .unwrap()
            .unwrap_err()
            .code(),
        "destination_full"
    );
}

#[tokio::test]
async fn quiet_means_that_the_last_group_was_finished_not_only_taken() {
    let queue = queue(10);
    whole(&queue, 0x100, 1).await;
    let group = next(&queue).await;
    let quiet = tokio::spawn({
        let queue = Arc::clone(&queue);
        async move { queue.quiet().await }
    });
    tokio::task::yield_now().await;
    assert!(!quiet.is_finished());
    drop(group);
    let task = tokio::spawn({
        let queue = Arc::clone(&queue);
        async move { queue.next().await }
    });
    timeout(SOON, quiet).await.unwrap().unwrap().unwrap();
    queue.close();
    timeout(SOON, task).await.unwrap().unwrap();
}

#[tokio::test]
async fn waiting_for_the_end_notices_a_hurry_before_and_after_it_began() {
    let queue = queue(10);
    let waiting = tokio::spawn({
        let queue = Arc::clone(&queue);
        async move { queue.ending().await }
    });
    tokio::task::yield_now().await;
    queue.hurry();
    timeout(SOON, waiting).await.unwrap().unwrap();
    timeout(SOON, queue.ending()).await.unwrap();
}

#[tokio::test]
async fn a_group_is_taken_ahead_when_it_is_enough_and_counts_as_in_hand_until_the_next_is_asked_for()
 {
    let queue = queue(4);
    whole(&queue, 0x100, 4).await;
    assert_eq!(sizes(next(&queue).await), [4]);
    assert!(queue.take_ahead().is_none(), "nothing is queued");
    whole(&queue, 0x200, 1).await;
    assert!(queue.take_ahead().is_none(), "it would grow by waiting");
    whole(&queue, 0x300, 3).await;
    let ahead = queue.take_ahead().expect("a full group");
    assert_eq!(sizes(Work::Group(ahead)), [1, 3]);
    whole(&queue, 0x400, 1).await;
    assert_eq!(sizes(next(&queue).await), [1]);
    let quiet = std::pin::pin!(queue.quiet());
    assert!(futures_util::FutureExt::now_or_never(quiet).is_none());
}

#[tokio::test]
async fn giving_up_does_not_undo_a_large_transaction_whose_commit_was_seen() {
    let queue = queue(2);
    queue.begin(begin(0x100)).await.unwrap();
    queue.changes(rows(2)).await.unwrap();
    let Work::Part(first) = next(&queue).await else {
        panic!("expected a part")
    };
    assert!(matches!(first.end, PartEnd::More));
    queue.changes(rows(1)).await.unwrap();
    queue.commit(receipt(0x100)).unwrap();
    queue.abort().unwrap();
    let last = timeout(SOON, queue.next_part()).await.unwrap();
    assert_eq!(last.changes.len(), 1);
    assert!(matches!(last.end, PartEnd::Commit(_)));
}
