//! Which options exist: the closed table behind the four attributes, from which parser, help and guide are made.
//!
//! The grammar is the same everywhere: `flag`, `name = value`, `name(a, b)`. Values are identifiers, paths or
//! literals, and any name may be written as a string. `skip`, `sensitive`, `source` and `before` name source columns;
//! everything else names fields, identities and actions.

mod table;

pub use table::KEYS;

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
    /// Inside `multitenancy(...)`.
    Multitenancy,
    /// Inside `tenant_fn(...)`.
    TenantFn,
    /// Inside `snapshot_scopes(...)`.
    SnapshotScopes,
    /// Inside `message(...)`.
    Message,
    /// Inside `message_routes(...)`.
    MessageRoutes,
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
        Self::Message,
        Self::Multitenancy,
        Self::TenantFn,
        Self::SnapshotScopes,
        Self::Domain,
        Self::Checkpoint,
        Self::Grants,
        Self::Sink,
        Self::MessageRoutes,
    ];

    /// How a diagnostic calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resource => "#[replicant(...)] on a struct",
            Self::Field => "#[replicant(...)] on a field",
            Self::Identity => "identity(...)",
            Self::Actions => "actions(...)",
            Self::Action => "an action",
            Self::Message => "message(...)",
            Self::Multitenancy => "multitenancy(...)",
            Self::TenantFn => "tenant_fn(...)",
            Self::SnapshotScopes => "snapshot_scopes(...)",
            Self::MessageRoutes => "message_routes(...)",
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
    /// One of these words.
    Word(&'static [&'static str]),
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
    /// A prefix, a resource and an action: `route("mail", MailOutbox, record)`.
    Route,
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
}

/// The option of this name at this place.
pub fn find(place: Place, name: &str) -> Option<&'static Key> {
    KEYS.iter()
        .find(|key| key.place == place && key.name == name)
}

/// The options of a place, in table order.
pub fn available(place: Place) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.place == place)
}

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
            assert!(key.usage.starts_with(key.name), "{}", key.name);
        }
    }

    #[test]
    fn every_role_is_named_by_the_option_that_the_table_has() {
        use crate::contract::role::{Role, Unnamed};
        for role in Role::ALL {
            let Some(option) = role.option() else {
                continue;
            };
            let key = find(Place::Resource, option).unwrap();
            assert_eq!(key.shape, ValueShape::Name, "{option}");
            let Presence::Default(means) = key.presence else {
                panic!("{option} is required")
            };
            let expected = match role.unnamed() {
                Unnamed::Field(field) => format!("the field `{field}`"),
                Unnamed::FieldIfAny(field) => format!("the field `{field}`, if there is one"),
                Unnamed::Nothing => "not recorded".to_owned(),
            };
            assert_eq!(means, expected, "{option}");
        }
    }

    #[test]
    fn every_place_has_an_option() {
        for place in Place::ALL {
            assert!(available(*place).next().is_some(), "{place:?}");
        }
    }
}
