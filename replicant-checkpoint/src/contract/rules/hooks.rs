//! Are hooks and messages on actions that can run them? What hooks do to other resources is a relation.

use super::actions::{accepts, runs_hooks};
use super::list::Rule;
use super::violation::{Part, Violation};
use crate::contract::action::ActionKind;
use crate::contract::declared::{DeclaredAction, DeclaredMessage, DeclaredResource, DeclaredShape};
use crate::contract::message::CONTENT_FIELD;
use crate::contract::period::Period;
use crate::contract::tenancy::TenancyReach;

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    for (index, action) in declared.actions.iter().flatten().enumerate() {
        hooks(declared, index, action, found);
        if let Some(written) = &action.message {
            message(declared, index, action, written, found);
        }
    }
    tenanted(declared, found);
}

// create(accept = all, changes(H, H)), read(validations(V)), touches(R, R)
fn hooks(
    declared: &DeclaredResource,
    index: usize,
    action: &DeclaredAction,
    found: &mut Vec<Violation>,
) {
    let changes = names(&action.changes, |entry| Part::Change(index, entry));
    let validations = names(&action.validations, |entry| Part::Validation(index, entry));
    let touches = names(&action.touches, |entry| Part::Touch(index, entry));
    if action.kind == ActionKind::Read {
        let mut all = changes.iter().chain(&validations).chain(&touches);
        if let Some((_, part)) = all.next() {
            found.push(Violation::new(
                Rule::HookOnRead,
                [*part],
                "a read writes nothing that a hook could change or refuse",
            ));
        }
        return;
    }
    // update(accept = all, changes(H)), on a mirror
    let mut all = changes.iter().chain(&validations);
    if let Some((_, part)) = all.next().filter(|_| !runs_hooks(declared, action)) {
        found.push(Violation::new(
            Rule::HookNeverRun,
            [*part],
            format!(
                "nothing runs `{}` of `{}`",
                action.called(),
                declared.rust_name
            ),
        ));
    }
    for (list, rule) in [
        (changes, Rule::HookRepeated),
        (validations, Rule::HookRepeated),
        (touches, Rule::TouchesRepeated),
    ] {
        for (position, (name, part)) in list.iter().enumerate() {
            if list.iter().take(position).any(|(one, _)| one == name) {
                found.push(Violation::new(
                    rule,
                    [*part],
                    format!("`{name}` is listed twice"),
                ));
            }
        }
    }
}

fn names(listed: &[String], part: impl Fn(usize) -> Part) -> Vec<(&str, Part)> {
    listed
        .iter()
        .enumerate()
        .map(|(entry, name)| (name.as_str(), part(entry)))
        .collect()
}

// update(record, message(retention = "72h")); create(record, message(retention = "soon")) on a mirror
fn message(
    declared: &DeclaredResource,
    index: usize,
    action: &DeclaredAction,
    written: &DeclaredMessage,
    found: &mut Vec<Violation>,
) {
    if let Some(retention) = &written.retention {
        found.extend(period(retention, Part::MessageRetention(index)));
    }
    let mut refuse = |rule: Rule, fact: String| {
        found.push(Violation::new(rule, [Part::Message(index)], fact));
    };
    if declared.shape() != DeclaredShape::Auxiliary {
        let fact = format!("the source writes the rows of `{}`", declared.rust_name);
        refuse(Rule::MessageNotAuxiliary, fact);
        return;
    }
    if action.kind != ActionKind::Create {
        let fact = format!(
            "`{}` is declared as `{}`, and a message runs a create",
            action.called(),
            action.kind.as_str()
        );
        refuse(Rule::MessageNotCreate, fact);
        return;
    }
    let kept = declared.column(CONTENT_FIELD).is_some() && accepts(declared, action, CONTENT_FIELD);
    if !kept {
        let fact = format!(
            "`{}` does not accept a field `{CONTENT_FIELD}`",
            action.called()
        );
        refuse(Rule::MessageContentMissing, fact);
    }
}

// auxiliary, multitenancy(strategy = attribute, attribute = org_id), actions(create(record, message(...)))
fn tenanted(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let block = declared.tenancy.block.as_ref();
    let scoped = block.is_some_and(|block| block.reach == TenancyReach::Scoped);
    if !scoped || declared.shape() != DeclaredShape::Auxiliary {
        return;
    }
    let mut actions = declared.actions.iter().flatten();
    let message =
        actions.find(|action| action.message.is_some() && action.kind == ActionKind::Create);
    if let Some(action) = message {
        found.push(Violation::new(
            Rule::MessageTenanted,
            [Part::Multitenancy],
            format!(
                "`{}` runs for a message, and every row of `{}` needs a tenant",
                action.called(),
                declared.rust_name
            ),
        ));
    }
}

/// Is this a period?
pub(super) fn period(text: &str, part: Part) -> Option<Violation> {
    Period::parse(text).is_none().then(|| {
        Violation::new(
            Rule::PeriodInvalid,
            [part],
            format!("`{}` is no period", super::wording::shown(text)),
        )
    })
}
