//! Does the program hold the hooks that the declaration names, and what do the tables' actions call?

use replicant_checkpoint::contract::resource::{ActionKind, ActionSpec, ResourceSpec, Shape};
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_transport::error::Site;
use replicant_transport::ident::QualifiedName;
use replicant_transport::source::Session;

use super::Request;
use crate::error::Error;
use crate::generation::{SourceNames, Table};
use crate::hooked::calls::Calls;
use crate::hooked::{Auxiliary, Hooks, TableHooks};
use crate::hooks::{ActionCode, Code};
use crate::reason::Reason;
use crate::resource::code_of;

/// Does any action of the sink call a hook? Hooks see the server's text.
pub(super) fn any(spec: &SinkSpec) -> bool {
    let mut actions = spec.resources().flat_map(|resource| resource.actions);
    actions.any(calls)
}

fn calls(action: &ActionSpec) -> bool {
    !(action.changes.is_empty() && action.validations.is_empty())
}

/// Reports actions whose hooks the program does not hold, and hooks that read what cannot be read by its key.
pub(super) fn check(request: &Request<'_>, violations: &mut Vec<Error>) {
    for resource in request.spec.resources() {
        let code = code_of(request.spec, request.code, resource);
        for action in resource.actions.iter().filter(|action| calls(action)) {
            let table = QualifiedName::new(resource.target.schema, resource.target.table).ok();
            let site = |fact: String| Site {
                table: table.clone(),
                ..Site::none().fact(fact)
            };
            if !code.is_some_and(|code| holds(code, action)) {
                let fact = format!("the hooks of {} are not given", action.called());
                violations.push(Error::new(Reason::HookCodeMissing, site(fact)));
            }
            if let Some(read) = unreadable(request.spec, action) {
                let fact = format!(
                    "{} reads {}, which is no current state",
                    action.called(),
                    read
                );
                let mut site = site(fact);
                site.option = Some("changes");
                violations.push(Error::new(Reason::OptionNotAvailable, site));
            }
        }
    }
}

/// Is it the code of this action, hook by hook?
fn holds(code: &Code, action: &ActionSpec) -> bool {
    let mut found = code.actions.iter();
    let Some(ActionCode {
        changes,
        validations,
        ..
    }) = found.find(|one| one.action == action.called())
    else {
        return false;
    };
    changes.len() == action.changes.len()
        && validations.len() == action.validations.len()
        && changes
            .iter()
            .zip(action.changes)
            .all(|(change, spec)| change.participants() == spec.participants)
}

/// A history or a log that a hook of this action reads.
fn unreadable(spec: &SinkSpec, action: &ActionSpec) -> Option<&'static str> {
    let participants = action.changes.iter().flat_map(|hook| hook.participants);
    participants
        .filter_map(|participant| {
            let found = |resource: &&ResourceSpec| resource.rust_path == participant.resource;
            let resource: &'static ResourceSpec = spec.resources().find(found)?;
            let reads = resource.action(participant.action)?.kind == ActionKind::Read;
            let keeps = matches!(resource.shape, Shape::History(_) | Shape::AppendLog(_));
            (reads && keeps).then_some(resource.rust_name)
        })
        .next()
}

/// What the admitted tables' actions call.
pub(super) fn hooks(
    request: &Request<'_>,
    session: &Session,
    tables: &[Table],
    auxiliaries: Vec<Table>,
) -> Hooks {
    let code = |table: &Table| code_of(request.spec, request.code, table.spec);
    Hooks {
        source: SourceNames {
            system: session.identity.system.to_string(),
            database: session.identity.database.clone(),
            slot: session.slot.as_str().to_owned(),
        },
        tables: tables
            .iter()
            .map(|table| TableHooks::of(table, code(table)?))
            .collect(),
        auxiliaries: auxiliaries
            .into_iter()
            .map(|table| {
                let actions = table.spec.actions.iter();
                let calls = code(&table).map(|code| {
                    actions
                        .filter_map(|action| Calls::of(code, action.called()))
                        .collect()
                });
                Auxiliary {
                    calls: calls.unwrap_or_default(),
                    table,
                }
            })
            .collect(),
    }
}
