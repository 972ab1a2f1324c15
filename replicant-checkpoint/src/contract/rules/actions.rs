//! Can the declared actions run the mirror? It reads, creates and destroys through unnamed actions, and the create
//! must accept every mapped column. `update` is optional: an update is a create with the same key.

use super::rule::Rule;
use super::violation::{Part, Violation};
use super::{fields_of, listed, nth};
use crate::contract::action::ActionKind;
use crate::contract::column::Visibility;
use crate::contract::declared::{
    DeclaredAccept, DeclaredAction, DeclaredColumn, DeclaredOrigin, DeclaredResource,
};

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let Some(actions) = &declared.actions else {
        return;
    };
    repeated(actions, found);
    missing(declared, actions, found);
    for (index, action) in actions.iter().enumerate() {
        accept(declared, index, action, found);
    }
    private(declared, found);
    let create = actions
        .iter()
        .position(|action| action.kind == ActionKind::Create && action.name.is_none());
    if let Some((index, action)) = nth(actions, create) {
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

// actions(read)
fn missing(declared: &DeclaredResource, actions: &[DeclaredAction], found: &mut Vec<Violation>) {
    let missing: Vec<&str> = [ActionKind::Read, ActionKind::Create, ActionKind::Destroy]
        .into_iter()
        .filter(|kind| {
            !actions
                .iter()
                .any(|action| action.kind == *kind && action.name.is_none())
        })
        .map(ActionKind::as_str)
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
            None => found.push(Violation::new(
                Rule::AcceptUnknown,
                [part, Part::Action(index)],
                format!("`{name}` is no field; {}", fields_of(declared)),
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

// #[replicant(private)] amount: i64
fn private(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    for (index, column) in declared.columns.iter().enumerate() {
        if column.visibility == Visibility::Private && column.source().is_some() {
            found.push(Violation::new(
                Rule::PrivateMapped,
                [Part::ColumnPrivate(index), Part::Field(index)],
                format!(
                    "`{}` is read from the source, but no action may write it",
                    column.field
                ),
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
    let DeclaredAccept::Fields(fields) = &action.accept else {
        return;
    };
    let dropped: Vec<&str> = declared
        .columns
        .iter()
        .filter(|column| column.source().is_some() && column.visibility == Visibility::Public)
        .filter(|column| !fields.contains(&column.field))
        .map(|column| column.field.as_str())
        .collect();
    if !dropped.is_empty() {
        found.push(Violation::new(
            Rule::ColumnNotAccepted,
            [Part::ActionAccept(index), Part::Action(index)],
            format!("the unnamed create does not accept {}", listed(&dropped)),
        ));
    }
}
