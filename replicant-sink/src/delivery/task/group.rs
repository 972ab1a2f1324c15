//! Whole transactions that are applied together, taken and planned before their turn when there is time for it.

use replicant_transport::ack::Receipt;
use replicant_transport::position::CommitLsn;
use tokio::task::yield_now;

use crate::apply::Applier;
use crate::delivery::failpoint::{Step, pass};
use crate::delivery::queue::{Queue, Whole};
use crate::hooked::Stage;
use crate::plan::{Piece, Planned};

/// Whole source transactions that are applied in one destination transaction.
pub(crate) struct Group {
    pub(super) planned: Planned,
    pub(super) receipts: Vec<Receipt>,
}

/// What is to be applied.
#[derive(Clone, Copy)]
pub(super) enum Todo<'g> {
    Planned(&'g Planned),
    Pieces(&'g [Piece]),
}

impl<'g> Todo<'g> {
    pub(super) fn pieces(self) -> &'g [Piece] {
        match self {
            Self::Planned(planned) => planned.pieces(),
            Self::Pieces(pieces) => pieces,
        }
    }
}

/// Takes the next group while the destination commits one, and plans it: the checks that a destination runs at commit
/// take as long as writing the rows, and it would wait for the plan afterwards.
pub(super) async fn look_ahead(
    queue: &Queue,
    stage: &Stage,
    applier: &mut Applier,
    ahead: &mut Option<Group>,
) {
    // What hooks leave is known in its turn.
    if ahead.is_some() || stage.runs_hooks() {
        return;
    }
    // The commit is on its way before this thread is kept busy.
    yield_now().await;
    if let Some(group) = queue.take_ahead() {
        pass(Step::GroupTaken);
        let (pieces, receipts) = group.into_iter().map(split).unzip();
        let planned = applier.plan_ahead(pieces);
        *ahead = Some(Group { planned, receipts });
    }
}

pub(super) fn split(whole: Whole) -> (Piece, Receipt) {
    let Whole { changes, receipt } = whole;
    let piece = Piece {
        commit_lsn: Some(receipt.commit_lsn()),
        committed_at: Some(receipt.committed_at()),
        xid: Some(receipt.xid()),
        changes,
    };
    (piece, receipt)
}

/// Splits off the leading pieces that took effect already; commit order makes them a prefix.
pub(super) fn split_covered(
    pieces: &[Piece],
    covered: impl Fn(CommitLsn) -> bool,
) -> (&[Piece], &[Piece]) {
    let first_open = pieces
        .iter()
        .position(|piece| !piece.commit_lsn.is_some_and(&covered))
        .unwrap_or(pieces.len());
    pieces.split_at(first_open)
}
