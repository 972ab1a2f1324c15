//! Why the checkpoint refuses: the closed list of this crate's reasons.

use replicant_transport::closed_reasons;
use replicant_transport::reason::Class;

use crate::contract::rules::Rule;
use replicant_transport::reason::Reason as Transport;

impl Rule {
    /// What a broken rule means for a pipeline, which it stops as it stops the compiler.
    ///
    /// It stands here because the contract itself knows no classes.
    pub const fn class(self) -> Class {
        Class::Terminal
    }
}

closed_reasons! {
    /// Why the checkpoint refused, or why its rows could not be read or written.
    pub enum Reason {
        // The checkpoint itself.
        /// The checkpoint's name is not usable.
        CheckpointInvalid = "checkpoint_invalid", Terminal,
            "Correct the schema or role named in the checkpoint declaration.";
        /// The checkpoint tables do not exist.
        CheckpointNotMigrated = "checkpoint_not_migrated", Terminal,
            "Run the checkpoint migration on the destination.";
        /// The checkpoint tables were written by a newer release.
        CheckpointFormatUnknown = "checkpoint_format_unknown", Terminal,
            "Use the release that wrote the checkpoint, or a newer one.";
        /// A checkpoint row does not exist, or has no starting position yet.
        CheckpointUnbound = "checkpoint_unbound", OperatorDecision,
            "The checkpoint row is gone or was never given a position; bind again, or adopt a position.";
        /// A checkpoint row holds something this program never writes.
        CheckpointDamaged = "checkpoint_damaged", OperatorDecision,
            "Somebody edited the checkpoint; reset it and start over, or adopt a known position.";
        /// A position is not representable, or lies behind what is already durable.
        CheckpointPositionInvalid = "checkpoint_position_invalid", Terminal,
            "A commit must lie past the watermark and below 2^63; report this with the log.";

        // Binding.
        /// The slot name is bound to another source.
        SourceIdentityRebound = "source_identity_rebound", OperatorDecision,
            "The checkpoint belongs to another source; reset it if that source is really gone.";
        /// The source is on another timeline than at the last bind.
        SourceTimelineChanged = "source_timeline_changed", OperatorDecision,
            "The source was promoted or restored; compare it with the mirror, then acknowledge the timeline.";
        /// The source's WAL ends before what the destination has already applied.
        SourceBehindWatermark as Transport::SourceBehindWatermark;
        /// The declaration changed in a way that stored positions do not survive.
        PublicationContractIncompatible = "publication_contract_incompatible", OperatorDecision,
            "Undo the change, or reset the checkpoint and fill the mirror again.";
        /// Another sink writes that destination table.
        DestinationTargetClaimed = "destination_target_claimed", Terminal,
            "One destination table has one sink; remove the resource from one of them.";
        /// A source table was dropped and created again under the same name.
        SourceTableReplaced as Transport::SourceTableReplaced;
        /// A source column was dropped and added again under the same name and type.
        SourceColumnReplaced as Transport::SourceColumnReplaced;
        /// The slot has moved past what the destination made durable.
        DestinationBehindSlot = "destination_behind_slot", OperatorDecision,
            "The destination lost commits, or the slot was moved; fill the mirror again, or adopt the position.";
        /// The same for an append log: it would have a hole.
        AppendOriginGap = "append_origin_gap", OperatorDecision,
            "What the slot has forgotten cannot be appended any more; start a new log, or adopt the position and accept the hole.";
        /// An append log holds events that its checkpoint does not know of.
        AppendFrontierDivergent = "append_frontier_divergent", OperatorDecision,
            "The checkpoint was restored or edited alone; reset it with `--keep-slot`: events that exist are kept as they are.";

        // Ownership.
        /// The pipeline runs.
        SlotAlreadyActive = "slot_already_active", Terminal,
            "Stop the running pipeline first; its lease ends by itself when it is gone.";
        /// Another process runs the pipeline.
        SlotOwnedElsewhere = "slot_owned_elsewhere", Terminal,
            "One process runs a pipeline; stop the other one, or stand by for its end with takeover = wait.";
        /// Another process took over.
        LeaseLost = "lease_lost", Terminal,
            "Another process now owns this slot; nothing was written after it took over.";

        // Operator decisions.
        /// The position to adopt contradicts the one that is stored.
        CheckpointAdoptConflict = "checkpoint_adopt_conflict", OperatorDecision,
            "Reset the checkpoint first if the stored position is really wrong.";
        /// There is nothing to which the decision could apply.
        CheckpointAdoptInvalid = "checkpoint_adopt_invalid", Terminal,
            "Check source and slot; `checkpoint show` prints what is stored.";

        // The destination.
        /// The destination could not be reached, or the connection broke.
        CheckpointUnreachable = "checkpoint_unreachable", Transient,
            "Check the destination server and the network; trying again is safe.";
        /// A deadlock, lock timeout or serialization failure.
        CheckpointContended = "checkpoint_contended", Transient,
            "Another session locks the checkpoint; trying again is safe.";
        /// A commit returned, but a synchronous standby did not confirm it.
        CheckpointNotReplicated = "checkpoint_not_replicated", Transient,
            "Nothing was acknowledged; the position is read again once the standby confirms.";
        /// The destination refused a checkpoint statement.
        CheckpointRefused = "checkpoint_refused", Terminal,
            "The SQLSTATE names the condition; check privileges and disk of the destination.";
    }
}
