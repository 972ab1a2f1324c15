//! Which options exist: the closed table behind the four attributes, from which parser, help and guide are made.
//!
//! The grammar is the same everywhere: `flag`, `name = value`, `name(a, b)`. Values are identifiers, paths or
//! literals, and any name may be written as a string. `skip` names source columns, `accept`, `keys` and
//! `upsert_identity` name fields and identities.

use Place::{Action, Actions, Checkpoint, Domain, Field, Grants, Identity, Resource, Sink};
use Presence::{Default, Required};
use ValueShape as V;

/// Where an option may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Place {
    /// `#[replicant(...)]` on a struct.
    Resource,
    /// `#[replicant(...)]` on a field.
    Field,
    /// Inside `identity(...)`, after its name.
    Identity,
    /// Inside `actions(...)`.
    Actions,
    /// Inside one action, after its name.
    Action,
    /// `#[replicant_domain(...)]`.
    Domain,
    /// `#[replicant_checkpoint(...)]`.
    Checkpoint,
    /// Inside `grants(...)`.
    Grants,
    /// `#[replicant_sink(...)]`.
    Sink,
}

impl Place {
    /// Every place, in reading order.
    pub const ALL: &'static [Self] = &[
        Self::Resource,
        Self::Field,
        Self::Identity,
        Self::Actions,
        Self::Action,
        Self::Domain,
        Self::Checkpoint,
        Self::Grants,
        Self::Sink,
    ];

    /// How a diagnostic calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resource => "#[replicant(...)] on a struct",
            Self::Field => "#[replicant(...)] on a field",
            Self::Identity => "identity(...)",
            Self::Actions => "actions(...)",
            Self::Action => "an action",
            Self::Domain => "#[replicant_domain(...)]",
            Self::Checkpoint => "#[replicant_checkpoint(...)]",
            Self::Grants => "grants(...)",
            Self::Sink => "#[replicant_sink(...)]",
        }
    }
}

/// What is written after an option's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueShape {
    /// Nothing: `lossy`.
    Flag,
    /// One name: `table = orders` or `table = "orders"`.
    Name,
    /// One string: `sql_type = "numeric(12,2)"`.
    Text,
    /// One path: `checkpoint = ShopCheckpoint`.
    Path,
    /// One of these words; the second list is recognised and not available yet.
    Word(&'static [&'static str], &'static [&'static str]),
    /// A list of names: `skip(a, "b c")`.
    Names,
    /// A list of paths: `resources(Order, crate::crm::Customer)`.
    Paths,
    /// A name, then options of that place: `identity(by_email, keys(email))`.
    NamedBlock(Place),
    /// Options of that place: `actions(read, create(accept = all))`.
    Block(Place),
    /// Nothing, or an optional name and options of that place: `create(record, accept(id))`.
    OptionalBlock(Place),
    /// `accept = all` or `accept(a, b)`.
    Accept,
}

/// Must it be written?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// Yes.
    Required,
    /// No; this is what its absence means.
    Default(&'static str),
}

/// May it be written more than once?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeat {
    /// At most once.
    Once,
    /// Any number of times.
    Many,
}

/// Does this release have it?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Availability {
    /// Yes.
    Now,
    /// It is recognised and refused, never ignored.
    Later,
}

/// One option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// Where it may be written.
    pub place: Place,
    /// Its name.
    pub name: &'static str,
    /// What follows the name.
    pub shape: ValueShape,
    /// Whether it must be written.
    pub presence: Presence,
    /// How often.
    pub repeat: Repeat,
    /// A legal spelling, for help texts.
    pub usage: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// Whether this release has it.
    pub availability: Availability,
}

/// The option of this name at this place.
pub fn find(place: Place, name: &str) -> Option<&'static Key> {
    KEYS.iter()
        .find(|key| key.place == place && key.name == name)
}

/// The options of a place that this release has, in table order.
pub fn available(place: Place) -> impl Iterator<Item = &'static Key> {
    KEYS.iter()
        .filter(move |key| key.place == place && key.availability == Availability::Now)
}

const fn key(
    place: Place,
    name: &'static str,
    shape: ValueShape,
    presence: Presence,
    usage: &'static str,
    doc: &'static str,
) -> Key {
    Key {
        place,
        name,
        shape,
        presence,
        repeat: Repeat::Once,
        usage,
        doc,
        availability: Availability::Now,
    }
}

const fn many(key: Key) -> Key {
    Key {
        repeat: Repeat::Many,
        ..key
    }
}

/// An option of a later release. Its shape is not judged, only its name is recognised.
const fn later(place: Place, name: &'static str, doc: &'static str) -> Key {
    Key {
        place,
        name,
        shape: ValueShape::Flag,
        presence: Presence::Default("not available yet"),
        repeat: Repeat::Once,
        usage: "",
        doc,
        availability: Availability::Later,
    }
}

/// Every option of every attribute.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    key(Resource, "source_schema", V::Name, Default("\"public\""), "source_schema = \"public\"",
        "Schema of the source table."),
    key(Resource, "source_table", V::Name, Default("the value of `table`"), "source_table = \"orders\"",
        "Name of the source table."),
    key(Resource, "schema", V::Name, Default("\"public\""), "schema = \"public\"",
        "Schema of the destination table."),
    key(Resource, "table", V::Name, Required, "table = \"orders\"",
        "Name of the destination table."),
    key(Resource, "skip", V::Names, Default("no column is skipped"), "skip(legacy_blob, \"Old Name\")",
        "Source columns that are deliberately not mirrored; every other column needs a field."),
    key(Resource, "on_truncate", V::Word(&["halt", "mirror"], &["close", "append"]), Default("halt"), "on_truncate = mirror",
        "What a TRUNCATE on the source does: stop, or delete every destination row."),
    key(Resource, "on_schema_change", V::Word(&["halt_destructive", "ignore"], &[]), Default("halt_destructive"), "on_schema_change = ignore",
        "What a dropped source column does: stop, or go on without it."),
    many(key(Resource, "identity", V::NamedBlock(Identity), Default("only the primary key"), "identity(by_email, keys(email))",
        "A unique key of the destination table, by field names.")),
    key(Resource, "upsert_identity", V::Name, Default("the primary key; a table without one is matched by whole rows and needs REPLICA IDENTITY FULL"),
        "upsert_identity = by_email",
        "The identity destination rows are found by."),
    key(Resource, "actions", V::Block(Actions), Required, "actions(read, destroy, create(accept = all), update(accept = all))",
        "The named operations of the target; a mirror needs an unnamed read, create and destroy."),
    key(Resource, "crate", V::Path, Default("::replicant_sink"), "crate = ::renamed_sink",
        "Where the library is when the dependency was renamed."),

    key(Field, "primary_key", V::Flag, Default("not part of it"), "primary_key",
        "The column is part of the destination's primary key."),
    key(Field, "generated", V::Flag, Default("read from the source"), "generated",
        "The destination makes the value; it is never read from the source."),
    key(Field, "private", V::Flag, Default("public"), "private",
        "No action accepts the field."),
    key(Field, "source", V::Name, Default("the field's name"), "source = \"id\"",
        "The source column."),
    key(Field, "column", V::Name, Default("the field's name"), "column = \"order_id\"",
        "The destination column."),
    key(Field, "lossy", V::Flag, Default("only lossless type pairs are admitted"), "lossy",
        "A type pair that loses information is meant."),
    key(Field, "sql_type", V::Text, Default("the source's type"), "sql_type = \"numeric(12,2)\"",
        "The destination type that migrations write."),

    key(Identity, "keys", V::Names, Required, "keys(tenant_id, email)",
        "The fields of the identity."),

    many(key(Actions, "read", V::OptionalBlock(Action), Default("none"), "read",
        "Reads rows.")),
    many(key(Actions, "create", V::OptionalBlock(Action), Default("none"), "create(accept = all)",
        "Inserts or upserts a row.")),
    many(key(Actions, "update", V::OptionalBlock(Action), Default("none"), "update(accept = all)",
        "Updates a row.")),
    many(key(Actions, "destroy", V::OptionalBlock(Action), Default("none"), "destroy",
        "Deletes a row.")),

    key(Action, "accept", V::Accept, Default("no field"), "accept = all",
        "The fields the action may set; `all` is every field that is neither private nor generated."),

    key(Domain, "resources", V::Paths, Required, "resources(Order, Customer)",
        "The resources of the domain."),
    key(Domain, "crate", V::Path, Default("::replicant_sink"), "crate = ::renamed_sink",
        "Where the library is when the dependency was renamed."),

    key(Checkpoint, "schema", V::Name, Required, "schema = \"replicant\"",
        "Schema of the checkpoint tables in the destination."),
    key(Checkpoint, "grants", V::Block(Grants), Default("nobody but the delivery role"), "grants(select = \"ops\")",
        "Who else may read the checkpoint."),
    key(Checkpoint, "crate", V::Path, Default("::replicant_sink"), "crate = ::renamed_sink",
        "Where the library is when the dependency was renamed."),

    key(Grants, "select", V::Name, Default("nobody"), "select = \"ops\"",
        "The role that may SELECT the checkpoint tables."),

    key(Sink, "slot_name", V::Name, Required, "slot_name = \"shop_orders\"",
        "The replication slot; one slot, one sink, one checkpoint."),
    key(Sink, "domains", V::Paths, Required, "domains(Shop)",
        "The domains whose resources are mirrored; `domains()` for none yet."),
    key(Sink, "checkpoint", V::Path, Required, "checkpoint = ShopCheckpoint",
        "Where the checkpoint lives."),
    key(Sink, "ignored_sources", V::Names, Default("nothing is ignored"), "ignored_sources(\"public.audit_events\")",
        "Published tables that are deliberately not mirrored, as \"schema.table\"."),
    key(Sink, "crate", V::Path, Default("::replicant_sink"), "crate = ::renamed_sink",
        "Where the library is when the dependency was renamed."),

    later(Resource, "multitenancy", "How rows belong to tenants."),
    later(Resource, "tenant_attribute", "The field that holds the tenant."),
    later(Resource, "tenant_fn", "A function that tells a row's tenant."),
    later(Resource, "sensitive", "Source columns that must be sealed, encrypted or skipped."),
    later(Resource, "history_strategy", "Current state or validity windows."),
    later(Resource, "history_business_key", "The natural key of a history."),
    later(Resource, "history_valid_from_lsn_attribute", "Field for the start of a version."),
    later(Resource, "history_valid_to_lsn_attribute", "Field for the end of a version."),
    later(Resource, "history_valid_from_timestamp_attribute", "Field for the start time of a version."),
    later(Resource, "history_valid_to_timestamp_attribute", "Field for the end time of a version."),
    later(Resource, "history_current_attribute", "Field that flags the open version."),
    later(Resource, "history_close_action", "The update action that closes a version."),
    later(Resource, "append_log", "One destination row per source change."),
    later(Resource, "append_action", "The create action that records an event."),
    later(Resource, "append_identity", "The identity of an event."),
    later(Resource, "append_source_system_attribute", "Field for the source's system identifier."),
    later(Resource, "append_source_database_attribute", "Field for the source's database."),
    later(Resource, "append_slot_attribute", "Field for the slot."),
    later(Resource, "append_commit_lsn_attribute", "Field for the commit position."),
    later(Resource, "append_ordinal_attribute", "Field for the position within the transaction."),
    later(Resource, "append_operation_attribute", "Field for the kind of change."),
    later(Resource, "append_origin_attribute", "Field that tells stream from snapshot."),
    later(Resource, "append_attempt_attribute", "Field for the snapshot attempt."),
    later(Resource, "append_message_prefix_attribute", "Field for a message's prefix."),
    later(Resource, "append_message_content_attribute", "Field for a message's content."),
    later(Resource, "append_unchanged_attribute", "Field that lists unchanged columns."),
    later(Resource, "append_commit_timestamp_attribute", "Field for the commit time."),
    later(Resource, "append_xid_attribute", "Field for the transaction id."),
    later(Resource, "snapshot_provenance", "Marks rows as seen by a snapshot."),
    later(Resource, "snapshot_mark_action", "The update action that marks a row."),
    later(Resource, "snapshot_retire_action", "The action that retires unseen rows."),
    later(Resource, "snapshot_scopes", "A function that lists tenants to retire in."),
    later(Resource, "auxiliary", "A resource without a source."),
    later(Field, "encrypted", "The column is sealed before it is stored."),
    later(Field, "before", "The field holds the value before the change."),
    later(Identity, "all_tenants", "The identity holds across tenants."),
    later(Identity, "where", "The identity holds for a part of the table."),
    later(Action, "private", "Only the library runs the action."),
    later(Action, "mark_seen", "The action marks a row as seen by a snapshot."),
    later(Action, "multitenancy", "How the action treats tenants."),
    later(Action, "changes", "Hooks that change what is written."),
    later(Action, "validations", "Hooks that refuse what is written."),
    later(Action, "touches", "Resources a hook touches."),
    later(Action, "message", "The action is the target of a message."),
    later(Sink, "sink_kind", "Mirror or append log."),
    later(Sink, "initial_state", "How an append log starts."),
    later(Sink, "message_routes", "Actions that messages run."),
    later(Sink, "ignored_message_prefixes", "Messages that are deliberately dropped."),
    later(Sink, "recovery_horizon", "How long a lost effect may be repeated."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_thing_at_a_place() {
        for key in KEYS {
            let same = KEYS
                .iter()
                .filter(|other| other.place == key.place && other.name == key.name);
            assert_eq!(same.count(), 1, "{:?} {}", key.place, key.name);
        }
    }

    #[test]
    fn every_key_is_documented_by_a_sentence_and_a_spelling_that_shows_it() {
        for key in KEYS {
            assert!(key.doc.ends_with('.'), "{}", key.name);
            if key.availability == Availability::Now {
                assert!(key.usage.starts_with(key.name), "{}", key.name);
            }
        }
    }

    #[test]
    fn every_place_has_an_option() {
        for place in Place::ALL {
            assert!(available(*place).next().is_some(), "{place:?}");
        }
    }
}
