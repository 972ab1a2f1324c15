//! Which rules exist: the closed list. The messages of the compiler, of admission and of `explain` are made from it.

use std::fmt;

use super::rule::Rung;

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Rule {
    /// Is it the option that is wrong, whatever it says? Then the option's name is to be edited, else its value.
    pub const fn is_about_the_option(self) -> bool {
        matches!(
            self,
            Self::HistoryOptionUnused
                | Self::AppendOptionUnused
                | Self::SnapshotOptionUnused
                | Self::InitialStateUnused
                | Self::RecoveryHorizonUnused
                | Self::TenancyOptionUnused
                | Self::TenantSourceWithoutTenancy
                | Self::TenantSourceRepeated
                | Self::AuxiliarySource
                | Self::BeforeOutsideLog
                | Self::RoleFieldMapped
                | Self::IdentityPartial
                | Self::AppendUpsertIdentity
                | Self::HookOnRead
                | Self::TargetSchemaUnused
                | Self::SealedSqlType
        )
    }
}

rules! {
    // One attribute is enough.
    /// An option is not `flag`, `name = value` or `name(...)`.
    OptionSyntax = "option_syntax", Syntax, [],
        "write options as `flag`, `name = value` or `name(a, b)`, separated by commas";
    /// An option does not exist.
    OptionUnknown = "option_unknown", Syntax, [],
        "use one of the listed options";
    /// An option belongs somewhere else.
    OptionMisplaced = "option_misplaced", Syntax, [],
        "move the option to where it belongs";
    /// An option is given twice.
    OptionRepeated = "option_repeated", Syntax, [],
        "keep one of the two";
    /// An option's value has another form or is not one of the legal words.
    OptionValue = "option_value", Syntax, [],
        "give the option a value of the shown form";
    /// A required option is absent.
    OptionMissing = "option_missing", Syntax, [],
        "add the option in the shown form";
    /// The attribute is on something else than the struct it needs.
    ItemShape = "item_shape", Syntax, [],
        "a resource is a struct with named fields; domains, checkpoints and sinks are unit structs";
    /// The struct has generic parameters.
    ItemGeneric = "item_generic", Syntax, [],
        "remove the parameters; a declaration is one concrete type";
    /// The item carries more than one declaration.
    ItemRepeated = "item_repeated", Syntax, [],
        "keep one attribute per item; a second target is a second struct";
    /// A field exists only under some configuration.
    FieldConditional = "field_conditional", Syntax, [],
        "remove the condition; a contract must not change with a feature flag";
    /// A field is made by the destination and read from the source.
    GeneratedSource = "generated_source", Syntax, [],
        "remove `generated`, or the option about the source's value";
    /// A field has two source columns.
    BeforeSource = "before_source", Syntax, [],
        "remove `source`; `before` names the source column itself";
    /// A sealed field accepts a loss that it cannot have.
    SealedLossy = "sealed_lossy", Syntax, [],
        "remove `lossy`; a sealed value is the source's text, whole";

    // The whole declaration.
    /// A name is not a PostgreSQL identifier.
    IdentifierInvalid = "identifier_invalid", Rules, [],
        "use 1 to 63 bytes without control characters";
    /// A schema belongs to PostgreSQL itself.
    SchemaReserved = "schema_reserved", Rules, [],
        "choose another schema; `pg_` and information_schema belong to the server";
    /// A resource maps nothing.
    ColumnsEmpty = "columns_empty", Rules, [],
        "declare a field for each source column to mirror";
    /// Two fields read one source column.
    SourceColumnRepeated = "source_column_repeated", Rules, [],
        "name another column with `source = \"...\"`, or remove one of the fields";
    /// Two fields write one destination column.
    TargetColumnRepeated = "target_column_repeated", Rules, [],
        "name another column with `column = \"...\"`, or remove one of the fields";
    /// A destination type is empty.
    SqlTypeInvalid = "sql_type_invalid", Rules, [],
        "write the destination type, for instance `sql_type = \"numeric(12,2)\"`";
    /// A source column is skipped twice.
    SkipRepeated = "skip_repeated", Rules, [],
        "remove the second entry";
    /// A skipped source column is mapped.
    SkipMapped = "skip_mapped", Rules, [SkipRepeated],
        "remove the entry, or remove the field";
    /// Two identities have one name.
    IdentityRepeated = "identity_repeated", Rules, [],
        "rename one of the two";
    /// An identity has no fields.
    IdentityEmpty = "identity_empty", Rules, [],
        "name the fields of the unique key: `keys(a, b)`";
    /// An identity names a field twice.
    IdentityKeyRepeated = "identity_key_repeated", Rules, [],
        "remove the second entry";
    /// An identity names something that is no field.
    IdentityKeyUnknown = "identity_key_unknown", Rules, [IdentityKeyRepeated],
        "name a field of the struct, not a column";
    /// Rows would be found by an identity that holds for a part of the table.
    IdentityPartial = "identity_partial", Rules, [],
        "remove `where`, or find rows by another identity";
    /// The part of the table an identity holds for is not usable.
    IdentityPredicateInvalid = "identity_predicate_invalid", Rules, [],
        "write one SQL condition over destination columns, for instance `where = \"deleted_at is null\"`";
    /// Rows would be found by an identity that does not exist.
    UpsertIdentityUnknown = "upsert_identity_unknown", Rules, [],
        "name a declared identity, or remove the option to use the primary key";
    /// Rows would be found by a value that the source does not have.
    KeyGenerated = "key_generated", Rules, [],
        "find rows by mapped columns: declare an identity over them and name it in `upsert_identity`";
    /// Two actions of a kind have no name.
    PrimaryActionRepeated = "primary_action_repeated", Rules, [],
        "name all but one: `create(record, accept(...))`; the unnamed one is the primary";
    /// Two actions have one name.
    ActionNameRepeated = "action_name_repeated", Rules, [],
        "rename one of the two";
    /// An action has the name of a kind.
    ActionNameReserved = "action_name_reserved", Rules, [],
        "choose another name; the word of a kind refers to its unnamed action";
    /// An action's name is not a Rust name.
    ActionNameInvalid = "action_name_invalid", Rules, [],
        "use letters, digits and `_`, not beginning with a digit; hooks refer to the action by it";
    /// A target lacks an action.
    ActionMissing = "action_missing", Rules, [],
        "mirrors and histories need an unnamed read, create and destroy, a log an unnamed read: `actions(read, destroy, create(accept = all))`";
    /// An action that writes nothing accepts fields.
    AcceptWithoutWrite = "accept_without_write", Rules, [],
        "remove `accept`; only create and update set fields";
    /// An accept list names a field twice.
    AcceptRepeated = "accept_repeated", Rules, [],
        "remove the second entry";
    /// An accept list names something that is no field.
    AcceptUnknown = "accept_unknown", Rules, [AcceptRepeated],
        "name a field of the struct, not a column";
    /// An accept list names a generated field.
    AcceptGenerated = "accept_generated", Rules, [AcceptRepeated],
        "remove the entry; the destination makes the value";
    /// An accept list names a private field.
    AcceptPrivate = "accept_private", Rules, [AcceptRepeated],
        "remove the entry, or remove `private` from the field";
    /// An action has a hook twice.
    HookRepeated = "hook_repeated", Rules, [],
        "remove the second entry";
    /// A read has hooks.
    HookOnRead = "hook_on_read", Rules, [],
        "remove it; hooks belong to actions that write";
    /// Hooks are on an action that nothing runs.
    HookNeverRun = "hook_never_run", Rules, [],
        "move it: a mirror runs its unnamed create and destroy, a history create and the closing action, a log the append action";
    /// An action touches a resource twice.
    TouchesRepeated = "touches_repeated", Rules, [],
        "remove the second entry";
    /// A message would run something else than a create.
    MessageNotCreate = "message_not_create", Rules, [],
        "messages create rows: move `message(...)` to a create";
    /// A message would write a table that the source writes.
    MessageNotAuxiliary = "message_not_auxiliary", Rules, [],
        "declare an `auxiliary` resource for messages; a log needs no `message(...)`";
    /// A message would need a tenant, and has none.
    MessageTenanted = "message_tenanted", Rules, [],
        "remove `multitenancy(...)`, or add `global` to it; a message belongs to no tenant";
    /// The target of a message does not keep its content.
    MessageContentMissing = "message_content_missing", Rules, [],
        "add a field `content` of type `String` or `Vec<u8>` and accept it";
    /// A period is not digits and a unit.
    PeriodInvalid = "period_invalid", Rules, [],
        "write digits and one of s, m, h, d, for instance \"72h\"";
    /// A mapped field is private.
    PrivateMapped = "private_mapped", Rules, [AcceptPrivate],
        "remove `private`, or list the source column in `skip(...)` instead of mapping it";
    /// The create that the sink runs would drop a column.
    ColumnNotAccepted = "column_not_accepted", Rules, [AcceptUnknown, PrimaryActionRepeated],
        "write `accept = all`, add the fields, or list their columns in `skip(...)` instead of mapping them";
    /// A domain lists a resource twice.
    ResourceRepeated = "resource_repeated", Rules, [],
        "remove the second entry";
    /// A sink lists a domain twice.
    DomainRepeated = "domain_repeated", Rules, [],
        "remove the second entry";
    /// A slot name is not legal.
    SlotNameInvalid = "slot_name_invalid", Rules, [],
        "use 1 to 63 of a-z, 0-9 and _";
    /// An append log does not say where it begins.
    InitialStateMissing = "initial_state_missing", Rules, [],
        "add `initial_state = snapshot` or `initial_state = go_forward`";
    /// A mirror says where a log begins.
    InitialStateUnused = "initial_state_unused", Rules, [],
        "remove it, or write `sink_kind = append_log`; how a mirror starts is configured";
    /// A message prefix cannot be one.
    MessagePrefixInvalid = "message_prefix_invalid", Rules, [],
        "write the prefix exactly as `pg_logical_emit_message` gets it, at least one character";
    /// A message prefix is listed twice.
    MessagePrefixRepeated = "message_prefix_repeated", Rules, [],
        "remove the second entry; a message runs one action";
    /// Messages of a prefix are routed and ignored.
    MessagePrefixConflict = "message_prefix_conflict", Rules, [],
        "remove the route, or remove the entry of `ignored_message_prefixes(...)`";
    /// Routes of a mirror have no recovery horizon.
    RecoveryHorizonMissing = "recovery_horizon_missing", Rules, [],
        "add `recovery_horizon = \"24h\"`: how long a message may still be delivered again after a failure";
    /// A recovery horizon has no routes to bound.
    RecoveryHorizonUnused = "recovery_horizon_unused", Rules, [],
        "remove it; it bounds the message routes of a mirror";
    /// An ignored source is not `schema.table`.
    IgnoredSourceInvalid = "ignored_source_invalid", Rules, [],
        "write \"schema.table\" with exactly one dot";
    /// A table is ignored twice.
    IgnoredSourceRepeated = "ignored_source_repeated", Rules, [IgnoredSourceInvalid],
        "remove the second entry";

    // How rows are held.
    /// A resource has two shapes.
    ShapeConflict = "shape_conflict", Rules, [],
        "keep one of `history_strategy`, `append_log` and `auxiliary`; a second target is a second struct";
    /// An option is about a history that is not declared.
    HistoryOptionUnused = "history_option_unused", Rules, [],
        "write `history_strategy = scd2`, or remove the option";
    /// An option is about an append log that is not declared.
    AppendOptionUnused = "append_option_unused", Rules, [],
        "write `append_log`, or remove the option";
    /// An option is about provenance that is not declared.
    SnapshotOptionUnused = "snapshot_option_unused", Rules, [],
        "write `snapshot_provenance`, or remove the option";
    /// An auxiliary resource says something about a source.
    AuxiliarySource = "auxiliary_source", Rules, [],
        "remove it, or remove `auxiliary`; no source table feeds an auxiliary resource";
    /// A field outside an append log holds a value before the change.
    BeforeOutsideLog = "before_outside_log", Rules, [],
        "remove `before`, or declare the resource as `append_log`";
    /// A truncate would close versions that do not exist.
    TruncateCloseWithoutHistory = "truncate_close_without_history", Rules, [],
        "write `on_truncate = mirror` or `halt`; only a history has versions to close";
    /// A truncate would be recorded in something that is no log.
    TruncateAppendWithoutLog = "truncate_append_without_log", Rules, [],
        "write `on_truncate = mirror` or `halt`; only an append log records events";
    /// A truncate would delete from a log.
    TruncateOfLog = "truncate_of_log", Rules, [],
        "write `on_truncate = append` or `halt`; a log never deletes";
    /// A truncate would be recorded in the log of a tenant.
    TruncateAppendOfTenant = "truncate_append_of_tenant", Rules, [],
        "write `on_truncate = halt`; a truncate belongs to no tenant";

    // Fields that the sink fills.
    /// A fact has no field.
    RoleFieldUnknown = "role_field_unknown", Rules, [],
        "add the field, or name another one with the shown option";
    /// Two facts have one field.
    RoleFieldShared = "role_field_shared", Rules, [],
        "give each fact a field of its own";
    /// A field that the sink fills is read from the source.
    RoleFieldMapped = "role_field_mapped", Rules, [],
        "remove the option about the field's value; the sink fills the field";

    // Histories.
    /// A history has no business key.
    BusinessKeyMissing = "business_key_missing", Rules, [],
        "name the fields of the natural key: `history_business_key(order_id)`";
    /// A business key names something that is no field.
    BusinessKeyUnknown = "business_key_unknown", Rules, [BusinessKeyRepeated],
        "name a field of the struct, not a column";
    /// A business key names a field twice.
    BusinessKeyRepeated = "business_key_repeated", Rules, [],
        "remove the second entry";
    /// A business key shares a field with the primary key.
    BusinessKeyPrimary = "business_key_primary", Rules, [],
        "give versions a primary key of their own, for instance a `generated` bigint; a row has one version per change";
    /// A business key names a field that no source column feeds.
    BusinessKeyNotMapped = "business_key_not_mapped", Rules, [],
        "name fields that are read from the source";
    /// A history does not say which identity finds a version.
    HistoryIdentityMissing = "history_identity_missing", Rules, [],
        "declare an identity over the business key and the field of the opening LSN, and name it in `upsert_identity`";
    /// The identity of a version has other fields.
    HistoryIdentityKeys = "history_identity_keys", Rules, [IdentityEmpty, IdentityKeyRepeated, IdentityKeyUnknown, IdentityKeyTenant, BusinessKeyUnknown],
        "name exactly the business key and the field of the opening LSN";
    /// No update action closes versions.
    CloseActionMissing = "close_action_missing", Rules, [],
        "declare it: `update(close_version, accept(valid_to_lsn))`, or name another update in `history_close_action`";
    /// The closing action drops a column of the window.
    CloseActionDrops = "close_action_drops", Rules, [AcceptUnknown],
        "accept every field that closing a version writes";

    // Append logs.
    /// An append log has no identity of events.
    AppendIdentityUnknown = "append_identity_unknown", Rules, [],
        "declare it: `identity(append_identity, keys(source_system_id, source_database, slot_name, commit_lsn, ordinal), all_tenants)`";
    /// The identity of events has other fields.
    AppendIdentityKeys = "append_identity_keys", Rules, [IdentityEmpty, IdentityKeyRepeated, IdentityKeyUnknown],
        "name exactly the five axes: system, database, slot, commit LSN and ordinal";
    /// The identity of events would be unique per tenant only.
    AppendIdentityPerTenant = "append_identity_per_tenant", Rules, [],
        "add `all_tenants`: an event is one event, whichever tenant it belongs to";
    /// No create action records events.
    AppendActionMissing = "append_action_missing", Rules, [],
        "declare it: `create(append, accept = all)`, or name another create in `append_action`";
    /// An append log names an identity to find rows by.
    AppendUpsertIdentity = "append_upsert_identity", Rules, [],
        "remove `upsert_identity`; a log finds no rows, and `append_identity` tells its events apart";
    /// An append log would be kept in the schemas of tenants.
    AppendLogPerSchema = "append_log_per_schema", Rules, [],
        "write `strategy = attribute`; how far a log in many schemas reaches could not be asked";
    /// An append log marks rows for snapshots.
    AppendProvenance = "append_provenance", Rules, [],
        "remove `snapshot_provenance`; a log never retires an event";

    // Snapshot provenance.
    /// A provenance field is open to everyone.
    ProvenancePublic = "provenance_public", Rules, [],
        "add `private` to the field; whoever may write it can forge what a snapshot saw";
    /// An action accepts a provenance field.
    ProvenanceAccepted = "provenance_accepted", Rules, [AcceptRepeated],
        "remove the entry; only the marking action writes provenance, and it takes no input";
    /// No update action marks rows.
    MarkActionMissing = "mark_action_missing", Rules, [],
        "declare it: `update(replicant_mark_seen, private, mark_seen)`, or name another update in `snapshot_mark_action`";
    /// The marking action marks nothing.
    MarkActionUnmarked = "mark_action_unmarked", Rules, [],
        "add `mark_seen` to the action; without it a completed snapshot retires what it has just seen";
    /// Another action marks rows.
    MarkSeenElsewhere = "mark_seen_elsewhere", Rules, [],
        "remove `mark_seen`; one private action marks rows, the one of `snapshot_mark_action`";
    /// No action retires rows.
    RetireActionMissing = "retire_action_missing", Rules, [],
        "declare it: `destroy(replicant_retire_unseen, private)`, for a history `update(replicant_retire_unseen, private, ...)`";
    /// A marking or retiring action is open to everyone.
    SnapshotActionPublic = "snapshot_action_public", Rules, [],
        "add `private` to the action; only the library marks and retires";
    /// Nobody lists the tenants to retire in.
    SnapshotScopesMissing = "snapshot_scopes_missing", Rules, [],
        "name the function that lists the tenants: `snapshot_scopes(path = crate::tenants::all)`";

    // Tenants.
    /// A tenant is told and nothing keeps tenants apart.
    TenantSourceWithoutTenancy = "tenant_source_without_tenancy", Rules, [],
        "add `multitenancy(strategy = attribute, attribute = ...)`; without it the option would be ignored and rows unscoped";
    /// Nothing tells a row's tenant.
    TenantSourceMissing = "tenant_source_missing", Rules, [],
        "add `tenant_attribute = ...` or `tenant_fn(path = ...)`; or `global` if rows without a tenant are meant";
    /// Two options tell a row's tenant.
    TenantSourceRepeated = "tenant_source_repeated", Rules, [],
        "keep one of `tenant_attribute` and `tenant_fn`";
    /// A tenant option names something that is no field.
    TenantFieldUnknown = "tenant_field_unknown", Rules, [],
        "name a field of the struct, not a column";
    /// A tenant is not read from the source.
    TenantNotMapped = "tenant_not_mapped", Rules, [],
        "name a field that is read from the source";
    /// A tenant is sensitive or sealed.
    TenantSensitive = "tenant_sensitive", Rules, [],
        "name a column that is stored in the clear; sealed values cannot be compared";
    /// Attribute tenancy names no field.
    TenancyAttributeMissing = "tenancy_attribute_missing", Rules, [],
        "name the field that holds the tenant: `multitenancy(strategy = attribute, attribute = org_id)`";
    /// A schema per tenant has no name.
    TenancySchemaMissing = "tenancy_schema_missing", Rules, [],
        "name the schema: `multitenancy(strategy = context, schema = \"tenant_{}\")`";
    /// The name of a tenant's schema is not usable.
    TenancySchemaInvalid = "tenancy_schema_invalid", Rules, [],
        "write a name with `{}` for the tenant once and something of your own beside it, for instance \"tenant_{}\"";
    /// An option belongs to the other strategy.
    TenancyOptionUnused = "tenancy_option_unused", Rules, [],
        "remove it: `attribute` goes with `strategy = attribute`, `schema` with `strategy = context`";
    /// A schema is named for a table that is in the schema of each tenant.
    TargetSchemaUnused = "target_schema_unused", Rules, [],
        "remove it; `multitenancy(...)` names the schema of a tenant";
    /// An identity or business key lists the tenant, which the library adds.
    IdentityKeyTenant = "identity_key_tenant", Rules, [],
        "remove the entry; the tenant's column is added to every identity but those with `all_tenants`";
    /// An action that delivers rows ignores the tenant.
    ActionTenantBypass = "action_tenant_bypass", Rules, [],
        "remove it, or write `multitenancy = allow_global`; what the sink runs stays inside its tenant";

    // Secrets.
    /// A column is listed as sensitive twice.
    SensitiveRepeated = "sensitive_repeated", Rules, [],
        "remove the second entry";
    /// A sensitive column is neither mapped nor skipped.
    SensitiveUnmapped = "sensitive_unmapped", Rules, [SensitiveRepeated],
        "name a source column that a field reads or that `skip(...)` lists";
    /// A sealed field is part of a key.
    SealedKey = "sealed_key", Rules, [],
        "find rows by fields stored in the clear; two seals of one value never compare equal";
    /// A sealed field has a type that it cannot have.
    SealedSqlType = "sealed_sql_type", Rules, [SqlTypeInvalid],
        "remove it; a sealed value is bytea whatever it was";
    /// A sealed field holds nothing from the source.
    EncryptedWithoutValue = "encrypted_without_value", Rules, [],
        "remove `encrypted`; the library and the destination write this field in the clear";

    // The Rust types.
    /// A field's type cannot be a column.
    ColumnType = "column_type", Types, [],
        "use a type of the list, enable the feature of its crate, or `PgText` for any PostgreSQL type";
    /// A key may be NULL.
    KeyNullable = "key_nullable", Types, [ColumnType],
        "use `T` instead of `Option<T>`; rows with NULL in a key cannot be found again";

    /// A sealed field's type does not say so.
    EncryptedType = "encrypted_type", Types, [ColumnType],
        "write `Sealed<T>` or `Option<Sealed<T>>`";
    /// A field's type says sealed and nothing seals it.
    EncryptedMissing = "encrypted_missing", Types, [ColumnType],
        "add `#[replicant(encrypted)]` to the field";
    /// A sensitive column would be stored in the clear.
    SensitivePlain = "sensitive_plain", Types, [ColumnType, EncryptedMissing],
        "seal it with `encrypted` and `Sealed<T>`, skip it, or use `Vec<u8>` for bytes the source has encrypted";
    /// A fact does not fit the type of its field.
    RoleStorage = "role_storage", Types, [ColumnType],
        "use the shown type";
    /// A fact that may be absent has a field that cannot be NULL, or the other way round.
    RoleNullability = "role_nullability", Types, [ColumnType],
        "use `Option<T>` where the fact may be absent, `T` where it may not";
    /// An event may lack a value that its field cannot lack.
    EventNullable = "event_nullable", Types, [ColumnType],
        "use `Option<T>`; not every event of a log has a row, and not every row a former value";
    /// A tenant's type is no plain comparator.
    TenantStorage = "tenant_storage", Types, [ColumnType],
        "use text, an integer, a UUID or another type that compares exactly";
    /// A row's tenant may be NULL.
    TenantNullable = "tenant_nullable", Types, [ColumnType],
        "use `T` instead of `Option<T>`: no row is written without its tenant";
    /// A message's content does not fit its field.
    MessageContentType = "message_content_type", Types, [ColumnType],
        "use `String` or `Vec<u8>`, without `encrypted`";

    /// What an action declares to touch is not what its hooks run.
    DestinationParticipantMismatch = "destination_participant_mismatch", Types, [],
        "list in `touches(...)` exactly the resources whose actions its hooks run";

    // Other declarations. A sink is where they meet, and its attribute is all the tokens its macro has: a hook, a
    // `touches(...)` or an option of a resource was read by another macro, perhaps in another crate. So the entry of
    // `domains(...)` that leads to the mistake is underlined, and the message names the resource, the action and the
    // hook. A constant of each resource that is generic over the sink could underline the hook itself, but the index
    // of a sink's names would be built again for each of them, which 300 resources cannot afford; a function of the
    // resource that the sink's constant calls is only noted, because the compiler underlines the constant. What one resource
    // alone can tell of its hooks is judged there, at their tokens: `destination_participant_mismatch`.
    /// A sink holds a resource twice.
    DuplicateResource = "duplicate_resource", Relations, [],
        "a resource belongs to one domain of a sink; remove it from the other";
    /// Two resources of a sink read one source table.
    DuplicateSource = "duplicate_source", Relations, [DuplicateResource],
        "one sink maps a source table once; declare a second sink with its own slot";
    /// Two resources of a sink write one destination table.
    DuplicateTarget = "duplicate_target", Relations, [DuplicateResource],
        "give one of them another `table` or `schema`";
    /// Tenants of two resources would share a destination table.
    TargetSharedByTenants = "target_shared_by_tenants", Relations, [],
        "give one of them another `table`, or a `schema` that begins or ends in its own way";
    /// Two resources of a sink have one Rust path.
    ResourcePathRepeated = "resource_path_repeated", Relations, [],
        "move one of them into a module; hooks and routes could not tell them apart";
    /// A sink mixes mirrors and logs.
    SinkKindMixed = "sink_kind_mixed", Relations, [],
        "all resources of a sink are append logs, or none; declare a second sink with its own slot";
    /// A route leads to a resource that the sink does not hold.
    MessageRouteUnknown = "message_route_unknown", Relations, [],
        "list the resource in one of the sink's domains";
    /// A hook or a route names an action that does not exist.
    DestinationActionMissing = "destination_action_missing", Relations, [],
        "declare the action, or name another one";
    /// A route of a mirror leads to an action that no message may run.
    DestinationMessageRouteInvalid = "destination_message_route_invalid", Relations, [],
        "route to a create of an auxiliary resource with `message(retention = \"...\")`";
    /// A route of a log leads to something else than what records its events.
    DestinationAppendMessageRouteInvalid = "destination_append_message_route_invalid", Relations, [],
        "route to the append action of an untenanted log that has fields for a message's prefix and content";
    /// A message may be forgotten while it may still be delivered again.
    RetentionBelowRecoveryHorizon = "retention_below_recovery_horizon", Relations, [],
        "raise the action's `retention`, or lower `recovery_horizon`";
    /// A hook runs an action of a resource that the sink does not hold.
    DestinationParticipantUnknown = "destination_participant_unknown", Relations, [],
        "list the resource in one of the sink's domains";
    /// A hook writes a table that the source writes.
    DestinationParticipantMirrored = "destination_participant_mirrored", Relations, [],
        "only read mirrored resources; write to an `auxiliary` one";
    /// A hook runs an action that is not for hooks.
    DestinationParticipantInvalid = "destination_participant_invalid", Relations, [],
        "run another action; private ones are the library's, and those with `message(...)` are for messages";
    /// A hook runs an action that ignores the tenant.
    DestinationActionTenantBypass = "destination_action_tenant_bypass", Relations, [],
        "remove the bypass from the action; what runs inside a delivery stays inside its tenant";
    /// A hook without a tenant runs an action that needs one.
    DestinationParticipantTenant = "destination_participant_tenant", Relations, [],
        "give the hook's resource the same tenancy, or write `multitenancy = allow_global` on the action";
    /// Hooks run each other in a circle.
    DestinationParticipantCycle = "destination_participant_cycle", Relations, [],
        "remove one of the steps; delivery would never end";
    /// An ignored table is mapped.
    IgnoredSourceMapped = "ignored_source_mapped", Relations, [],
        "remove the entry, or remove the resource from the sink's domains";
    /// A resource writes into the checkpoint's schema.
    TargetInCheckpointSchema = "target_in_checkpoint_schema", Relations, [],
        "give the resource another `schema`; the checkpoint's is denied to everyone else";
}
