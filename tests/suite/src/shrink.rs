//! Which part of a failing list still fails? Smaller and smaller parts are tried until none does, or time is up.

use std::time::{Duration, Instant};

/// The smallest part of `all`, in its order, that was seen to fail before the deadline; `all` itself when none was.
///
/// Halves are left out first, then quarters, down to single items. A try that is under way when time is up is finished.
pub async fn smallest<T: Clone>(
    all: &[T],
    patience: Duration,
    mut fails: impl AsyncFnMut(&[T]) -> bool,
) -> Vec<T> {
    let deadline = Instant::now() + patience;
    let mut kept = all.to_vec();
    let mut piece = kept.len().div_ceil(2);
    while piece > 0 && !kept.is_empty() {
        let mut at = 0;
        let mut smaller = false;
        while at < kept.len() {
            if Instant::now() > deadline {
                return kept;
            }
            let end = kept.len().min(at + piece);
            let rest = [&kept[..at], &kept[end..]].concat();
            if fails(&rest).await {
                kept = rest;
                smaller = true;
            } else {
                at = end;
            }
        }
        if piece == 1 && !smaller {
            break;
        }
        piece = if piece == 1 { 1 } else { piece.div_ceil(2) };
        piece = piece.min(kept.len());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn only_what_is_needed_to_fail_is_kept_in_its_order() {
        let all: Vec<u32> = (0..100).collect();
        let mut tries = 0;
        let kept = smallest(&all, LONG, async |part: &[u32]| {
            tries += 1;
            [17, 18, 80].iter().all(|needed| part.contains(needed))
        });
        assert_eq!(kept.await, [17, 18, 80]);
        assert!(tries < 200, "{tries} tries");
    }

    #[tokio::test]
    async fn what_fails_alone_or_always_or_never_again_ends() {
        let all = [1, 2, 3];
        assert_eq!(
            smallest(&all, LONG, async |part: &[i32]| part.contains(&2)).await,
            [2]
        );
        assert_eq!(smallest(&all, LONG, async |_: &[i32]| true).await, [0; 0]);
        assert_eq!(smallest(&all, LONG, async |_: &[i32]| false).await, all);
        assert_eq!(
            smallest(&[0; 0], LONG, async |_: &[i32]| true).await,
            [0; 0]
        );
    }

    #[tokio::test]
    async fn time_that_is_up_leaves_what_was_found_so_far() {
        let all: Vec<u32> = (0..64).collect();
        let none = Duration::ZERO;
        let kept = smallest(&all, none, async |part: &[u32]| part.contains(&5));
        assert!(kept.await.contains(&5));
    }
}
