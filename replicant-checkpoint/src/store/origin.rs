//! Where may the stream start: does the slot still have everything the destination does not?

use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;
use replicant_transport::position::{EndLsn, Lsn, Watermark};
use replicant_transport::source::{Slot, SlotProvenance};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::bind::Bound;
use super::committed::Committed;
use super::delivery::no_position;
use super::identity::{Holds, Mapped};
use super::rows::Positions;
use super::tables::Completeness;
use super::transaction::Open;
use super::{FENCE, Store};
use crate::error::Error;
use crate::reason::Reason;

impl Store {
    /// Compares the slot with what is durable, and the `mapped` source tables with those that were streamed before. On
    /// the first start it makes the slot's position the starting point and records which tables are complete: those
    /// that were empty then on both sides.
    ///
    /// Only a checkpoint without an acked end is initialised. A slot that was just created has forgotten everything
    /// before it, so it fits only a checkpoint that was never positioned.
    ///
    /// # Errors
    /// `destination_behind_slot`, for append logs `append_origin_gap`, when transactions the destination lacks would
    /// never be sent again; `append_frontier_divergent`; `source_behind_watermark` when a history is ahead of the
    /// source; `source_table_replaced`, `source_column_replaced`; `lease_lost`; `checkpoint_unbound`.
    ///
    /// # Cancel safety
    /// Dropping the future rolls back what was not committed; call it again.
    pub async fn origin(
        &self,
        client: &Client,
        bound: &Bound,
        slot: &Slot,
        mapped: &[Mapped],
    ) -> Result<Committed, Error> {
        if slot.name != bound.key().slot {
            return Err(Error::new(
                Reason::CheckpointInvalid,
                Site::option("slot_name"),
            ));
        }
        let seen = self.warnings.seen();
        let open = Open::new(client);
        let stored = self.lock(client, bound, None).await?;
        let start = compare(stored, slot, Behind::of(mapped))?;
        let new = self.identify(client, bound, mapped).await?;
        let start = match start {
            Start::Resume(committed) => {
                self.record_histories(client, bound, &new).await?;
                self.refuse_events_beyond(client, bound, committed, mapped)
                    .await?;
                committed
            }
            Start::First(committed, moved) => {
                self.write_start(client, bound, moved).await?;
                let all: Vec<&Mapped> = mapped.iter().collect();
                self.record_histories(client, bound, &all).await?;
                let complete = complete(client, &slot.provenance, mapped).await?;
                self.write_completeness(client, bound, &complete).await?;
                committed
            }
        };
        open.commit().await?;
        self.warnings.none_since(seen)?;
        Ok(start)
    }

    async fn write_start(&self, client: &Client, bound: &Bound, moved: Moved) -> Result<(), Error> {
        let sql = format!(
            "update {} set acked_end = $5, watermark = $6 where {FENCE} and acked_end is null",
            self.table("replicant_watermarks")
        );
        let mut params = bound.fence();
        params.push((&moved.acked_end, Type::INT8));
        params.push((&moved.watermark, Type::INT8));
        match client.execute_typed(&sql, &params).await? {
            1 => Ok(()),
            _ => Err(no_position()),
        }
    }
}

enum Start {
    Resume(Committed),
    First(Committed, Moved),
}

struct Moved {
    acked_end: i64,
    watermark: i64,
}

/// What it means that the slot has forgotten something.
#[derive(Clone, Copy)]
enum Behind {
    /// Rows are missing from a mirror.
    Mirror,
    /// A log would have a hole.
    Log,
}

impl Behind {
    fn of(mapped: &[Mapped]) -> Self {
        let log = |table: &Mapped| matches!(table.holds, Holds::Events { .. });
        if mapped.iter().any(log) {
            Self::Log
        } else {
            Self::Mirror
        }
    }

    fn reason(self) -> Reason {
        match self {
            Self::Mirror => Reason::DestinationBehindSlot,
            Self::Log => Reason::AppendOriginGap,
        }
    }
}

fn compare(stored: Positions, slot: &Slot, meaning: Behind) -> Result<Start, Error> {
    let created = matches!(slot.provenance, SlotProvenance::Created { .. });
    let behind = |stored: Lsn| {
        Err(Error::new(
            meaning.reason(),
            Site::none()
                .lsn(stored)
                .fact(format!("the slot starts at {}", slot.origin)),
        ))
    };
    match (stored.acked_end, stored.watermark) {
        (Some(acked), _) if created || slot.origin > acked => behind(acked.lsn()),
        (Some(acked), Some(watermark)) => Ok(Start::Resume(Committed::new(watermark, acked))),
        (Some(_), None) => Err(no_position()),
        // An operator adopted a commit and trusted the existing slot; a new slot cannot have kept what follows it.
        (None, Some(watermark)) if created => behind(watermark.lsn()),
        (None, watermark) => first(slot.origin, watermark),
    }
}

fn first(origin: EndLsn, adopted: Option<Watermark>) -> Result<Start, Error> {
    let handoff = Watermark::before(origin);
    let watermark = adopted.map_or(handoff, |adopted| adopted.max(handoff));
    let bigint = |lsn: Lsn| {
        lsn.to_bigint()
            .ok_or_else(|| Error::new(Reason::CheckpointPositionInvalid, Site::none().lsn(lsn)))
    };
    Ok(Start::First(
        Committed::new(watermark, origin),
        Moved {
            acked_end: bigint(origin.lsn())?,
            watermark: bigint(watermark.lsn())?,
        },
    ))
}

/// Tables whose every row will come through the stream, into a destination that holds no other.
async fn complete(
    client: &Client,
    provenance: &SlotProvenance,
    mapped: &[Mapped],
) -> Result<Vec<(QualifiedName, Completeness)>, Error> {
    let SlotProvenance::Created { empty_tables } = provenance else {
        return Ok(Vec::new());
    };
    let mut complete = Vec::new();
    for table in mapped {
        // What the schemas of tenants hold is never known to be all of it: they come and go.
        if !empty_tables.contains(&table.source) || table.held_in != [table.target.clone()] {
            continue;
        }
        let sql = format!("select from {} limit 1", table.target.quoted());
        if client.query_typed_opt(&sql, &[]).await?.is_none() {
            complete.push((table.source.clone(), Completeness::Complete));
        }
    }
    Ok(complete)
}
