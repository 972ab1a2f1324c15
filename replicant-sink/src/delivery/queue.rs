//! What waits to be delivered: whole transactions in order, bounded, and the parts of one that is too large to wait.
//!
//! The transport's task pushes, the delivery task takes. A busy destination makes the next group grow, and so does a
//! backlog; an idle one gets a single transaction at once. Of a large transaction an idle one gets what is there, part
//! after part: memory stays bounded whatever its size, and the destination does not wait for its end.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use replicant_transport::ack::{IdlePoint, Receipt};
use replicant_transport::change::Change;
use replicant_transport::sink::Begin;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::error::Error;

mod gather;
mod work;

use gather::{GATHER_MAX, Source, is_enough, is_part};
pub use work::{GroupLimits, IdleOutcome, Part, PartEnd, Whole, Work};

#[derive(Debug, Default)]
struct State {
    whole: VecDeque<Whole>,
    open: Option<Open>,
    idle: Option<(IdlePoint, oneshot::Sender<IdleOutcome>)>,
    rows: usize,
    bytes: usize,
    phase: Phase,
    hands: Hands,
    source: Source,
}

impl State {
    /// Is a transaction handed over in parts, whose end was not taken?
    fn delivers_parts(&self) -> bool {
        matches!(&self.open, Some(open) if !matches!(open.delivery, OpenDelivery::Waiting))
    }
}

/// What the delivery task finds.
enum Found {
    Work(Work),
    /// Whole transactions, which others may soon join.
    Gathering,
    Nothing,
}

/// How long whole transactions may wait for others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    Left,
    Over,
}

/// What the delivery task holds.
#[derive(Debug, Default, PartialEq, Eq)]
enum Hands {
    /// Nothing: everything it took is settled.
    #[default]
    Empty,
    /// Work it took and has not finished.
    Full,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Running,
    /// A stop was requested: what is whole is still applied, but an unreachable destination is not waited for.
    Draining,
    /// Whole transactions are still taken, then `Closed`.
    Closing,
    /// The delivery task ended with this error; every call answers with it.
    Failed(Error),
}

#[derive(Debug)]
struct Open {
    begin: Begin,
    changes: Vec<Change>,
    delivery: OpenDelivery,
}

#[derive(Debug)]
enum OpenDelivery {
    /// Waits for its commit.
    Waiting,
    /// Its first part was taken.
    InParts,
    /// Taken in parts and now ended; the end is handed over with the last part.
    Ended(PartEnd),
}

/// The bounded queue between the transport's calls and the delivery task.
#[derive(Debug)]
pub struct Queue {
    limits: GroupLimits,
    state: Mutex<State>,
    /// Something was pushed.
    filled: Notify,
    /// Something was taken, or the delivery task failed.
    drained: Notify,
    /// Nothing new will come; waiting for an unreachable destination is over.
    ending: Notify,
}

impl Queue {
    /// An empty queue.
    pub fn new(limits: GroupLimits) -> Self {
        Self {
            limits,
            state: Mutex::new(State::default()),
            filled: Notify::new(),
            drained: Notify::new(),
            ending: Notify::new(),
        }
    }

    /// Opens a transaction, after the last part of a large one before it was taken.
    ///
    /// # Errors
    /// The delivery task's error, if it failed.
    ///
    /// # Cancel safety
    /// Cancel safe: nothing is opened until the future returns.
    pub async fn begin(&self, begin: Begin) -> Result<(), Error> {
        loop {
            let drained = self.drained.notified();
            {
                let mut state = self.running()?;
                state.source = Source::Sending;
                if state.open.is_none() {
                    let delivery = OpenDelivery::Waiting;
                    state.open = Some(Open {
                        begin,
                        changes: Vec::new(),
                        delivery,
                    });
                    return Ok(());
                }
            }
            drained.await;
        }
    }

    /// Adds changes to the open transaction, waiting while the queue is full.
    ///
    /// # Errors
    /// The delivery task's error, if it failed.
    ///
    /// # Cancel safety
    /// Dropping the future may lose the batch; the caller drops it only together with the session.
    pub async fn changes(&self, batch: Vec<Change>) -> Result<(), Error> {
        self.wait_for_room().await?;
        let mut state = self.running()?;
        state.rows += batch.len();
        state.bytes += batch.iter().map(|change| change.bytes).sum::<usize>();
        if let Some(open) = &mut state.open {
            open.changes.extend(batch);
        }
        let due = self.part_is_due(&state);
        drop(state);
        if due {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Ends the open transaction with its receipt.
    ///
    /// # Errors
    /// The delivery task's error, if it failed.
    pub fn commit(&self, receipt: Receipt) -> Result<(), Error> {
        let mut state = self.running()?;
        match state.open.take() {
            Some(Open {
                changes,
                delivery: OpenDelivery::Waiting,
                ..
            }) => {
                state.whole.push_back(Whole { changes, receipt });
            }
            Some(open) => {
                let delivery = OpenDelivery::Ended(PartEnd::Commit(receipt));
                state.open = Some(Open { delivery, ..open });
            }
            // A commit without a begin cannot come from the assembler; dropping its receipt acknowledges nothing.
            None => drop(receipt),
        }
        // Whoever gathers is not woken by every transaction.
        let wake = state.whole.len() <= 1 || self.is_worth_taking(&state);
        drop(state);
        if wake {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// The source has sent all it had: nothing is gained by gathering more.
    pub fn lull(&self) {
        let mut state = self.lock();
        state.source = Source::CaughtUp;
        let wake = !state.whole.is_empty();
        drop(state);
        if wake {
            self.filled.notify_one();
        }
    }

    /// Gives up the open transaction.
    ///
    /// # Errors
    /// The delivery task's error, if it failed.
    pub fn abort(&self) -> Result<(), Error> {
        let mut state = self.running()?;
        match state.open.take() {
            // It is whole already: its commit was seen, only its last part was not taken yet.
            Some(open) if matches!(open.delivery, OpenDelivery::Ended(_)) => {
                state.open = Some(open)
            }
            Some(open) => {
                discount(&mut state, &open.changes);
                if matches!(open.delivery, OpenDelivery::InParts) {
                    let delivery = OpenDelivery::Ended(PartEnd::Abort);
                    state.open = Some(Open {
                        delivery,
                        changes: Vec::new(),
                        ..open
                    });
                }
            }
            None => {}
        }
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Asks the delivery task to record an idle point.
    ///
    /// # Errors
    /// The delivery task's error, if it failed.
    pub fn idle(&self, point: IdlePoint) -> Result<oneshot::Receiver<IdleOutcome>, Error> {
        let (sender, receiver) = oneshot::channel();
        self.running()?.idle = Some((point, sender));
        self.filled.notify_one();
        Ok(receiver)
    }

    /// Waits until everything whole is durable. A transaction that waits for its commit does not count.
    ///
    /// # Errors
    /// The delivery task's error, if it failed.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn quiet(&self) -> Result<(), Error> {
        loop {
            let drained = self.drained.notified();
            {
                let state = self.running()?;
                if state.whole.is_empty() && state.hands == Hands::Empty && !state.delivers_parts()
                {
                    return Ok(());
                }
            }
            drained.await;
        }
    }

    /// Lets the delivery task finish what is whole and end; what is not whole is dropped.
    pub fn close(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Running | Phase::Draining) {
            state.phase = Phase::Closing;
        }
        match state.open.take() {
            Some(open) if !matches!(open.delivery, OpenDelivery::Waiting) => {
                let end = match open.delivery {
                    OpenDelivery::Ended(end) => end,
                    OpenDelivery::Waiting | OpenDelivery::InParts => PartEnd::Abort,
                };
                state.open = Some(Open {
                    delivery: OpenDelivery::Ended(end),
                    ..open
                });
            }
            Some(open) => discount(&mut state, &open.changes),
            None => {}
        }
        drop(state);
        self.filled.notify_one();
        self.ending.notify_waiters();
    }

    /// Ends the patience with an unreachable destination; what can be applied at once still is.
    pub fn hurry(&self) {
        let mut state = self.lock();
        if matches!(state.phase, Phase::Running) {
            state.phase = Phase::Draining;
        }
        drop(state);
        self.filled.notify_one();
        self.ending.notify_waiters();
    }

    /// Waits until nothing new will come.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn ending(&self) {
        loop {
            let ending = self.ending.notified();
            tokio::pin!(ending);
            // `notify_waiters` wakes only who is registered, so register before looking.
            ending.as_mut().enable();
            if !matches!(self.lock().phase, Phase::Running) {
                return;
            }
            ending.await;
        }
    }

    /// Drops everything that was not taken yet, then closes: the session ended and all of it will come again.
    pub fn abandon(&self) {
        let mut state = self.lock();
        state.whole.clear();
        state.rows = 0;
        state.bytes = 0;
        drop(state);
        self.close();
    }

    /// Makes every further call answer with this error.
    pub fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.phase = Phase::Failed(error);
        state.whole.clear();
        state.open = None;
        state.idle = None;
        drop(state);
        self.drained.notify_waiters();
        self.drained.notify_one();
    }

    /// The error the delivery task ended with.
    pub fn failure(&self) -> Option<Error> {
        match &self.lock().phase {
            Phase::Failed(error) => Some(error.clone()),
            Phase::Running | Phase::Draining | Phase::Closing => None,
        }
    }

    /// What to do next; waits until there is something.
    ///
    /// # Cancel safety
    /// Cancel safe: nothing is taken until the future returns.
    pub async fn next(&self) -> Work {
        self.lock().hands = Hands::Empty;
        self.drained.notify_one();
        let mut until: Option<Instant> = None;
        loop {
            let filled = self.filled.notified();
            let patience = match until {
                Some(until) if until <= Instant::now() => Patience::Over,
                Some(_) | None => Patience::Left,
            };
            match self.take(patience) {
                Found::Work(work) => {
                    self.drained.notify_one();
                    return work;
                }
                Found::Gathering => {
                    let until = *until.get_or_insert_with(|| Instant::now() + GATHER_MAX);
                    tokio::select! {
                        () = filled => {}
                        () = sleep_until(until) => {}
                    }
                }
                Found::Nothing => filled.await,
            }
        }
    }

    /// The next group, while the one before it is not settled yet, if it would not grow much by waiting.
    pub fn take_ahead(&self) -> Option<Vec<Whole>> {
        let mut state = self.lock();
        let (rows, bytes) = (state.rows, state.bytes);
        if state.whole.is_empty() || !is_enough(self.limits, rows, bytes) {
            return None;
        }
        let group = self.take_group(&mut state);
        drop(state);
        self.drained.notify_one();
        Some(group)
    }

    /// The next part of the transaction whose first part was taken.
    ///
    /// # Cancel safety
    /// Cancel safe: nothing is taken until the future returns.
    pub async fn next_part(&self) -> Part {
        loop {
            let filled = self.filled.notified();
            let part = self.take_part_from(&mut self.lock());
            if let Some(part) = part {
                self.drained.notify_one();
                return part;
            }
            filled.await;
        }
    }

    fn take(&self, patience: Patience) -> Found {
        let mut state = self.lock();
        if patience == Patience::Left && !state.whole.is_empty() && !self.is_worth_taking(&state) {
            return Found::Gathering;
        }
        let Some(work) = self.take_from(&mut state) else {
            return Found::Nothing;
        };
        // Under the same lock, or somebody who asks for quiet would see neither the work nor the hands that hold it.
        state.hands = Hands::Full;
        Found::Work(work)
    }

    fn is_worth_taking(&self, state: &State) -> bool {
        let awaited = state.idle.is_some() || !matches!(state.phase, Phase::Running);
        awaited
            || state.delivers_parts()
            || state.source == Source::CaughtUp
            || is_enough(self.limits, state.rows, state.bytes)
    }

    fn take_from(&self, state: &mut State) -> Option<Work> {
        if !state.whole.is_empty() {
            return Some(Work::Group(self.take_group(state)));
        }
        if let Some((point, sender)) = state.idle.take() {
            return Some(Work::Idle(point, sender));
        }
        if let Some(part) = self.take_part_from(state) {
            return Some(Work::Part(part));
        }
        match state.phase {
            Phase::Running | Phase::Draining => None,
            Phase::Closing | Phase::Failed(_) => Some(Work::Closed),
        }
    }

    fn take_group(&self, state: &mut State) -> Vec<Whole> {
        let mut group = Vec::new();
        let (mut rows, mut bytes) = (0, 0);
        while let Some(next) = state.whole.front() {
            let next_rows = next.changes.len();
            let next_bytes = next
                .changes
                .iter()
                .map(|change| change.bytes)
                .sum::<usize>();
            let fits = rows + next_rows <= self.limits.rows_max
                && bytes + next_bytes <= self.limits.bytes_max;
            if !group.is_empty() && !fits {
                break;
            }
            rows += next_rows;
            bytes += next_bytes;
            group.extend(state.whole.pop_front());
        }
        state.rows = state.rows.saturating_sub(rows);
        state.bytes = state.bytes.saturating_sub(bytes);
        group
    }

    fn take_part_from(&self, state: &mut State) -> Option<Part> {
        if !self.part_is_due(state) {
            return None;
        }
        let mut open = state.open.take()?;
        let changes = std::mem::take(&mut open.changes);
        discount(state, &changes);
        let begin = open.begin;
        let end = match open.delivery {
            OpenDelivery::Waiting | OpenDelivery::InParts => {
                state.open = Some(Open {
                    delivery: OpenDelivery::InParts,
                    ..open
                });
                PartEnd::More
            }
            OpenDelivery::Ended(end) => end,
        };
        Some(Part {
            begin,
            changes,
            end,
        })
    }

    /// A part is handed over when it is worth a statement and nothing whole waits before it, or when it is the last.
    /// While the destination is busy it grows to what the queue holds.
    fn part_is_due(&self, state: &State) -> bool {
        let Some(open) = &state.open else {
            return false;
        };
        match open.delivery {
            OpenDelivery::Ended(_) => true,
            OpenDelivery::Waiting | OpenDelivery::InParts => {
                state.whole.is_empty() && is_part(self.limits, state.rows, state.bytes)
            }
        }
    }

    fn is_full(&self, state: &State) -> bool {
        state.rows >= self.limits.rows_max || state.bytes >= self.limits.bytes_max
    }

    async fn wait_for_room(&self) -> Result<(), Error> {
        loop {
            let drained = self.drained.notified();
            if !self.is_full(&*self.running()?) {
                return Ok(());
            }
            drained.await;
        }
    }

    fn running(&self) -> Result<MutexGuard<'_, State>, Error> {
        let state = self.lock();
        match &state.phase {
            Phase::Running | Phase::Draining | Phase::Closing => Ok(state),
            Phase::Failed(error) => Err(error.clone()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while holding the lock, and the state is consistent after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn discount(state: &mut State, changes: &[Change]) {
    state.rows = state.rows.saturating_sub(changes.len());
    let bytes = changes.iter().map(|change| change.bytes).sum::<usize>();
    state.bytes = state.bytes.saturating_sub(bytes);
}

#[cfg(test)]
mod tests;
