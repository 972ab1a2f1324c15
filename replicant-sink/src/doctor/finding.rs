//! Which states can a diagnosis meet that are no reason to stop? The closed list of its own codes.

use replicant_transport::closed_reasons;

closed_reasons! {
    /// What a check found, beside the reasons a pipeline stops with.
    pub enum Finding {
        // The source.
        /// A release newer than the newest one the mirror is tested on.
        SourceReleaseUntested = "source_release_untested", OperatorDecision,
            "It may work; use a tested release, or test this one before relying on it.";
        /// A partitioned table is mirrored as one, so what happens to whole partitions is not seen.
        SourcePartitionsUnseen = "source_partitions_unseen", OperatorDecision,
            "Delete the rows before a partition is truncated, dropped or detached, and insert those of an attached one: neither is replicated.";
        /// A skipped column does not exist on the source.
        SourceSkipStale = "source_skip_stale", OperatorDecision,
            "Correct the name if it is misspelt; a column that was dropped or renamed stays listed.";

        // The slot.
        /// A walsender reads the slot.
        SlotInUse = "slot_in_use", Transient,
            "Nothing to do: somebody reads the slot; `status` tells whether it is this pipeline.";
        /// Nobody reads the slot.
        SlotIdle = "slot_idle", Transient,
            "Start the pipeline: while nobody reads the slot, the source keeps its WAL.";
        /// There is no slot, and none is needed yet.
        SlotAbsent = "slot_absent", OperatorDecision,
            "The first start creates it; until then changes on the source are not collected.";
        /// The WAL of the slot is kept within max_wal_size.
        RetentionReserved = "retention_reserved", Transient,
            "Nothing to do.";
        /// The WAL of the slot exceeds max_wal_size and is kept.
        RetentionExtended = "retention_extended", Transient,
            "Watch the source's disk; the pipeline is behind by more than max_wal_size.";
        /// The WAL of the slot is about to be removed.
        RetentionAtRisk = "retention_at_risk", OperatorDecision,
            "Start the pipeline now, or raise max_slot_wal_keep_size on the source, before the slot is lost.";
        /// The server did not tell how safe the slot's WAL is.
        RetentionUnknown = "retention_unknown", OperatorDecision,
            "Look at pg_replication_slots on the source.";
        /// The WAL of the slot is gone.
        RetentionLost = "retention_lost", OperatorDecision,
            "The slot cannot be read any more: reset the checkpoint, drop the slot and fill the mirror again.";

        // The checkpoint.
        /// Nothing is stored about the slot.
        CheckpointAbsent = "checkpoint_absent", Transient,
            "Nothing to do: the first start creates it.";
        /// A checkpoint without a starting position.
        CheckpointUnpositioned = "checkpoint_unpositioned", OperatorDecision,
            "The first start did not get as far as the slot; start again.";
        /// A checkpoint with a position.
        CheckpointBound = "checkpoint_bound", Transient,
            "Nothing to do.";
        /// No contract is stored.
        ContractUnbound = "contract_unbound", Transient,
            "Nothing to do: the first start stores it.";
        /// The stored contract is the declared one.
        ContractEqual = "contract_equal", Transient,
            "Nothing to do.";
        /// The declaration grew since the last start.
        ContractGrown = "contract_grown", OperatorDecision,
            "The next start accepts it; what was added holds only rows that change from then on.";
        /// Every mapped table holds every row of its source.
        TablesComplete = "tables_complete", Transient,
            "Nothing to do.";
        /// Some mapped tables hold only rows that changed since the start.
        TablesOpen = "tables_open", OperatorDecision,
            "A mirror that went forward over existing rows does not hold the others; fill them in if they are needed.";
        /// A snapshot is being copied.
        TablesFilling = "tables_filling", Transient,
            "Wait until the copy has finished.";

        // The owner.
        /// The owner renewed its lease recently.
        LeaseLive = "lease_live", Transient,
            "Nothing to do.";
        /// The lease is live, and no connection of its owner exists.
        LeaseUnattended = "lease_unattended", OperatorDecision,
            "The owner vanished moments ago, or reconnects to the destination; ask again in ten seconds.";
        /// Nobody ever ran the pipeline.
        LeaseAbsent = "lease_absent", OperatorDecision,
            "Start the pipeline.";
        /// The last owner stopped in good order.
        LeaseReleased = "lease_released", OperatorDecision,
            "Start the pipeline: nobody runs it.";
        /// The last owner vanished.
        LeaseExpired = "lease_expired", OperatorDecision,
            "Its process died, or cannot reach the destination; start it again.";
        /// The last owner halted for a reason this release does not know.
        TombstoneUnknown = "tombstone_unknown", OperatorDecision,
            "Another release wrote the reason; `status` prints it.";
    }
}
