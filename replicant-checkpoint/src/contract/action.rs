//! What a named operation of a target declares. The sink derives SQL from it and invents none.

use super::column::Visibility;
use super::period::Period;

/// What an action does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum ActionKind {
    /// Reads rows.
    Read,
    /// Inserts or upserts a row.
    Create,
    /// Updates a row.
    Update,
    /// Deletes a row.
    Destroy,
}

impl ActionKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Read, Self::Create, Self::Update, Self::Destroy];

    /// The option that declares it, which is also how the unnamed action of the kind is referred to.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Update => "update",
            Self::Destroy => "destroy",
        }
    }
}

/// Which fields an action may set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accept {
    /// Every field that is neither private nor generated.
    All,
    /// These fields.
    Fields(&'static [&'static str]),
}

/// How an action treats tenants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ActionTenancy {
    /// It runs for one tenant. The default.
    Enforce,
    /// `allow_global`: it runs for one tenant or for none.
    AllowGlobal,
    /// `bypass`: it ignores the tenant. Legal only where the sink and no participant runs it.
    Bypass,
    /// `bypass_all`: it ignores the tenant, and so does what it runs. Legal only where the sink and no participant
    /// runs it.
    BypassAll,
}

/// Does an action mark rows as seen by a snapshot?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Marking {
    /// No. The default.
    Unmarked,
    /// `mark_seen`: it writes the two provenance columns, which nothing else may.
    MarkSeen,
}

/// An action of a resource, by names alone, so that no resource's constants refer to another's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct ActionRef {
    /// [`ResourceSpec::rust_path`](super::resource::ResourceSpec::rust_path) of the resource.
    pub resource: &'static str,
    /// The action's name, or the word of its kind for the unnamed one.
    pub action: &'static str,
}

/// A change hook of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HookSpec {
    /// The hook type's path, as written.
    pub name: &'static str,
    /// What it runs inside the delivery transaction; empty for a hook that touches no database.
    pub participants: &'static [ActionRef],
}

/// What makes an action the target of messages: a claim, kept so long, under which its effect happens once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageSpec {
    /// How long the claim is kept.
    pub retention: Period,
    /// `effect = path`: an effect outside the destination, by its type's path as written.
    pub effect: Option<&'static str>,
}

/// One declared action. The primary of a kind has no name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActionSpec {
    /// What it does.
    pub kind: ActionKind,
    /// Its name; `None` is the primary of its kind.
    pub name: Option<&'static str>,
    /// Which fields it may set.
    pub accept: Accept,
    /// Who may run it.
    pub visibility: Visibility,
    /// How it treats tenants.
    pub tenancy: ActionTenancy,
    /// Whether it marks rows for a snapshot.
    pub marking: Marking,
    /// Hooks that change what is written.
    pub changes: &'static [HookSpec],
    /// Hooks that refuse what is written, by path as written. They touch no database.
    pub validations: &'static [&'static str],
    /// The resources its hooks touch, by [`rust_path`](super::resource::ResourceSpec::rust_path).
    pub touches: &'static [&'static str],
    /// Whether messages may run it, and for how long they are remembered.
    pub message: Option<MessageSpec>,
}

impl ActionSpec {
    /// An unnamed public action without hooks.
    pub const fn new(kind: ActionKind, accept: Accept) -> Self {
        Self {
            kind,
            name: None,
            accept,
            visibility: Visibility::Public,
            tenancy: ActionTenancy::Enforce,
            marking: Marking::Unmarked,
            changes: &[],
            validations: &[],
            touches: &[],
            message: None,
        }
    }

    /// What others call it: its name, or the word of its kind.
    pub const fn called(&self) -> &'static str {
        match self.name {
            Some(name) => name,
            None => self.kind.as_str(),
        }
    }
}
