//! Why a mirror stopped: the closed list of this crate's reasons.

use replicant_checkpoint::Reason as Checkpoint;
use replicant_checkpoint::contract::rules::Rule;
use replicant_transport::closed_reasons;
use replicant_transport::reason::Reason as Transport;

closed_reasons! {
    /// Why admission refused, delivery halted or a pipeline did not start.
    pub enum Reason {
        // Starting.
        /// An option's value is not usable.
        ConfigInvalid as Transport::ConfigInvalid;
        /// No start mode was chosen.
        StartModeRequired = "start_mode_required", Terminal,
            "Choose `go_forward` to mirror from now on; a snapshot is not available yet.";
        /// A configured option belongs to a later release.
        OptionNotAvailable = "option_not_available", Terminal,
            "Remove it; this release does not have it yet.";
        /// No expected source was configured.
        SourceIdentityRequired = "source_identity_required", Terminal,
            "Set `source_identity`; `preflight` prints the line to paste.";
        /// This process already runs a pipeline on that slot.
        SlotAlreadyActive as Checkpoint::SlotAlreadyActive;
        /// Another process runs the pipeline.
        SlotOwnedElsewhere as Checkpoint::SlotOwnedElsewhere;
        /// Another process took the pipeline over.
        LeaseLost as Checkpoint::LeaseLost;
        /// The destination took no heartbeat for as long as a lease lives.
        LeaseNotRenewed = "lease_not_renewed", Transient,
            "The slot was let go so that another process may take over; check the destination and the network.";
        /// The slot of a checkpoint that is to be forgotten still exists.
        SlotExists = "slot_exists", OperatorDecision,
            "Drop the slot on the source first; or `--keep-slot`: go forward from where it is, leaving out what is missing.";
        /// The compiled declaration breaks a rule (a hand-written specification or a version skew).
        DeclarationInvalid = "declaration_invalid", Terminal,
            "Correct the declaration; `replicant explain` describes the named rule.";
        /// Nothing tells which SQL type a column of a table that is to be written has.
        SqlTypeRequired = "sql_type_required", Terminal,
            "Name the column's type with `#[replicant(sql_type = \"...\")]`: the field's Rust type does not tell it.";

        // Source coverage.
        /// A mapped table is not published.
        SourceTableMissing = "source_table_missing", Terminal,
            "Add the table to the publication, or remove its resource.";
        /// A published table is neither mapped nor ignored.
        SourceTableUnmapped = "source_table_unmapped", Terminal,
            "Declare a resource for the table, or list it in `ignored_sources`.";
        /// A published table is both mapped and ignored.
        IgnoredSourceMapped as Rule::IgnoredSourceMapped;
        /// A table is of a kind whose changes cannot be mirrored.
        SourceTableKind = "source_table_kind", Terminal,
            "Only logged ordinary and partitioned tables publish changes; change the table or ignore it.";
        /// A mapped column does not exist on the source.
        SourceColumnMissing = "source_column_missing", Terminal,
            "Remove the field, or name the column with `#[replicant(source = \"...\")]`.";
        /// A source column is neither mapped nor skipped.
        SourceColumnUnmapped = "source_column_unmapped", Terminal,
            "Declare a field for the column, or list it in `skip(...)`.";
        /// A mapped column is not sent by the publication (column list, generated column).
        SourceColumnUnpublished = "source_column_unpublished", Terminal,
            "Publish the column, or remove the field and list the column in `skip(...)`.";
        /// Source and destination type, or source type and field type, do not form a lossless pair.
        TypePairLossy = "type_pair_lossy", Terminal,
            "Use a destination type that holds every source value, or mark the field `lossy`.";
        /// The replica identity does not carry what the mirror needs.
        SourceReplicaIdentity = "source_replica_identity", Terminal,
            "Run ALTER TABLE ... REPLICA IDENTITY as shown, on the source.";
        /// A publication leaves out operations, filters rows or differs in shape from what the mirror assumes.
        PublicationShape = "publication_shape", Terminal,
            "Alter the publication as shown, so that every change of the table is published.";

        // Destination.
        /// The destination table does not exist.
        DestinationTableMissing = "destination_table_missing", Terminal,
            "Create the table as shown, or let `migrations --tables` write it.";
        /// The destination relation is a view, foreign table or the like.
        DestinationTableKind = "destination_table_kind", Terminal,
            "Mirror into an ordinary or partitioned table.";
        /// A mapped column does not exist in the destination.
        DestinationColumnMissing = "destination_column_missing", Terminal,
            "Add the column as shown.";
        /// A destination column that nothing fills is NOT NULL without a default.
        DestinationColumnUnfilled = "destination_column_unfilled", Terminal,
            "Give the column a default, drop its NOT NULL, or declare a field for it.";
        /// Destination nullability is stricter than the source's.
        DestinationNullability = "destination_nullability", Terminal,
            "Drop NOT NULL in the destination, or declare it on the source.";
        /// A mapped destination column is generated.
        DestinationGeneratedColumn = "destination_generated_column", Terminal,
            "Drop the expression, or remove the field and list the source column in `skip(...)`.";
        /// No unique index covers the identity rows are found by.
        DestinationUniqueMissing = "destination_unique_missing", Terminal,
            "Create the unique index as shown.";
        /// A unique index would refuse the second version or event of a row.
        DestinationUniqueTooNarrow = "destination_unique_too_narrow", Terminal,
            "Drop the index as shown, or restrict it to open versions with WHERE ... IS NULL.";
        /// A foreign key cannot be satisfied in delivery order.
        DestinationForeignKey = "destination_foreign_key", Terminal,
            "Alter the constraint as shown, or use destination_constraints = trusted.";
        /// A trigger would change or veto mirrored rows.
        DestinationTrigger = "destination_trigger", Terminal,
            "Drop or disable the trigger.";
        /// A rule would rewrite mirrored statements.
        DestinationRule = "destination_rule", Terminal,
            "Drop the rule.";
        /// Row level security would hide or refuse rows.
        DestinationRowSecurity = "destination_row_security", Terminal,
            "Deliver as the table's owner, or disable row level security on it.";
        /// The delivery role lacks a privilege.
        DestinationPrivilege = "destination_privilege", Terminal,
            "Grant the privilege as shown.";
        /// The destination cannot be written: a standby, or default_transaction_read_only.
        DestinationReadOnly = "destination_read_only", Terminal,
            "Point the destination at a writable primary.";
        /// `destination_constraints = trusted` would silence something undeclared.
        DestinationTrustRefused = "destination_trust_refused", Terminal,
            "Remove what is shown, or use destination_constraints = deferred.";
        /// Two sinks write one destination table.
        DestinationTargetClaimed as Checkpoint::DestinationTargetClaimed;

        // Sealing.
        /// Rows are found by a sealed column.
        SealedColumnCompared = "sealed_column_compared", Terminal,
            "Declare a key without it: two envelopes of one value are never equal, so no row would ever be found.";
        /// A sealed column is declared, and there are no keys.
        VaultMissing = "vault_missing", Terminal,
            "Give the pipeline a vault, or set `key_file`: the declaration has sealed columns.";
        /// The keys could not be asked for.
        VaultUnavailable = "vault_unavailable", Transient,
            "The pipeline keeps trying; check the vault.";
        /// The keys could not be read.
        VaultKeysInvalid = "vault_keys_invalid", Terminal,
            "Write each key as a name, `=` and 64 hexadecimal digits, the oldest first; the last one seals.";
        /// A stored value was sealed with a key that the vault does not have.
        SealingKeyUnknown = "sealing_key_unknown", OperatorDecision,
            "Give the vault its old keys back; a key may leave it once `keys` counts no row of it.";
        /// A stored value is not what was sealed for its table, column and tenant.
        SealedValueInvalid = "sealed_value_invalid", OperatorDecision,
            "Somebody altered or moved the value, or its key has another secret now; fill the row again from the source.";
        /// An opened value does not fit the type it is asked for as.
        SealedValueUnreadable = "sealed_value_unreadable", Terminal,
            "Open it as PgText, which holds the server's text of every value.";
        /// A value could not be sealed.
        SealingFailed = "sealing_failed", Terminal,
            "The operating system gave no random numbers; nothing was written.";

        // Hooks.
        /// The declaration names hooks that the program does not hold.
        HookCodeMissing = "hook_code_missing", Terminal,
            "Make the pipeline of the declared sink, or give it the code of this specification.";
        /// A change of an action returned an error.
        HookFailed = "hook_failed", Terminal,
            "Correct the hook; the mirror waits before this transaction, and nothing of it was written.";
        /// A validation refused a row.
        ValidationRefused = "validation_refused", Terminal,
            "Correct the validation or what it compares with: what the source committed is never left out.";
        /// A hook panicked.
        HookPanicked = "hook_panicked", Terminal,
            "Correct the hook; its words went to the panic hook of the process and are not repeated here.";
        /// A hook set a column that only the library sets.
        HookColumnProtected = "hook_column_protected", Terminal,
            "Let the hook set plain values only: no key, tenant, window or fact about an event, and nothing of a row that goes away or has no key.";
        /// A hook ran an action that it does not declare.
        HookActionUndeclared = "hook_action_undeclared", Terminal,
            "List the action in the hook's PARTICIPANTS and its resource in touches; `run` writes, `find` reads.";
        /// An action does not take the values that a hook gave it.
        HookValuesRefused = "hook_values_refused", Terminal,
            "Give the action values of fields that it accepts, and the key where it finds a row.";
        /// An action found no row to update.
        HookRowAbsent = "hook_row_absent", Terminal,
            "Create the row first, or let the hook look for it with `find`.";

        // Tenants.
        /// A row says nothing of its tenant.
        TenantRequired = "tenant_required", OperatorDecision,
            "NULL, false, a blank text and an old row that was not sent whole name no tenant: let a `tenant_fn` tell the tenant of such rows, and keep the source from writing more of them.";
        /// The function that tells a row's tenant refused the row.
        TenantResolutionFailed = "tenant_resolution_failed", Terminal,
            "Correct the function that `tenant_fn` names: it refused the row or panicked, and nothing of the transaction was written.";
        /// A unique value belongs to another tenant's row.
        TenantConflict = "tenant_conflict", Terminal,
            "Another tenant's row has the value, or one that the mirror does not know of, and was left alone: what tenants may share needs a unique index that names the tenant, the primary key's included.";
        /// A tenant has no schema, or not every table in it.
        TenantScopeUnknown = "tenant_scope_unknown", Terminal,
            "Give the tenant its schema and tables, `{}` being the tenant, and start again; the transaction on the source tells which tenant it is.";
        /// How far a log in schemas of tenants reaches cannot be asked.
        AppendFrontierUnavailable = "append_frontier_unavailable", Terminal,
            "Keep the tenants of a log apart by a column: `multitenancy(strategy = attribute, ...)`.";

        // Delivery.
        /// TRUNCATE on a table whose policy is to halt.
        TruncateHalt = "truncate_halt", OperatorDecision,
            "Declare `on_truncate = mirror` if the destination should be emptied too.";
        /// The slot has forgotten what an append log does not hold.
        AppendOriginGap as Checkpoint::AppendOriginGap;
        /// An append log is ahead of its checkpoint.
        AppendFrontierDivergent as Checkpoint::AppendFrontierDivergent;
        /// The source table changed in a way that existing rows do not tell.
        SchemaChangeDestructive = "schema_change_destructive", OperatorDecision,
            "Adapt declaration and destination to the new shape, then start again.";
        /// A stream relation no longer fits the admitted types.
        TypeModifierWidened = "type_modifier_widened", Terminal,
            "Widen the destination column to the source's new length or precision.";
        /// Rows from before and after a change of type are waiting, which only the text form of values can carry.
        SourceTypesMixed = "source_types_mixed", Transient,
            "Nothing to do: the pipeline reads again, as text.";
        /// A row arrived without the key it must be found by.
        RowKeyMissing = "row_key_missing", Terminal,
            "Give the source table a replica identity that covers the mirror's key.";
        /// A row arrived incomplete and the missing value is stored nowhere.
        RowIncomplete = "row_incomplete", Terminal,
            "Use REPLICA IDENTITY FULL on the source, or resynchronise the table.";
        /// A row that must exist does not, in a table that is complete.
        DestinationDiverged = "destination_diverged", OperatorDecision,
            "Something else changed the destination; compare it with the source before going on.";
        /// A unique value belongs to another row and no order of writing resolves it.
        DestinationUniqueConflict = "destination_unique_conflict", Terminal,
            "Find the row that holds the value; it is not part of the mirror, or the index is stricter than the source: where the source's constraint is deferrable, make the destination's deferrable too.";
        /// A foreign key does not hold at commit.
        DestinationForeignKeyViolated = "destination_foreign_key_violated", Terminal,
            "The parent row is not in the destination; mirror its table too, or drop the constraint.";
        /// The destination refused a value.
        DestinationRejected = "destination_rejected", Terminal,
            "The SQLSTATE names the condition; the destination's type or constraint is stricter than the source's.";
        /// The destination or its disk is full, or out of memory or connections.
        DestinationFull = "destination_full", Terminal,
            "Free resources on the destination, then start again; nothing was lost.";
        /// The destination could not be reached.
        DestinationUnreachable = "destination_unreachable", Transient,
            "The pipeline keeps trying; check the destination server and the network.";
        /// A transaction larger than a group failed half-way; the source sends it again.
        LargeTransactionInterrupted = "large_transaction_interrupted", Transient,
            "The pipeline reads the transaction again; if it keeps failing, find the session that locks its tables.";
        /// Deadlocks or lock timeouts did not go away.
        DestinationContended = "destination_contended", Terminal,
            "Find the session that locks the mirrored tables; delivery gave up after its retries.";
        /// The destination refused the login.
        DestinationAuth = "destination_auth", Terminal,
            "Check user, password and pg_hba.conf of the destination.";
        /// A change arrived that this sink does not handle.
        ChangeUnsupported = "change_unsupported", Terminal,
            "Remove what the message names from the publication.";
        /// Delivery's own task ended unexpectedly.
        DeliveryInterrupted = "delivery_interrupted", Terminal,
            "Report this with the log; nothing after the watermark was acknowledged.";
    }
}
