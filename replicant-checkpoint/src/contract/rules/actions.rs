//! Can the declared actions run the target? Mirrors and histories are read, created and destroyed through unnamed
//! actions, logs through their append action, and the create that runs must accept every column the sink writes.
//! `update` is optional for a mirror: an update is a create with the same key.

use super::list::Rule;
use super::nth;
use super::violation::{Part, Violation};
use super::wording::{field_meant, listed, shown};
use crate::contract::action::{ActionKind, ActionTenancy};
use crate::contract::column::Visibility;
use crate::contract::declared::{
    DeclaredAccept, DeclaredAction, DeclaredColumn, DeclaredOrigin, DeclaredResource, DeclaredShape,
};
use crate::contract::role::RoleOf;

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let Some(actions) = &declared.actions else {
        return;
    };
    repeated(actions, found);
    names(actions, found);
    missing(declared, actions, found);
    for (index, action) in actions.iter().enumerate() {
        accept(declared, index, action, found);
    }
    private(declared, found);
    bypass(declared, actions, found);
    if let Some((index, action)) = delivering_create(declared, actions) {
        dropped(declared, index, action, found);
    }
}

// actions(create(accept = all), create), create(record), update(record)
fn repeated(actions: &[DeclaredAction], found: &mut Vec<Violation>) {
    for (index, action) in actions.iter().enumerate() {
        let same = |other: &DeclaredAction| match (&action.name, &other.name) {
            (None, None) => action.kind == other.kind,
            (name, other) => name == other,
        };
        let Some(first) = actions.iter().take(index).position(same) else {
            continue;
        };
        found.push(match &action.name {
            None => Violation::new(
                Rule::PrimaryActionRepeated,
                [Part::Action(index), Part::Action(first)],
                format!("there are two unnamed `{}` actions", action.kind.as_str()),
            ),
            Some(name) => Violation::new(
                Rule::ActionNameRepeated,
                [Part::ActionName(index), Part::ActionName(first)],
                format!("two actions are called `{name}`"),
            ),
        });
    }
}

// actions(read), on a mirror
fn missing(declared: &DeclaredResource, actions: &[DeclaredAction], found: &mut Vec<Violation>) {
    let needed: &[ActionKind] = match declared.shape() {
        DeclaredShape::Mirror | DeclaredShape::History => {
            &[ActionKind::Read, ActionKind::Create, ActionKind::Destroy]
        }
        DeclaredShape::AppendLog => &[ActionKind::Read],
        DeclaredShape::Auxiliary => &[],
    };
    let missing: Vec<&str> = needed
        .iter()
        .filter(|kind| primary(actions, **kind).is_none())
        .map(|kind| kind.as_str())
        .collect();
    if !missing.is_empty() {
        found.push(Violation::new(
            Rule::ActionMissing,
            [Part::Actions],
            format!(
                "`{}` has no unnamed {}",
                declared.rust_name,
                listed(&missing)
            ),
        ));
    }
}

// create(create), update("close version")
fn names(actions: &[DeclaredAction], found: &mut Vec<Violation>) {
    for (index, action) in actions.iter().enumerate() {
        let Some(name) = &action.name else { continue };
        if ActionKind::ALL.iter().any(|kind| kind.as_str() == name) {
            found.push(Violation::new(
                Rule::ActionNameReserved,
                [Part::ActionName(index)],
                format!("`{name}` is the unnamed action of its kind"),
            ));
        } else if !is_rust_name(name) {
            found.push(Violation::new(
                Rule::ActionNameInvalid,
                [Part::ActionName(index)],
                format!("`{}` is not a Rust name", shown(name)),
            ));
        }
    }
}

fn is_rust_name(name: &str) -> bool {
    let letters = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = name
        .bytes()
        .next()
        .is_some_and(|first| !first.is_ascii_digit());
    // The only words that cannot be written as `r#word`.
    let spoken_for = matches!(name, "_" | "self" | "Self" | "super" | "crate");
    letters && begins && !spoken_for
}

// create(accept(a, a, no_such_field, surrogate_key, hidden)), read(accept = all)
fn accept(
    declared: &DeclaredResource,
    index: usize,
    action: &DeclaredAction,
    found: &mut Vec<Violation>,
) {
    let fields: &[String] = match &action.accept {
        DeclaredAccept::All => &[],
        DeclaredAccept::Fields(fields) => fields,
    };
    if matches!(action.kind, ActionKind::Read | ActionKind::Destroy) {
        if action.accept == DeclaredAccept::All || !fields.is_empty() {
            found.push(Violation::new(
                Rule::AcceptWithoutWrite,
                [Part::ActionAccept(index)],
                format!("a {} sets no field", action.kind.as_str()),
            ));
        }
        return;
    }
    for (position, name) in fields.iter().enumerate() {
        let part = Part::AcceptField(index, position);
        if fields.iter().take(position).any(|one| one == name) {
            found.push(Violation::new(
                Rule::AcceptRepeated,
                [part],
                format!("`{name}` is accepted twice"),
            ));
        }
        let column = declared
            .columns
            .iter()
            .position(|column| column.field == *name);
        match nth(&declared.columns, column) {
            // A field that is to hold a fact is missed by the rule about that fact.
            None if declared.role_of(name).is_some() => {}
            None => found.push(Violation::new(
                Rule::AcceptUnknown,
                [part, Part::Action(index)],
                format!("`{name}` is no field; {}", field_meant(declared, name)),
            )),
            Some(_) if is_provenance(declared, name) => found.push(Violation::new(
                Rule::ProvenanceAccepted,
                [part],
                format!(
                    "`{}` could forge what a snapshot saw in `{name}`",
                    action.called()
                ),
            )),
            Some((
                _,
                DeclaredColumn {
                    origin: DeclaredOrigin::Destination,
                    ..
                },
            )) => found.push(Violation::new(
                Rule::AcceptGenerated,
                [part],
                format!("`{name}` is generated"),
            )),
            Some((
                column,
                DeclaredColumn {
                    visibility: Visibility::Private,
                    ..
                },
            )) => found.push(Violation::new(
                Rule::AcceptPrivate,
                [part, Part::Field(column)],
                format!("`{name}` is private"),
            )),
            Some((
                _,
                DeclaredColumn {
                    visibility: Visibility::Public,
                    ..
                },
            )) => {}
        }
    }
}

fn is_provenance(declared: &DeclaredResource, field: &str) -> bool {
    let role = declared.role_of(field);
    role.is_some_and(|role| role.of() == RoleOf::Provenance)
}

// #[replicant(private)] amount: i64
fn private(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    for (index, column) in declared.columns.iter().enumerate() {
        let filled = match column.origin {
            DeclaredOrigin::Source(_) | DeclaredOrigin::Before(_) => "read from the source",
            DeclaredOrigin::Stamp if is_provenance(declared, &column.field) => continue,
            DeclaredOrigin::Stamp => "filled by the sink",
            DeclaredOrigin::Destination | DeclaredOrigin::Action => continue,
        };
        if column.visibility == Visibility::Private {
            found.push(Violation::new(
                Rule::PrivateMapped,
                [Part::ColumnPrivate(index), Part::Field(index)],
                format!("`{}` is {filled}, but no action may write it", column.field),
            ));
        }
    }
}

// create(accept(id)) beside a field `amount`
fn dropped(
    declared: &DeclaredResource,
    index: usize,
    action: &DeclaredAction,
    found: &mut Vec<Violation>,
) {
    let dropped: Vec<&str> = declared
        .columns
        .iter()
        .filter(|column| match column.origin {
            DeclaredOrigin::Source(_) | DeclaredOrigin::Before(_) => true,
            // What a snapshot saw is nobody's input.
            DeclaredOrigin::Stamp => declared
                .role_of(&column.field)
                .is_none_or(|role| role.of() != RoleOf::Provenance),
            DeclaredOrigin::Destination | DeclaredOrigin::Action => false,
        })
        // A private field has a rule of its own.
        .filter(|column| column.visibility == Visibility::Public)
        .map(|column| column.field.as_str())
        .filter(|field| !accepts(declared, action, field))
        .collect();
    if !dropped.is_empty() {
        let fact = match &action.name {
            None => format!("the unnamed create does not accept {}", listed(&dropped)),
            Some(name) => format!("`{name}` does not accept {}", listed(&dropped)),
        };
        found.push(Violation::new(
            Rule::ColumnNotAccepted,
            [Part::ActionAccept(index), Part::Action(index)],
            fact,
        ));
    }
}

// create(accept = all, multitenancy = bypass), under multitenancy(...)
fn bypass(declared: &DeclaredResource, actions: &[DeclaredAction], found: &mut Vec<Violation>) {
    if declared.tenancy.block.is_none() {
        return;
    }
    for (index, action) in actions.iter().enumerate() {
        let bypasses = matches!(
            action.tenancy,
            ActionTenancy::Bypass | ActionTenancy::BypassAll
        );
        if bypasses && is_delivered(declared, action) {
            found.push(Violation::new(
                Rule::ActionTenantBypass,
                [Part::ActionTenancy(index)],
                format!(
                    "the sink runs `{}`, which ignores the tenant",
                    action.called()
                ),
            ));
        }
    }
}

/// Does the sink run this action?
fn is_delivered(declared: &DeclaredResource, action: &DeclaredAction) -> bool {
    let called = |name: &str| action.called() == name;
    let primary = action.name.is_none();
    let by_shape = match declared.shape() {
        DeclaredShape::Mirror => primary && action.kind != ActionKind::Update,
        DeclaredShape::History => {
            (primary && action.kind != ActionKind::Update) || called(declared.close_action())
        }
        DeclaredShape::AppendLog => {
            (primary && action.kind == ActionKind::Read) || called(declared.append_action())
        }
        DeclaredShape::Auxiliary => false,
    };
    by_shape || by_snapshot(declared, action) || action.message.is_some()
}

/// Are an action's hooks run: by the sink for a change, or for a hook that runs the action?
pub(super) fn runs_hooks(declared: &DeclaredResource, action: &DeclaredAction) -> bool {
    let primary = |kind| action.name.is_none() && action.kind == kind;
    let called = |name: &str| action.called() == name;
    let by_shape = match declared.shape() {
        DeclaredShape::Mirror => primary(ActionKind::Create) || primary(ActionKind::Destroy),
        DeclaredShape::History => primary(ActionKind::Create) || called(declared.close_action()),
        DeclaredShape::AppendLog => called(declared.append_action()),
        DeclaredShape::Auxiliary => true,
    };
    by_shape || by_snapshot(declared, action)
}

/// Does a snapshot mark or retire rows by it?
fn by_snapshot(declared: &DeclaredResource, action: &DeclaredAction) -> bool {
    let called = |name: &str| action.called() == name;
    declared.has(RoleOf::Provenance)
        && (called(declared.mark_action()) || called(declared.retire_action()))
}

/// The create that the sink runs for a source row.
fn delivering_create<'a>(
    declared: &DeclaredResource,
    actions: &'a [DeclaredAction],
) -> Option<(usize, &'a DeclaredAction)> {
    match declared.shape() {
        DeclaredShape::Mirror | DeclaredShape::History => primary(actions, ActionKind::Create),
        DeclaredShape::AppendLog => {
            find_action(actions, ActionKind::Create, declared.append_action())
        }
        DeclaredShape::Auxiliary => None,
    }
}

/// The unnamed action of a kind.
fn primary(actions: &[DeclaredAction], kind: ActionKind) -> Option<(usize, &DeclaredAction)> {
    let mut actions = actions.iter().enumerate();
    actions.find(|(_, action)| action.kind == kind && action.name.is_none())
}

/// The action of a kind that is called so.
pub(super) fn find_action<'a>(
    actions: &'a [DeclaredAction],
    kind: ActionKind,
    called: &str,
) -> Option<(usize, &'a DeclaredAction)> {
    let mut actions = actions.iter().enumerate();
    actions.find(|(_, action)| action.kind == kind && action.called() == called)
}

/// May an action set a field?
pub(super) fn accepts(declared: &DeclaredResource, action: &DeclaredAction, field: &str) -> bool {
    match &action.accept {
        DeclaredAccept::Fields(fields) => fields.iter().any(|one| one == field),
        DeclaredAccept::All => declared.column(field).is_some_and(|(_, column)| {
            column.visibility == Visibility::Public && column.origin != DeclaredOrigin::Destination
        }),
    }
}
