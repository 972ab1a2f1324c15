//! May hooks run what they run? Inside a delivery, the actions of auxiliary resources and reads of mirrored ones,
//! within the tenant, and never in a circle.

#![expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist; at run \
              time the index is made from the same sink"
)]

use super::{Sink, find_action};
use crate::contract::action::{ActionKind, ActionRef, ActionSpec, ActionTenancy};
use crate::contract::column::Visibility;
use crate::contract::refusal::Fact;
use crate::contract::resource::{ResourceSpec, Tenancy, TenancyReach};
use crate::contract::rules::Rule;

/// What is wrong with what the hooks of a domain's resources run.
pub(super) const fn judge(sink: &Sink<'_>, domain: usize, rule: Rule) -> Fact {
    let mut fact = Fact::NONE;
    let (mut at, end) = sink.bounds(domain);
    while at < end {
        let spec = sink.resources[at];
        let mut action = 0;
        while action < spec.actions.len() && !spec.broken {
            let changes = spec.actions[action].changes;
            let mut hook = 0;
            while hook < changes.len() {
                let mut one = 0;
                while one < changes[hook].participants.len() {
                    let participant = &changes[hook].participants[one];
                    let wrong = wrong_with(sink, spec, participant, rule);
                    if !wrong.is_empty() {
                        fact = fact
                            .line()
                            .quote(changes[hook].name)
                            .text(" of ")
                            .quote(spec.rust_name)
                            .text(" runs ")
                            .action(participant.resource, participant.action)
                            .text(wrong);
                        if matches!(rule, Rule::DestinationActionMissing)
                            && let Some(resource) = sink.find(participant.resource)
                        {
                            fact = fact.actions(sink.resources[resource].actions);
                        }
                    }
                    one += 1;
                }
                hook += 1;
            }
            action += 1;
        }
        at += 1;
    }
    fact
}

/// What is wrong with one participant by one rule; nothing is an empty text.
const fn wrong_with(
    sink: &Sink<'_>,
    host: &ResourceSpec,
    participant: &ActionRef,
    rule: Rule,
) -> &'static str {
    let Some(resource) = sink.find(participant.resource) else {
        return match rule {
            Rule::DestinationParticipantUnknown => ", which is in none of the sink's domains",
            _ => "",
        };
    };
    let spec = sink.resources[resource];
    if spec.broken {
        return "";
    }
    let Some(found) = find_action(spec, participant.action) else {
        return match rule {
            Rule::DestinationActionMissing => ", which is no action of it; ",
            _ => "",
        };
    };
    let action = &spec.actions[found];
    match rule {
        Rule::DestinationParticipantMirrored if writes_mirrored(spec, action) => {
            ", which writes rows that the source writes"
        }
        // Nothing but the first mistake about one participant.
        _ if writes_mirrored(spec, action) => "",
        Rule::DestinationParticipantInvalid if matches!(action.visibility, Visibility::Private) => {
            ", which is private"
        }
        Rule::DestinationParticipantInvalid if action.message.is_some() => {
            ", which is for messages"
        }
        Rule::DestinationActionTenantBypass
            if matches!(
                action.tenancy,
                ActionTenancy::Bypass | ActionTenancy::BypassAll
            ) =>
        {
            ", which ignores the tenant"
        }
        Rule::DestinationParticipantTenant
            if matches!(action.tenancy, ActionTenancy::Enforce)
                && is_scoped(spec)
                && !is_scoped(host) =>
        {
            ", which needs a tenant that the hook may not have"
        }
        _ => "",
    }
}

const fn writes_mirrored(spec: &ResourceSpec, action: &ActionSpec) -> bool {
    spec.is_mapped() && !matches!(action.kind, ActionKind::Read)
}

const fn is_scoped(spec: &ResourceSpec) -> bool {
    matches!(
        spec.tenancy,
        Tenancy::Tenanted {
            reach: TenancyReach::Scoped,
            ..
        }
    )
}

/// How many actions one chain of hooks may run, and how many a search from one action may see. Far more than anybody
/// can follow.
const STEPS_MAX: usize = 64;
const SEEN_MAX: usize = 256;

/// One action on the way: its resource, itself, and the next hook and participant to follow.
#[derive(Clone, Copy)]
struct Step {
    resource: usize,
    action: usize,
    hook: usize,
    participant: usize,
}

/// Circles that begin in a domain's resources: each is reported once, at its first action in the sink's order.
pub(super) const fn cycles(sink: &Sink<'_>, domain: usize) -> Fact {
    let mut fact = Fact::NONE;
    let (mut at, end) = sink.bounds(domain);
    while at < end {
        let mut action = 0;
        while action < sink.resources[at].actions.len() && !sink.resources[at].broken {
            if !sink.resources[at].actions[action].changes.is_empty() {
                fact = circle(sink, at, action, fact);
            }
            action += 1;
        }
        at += 1;
    }
    fact
}

/// Adds the circle through an action that has no earlier action in it, if there is one.
const fn circle(sink: &Sink<'_>, resource: usize, action: usize, fact: Fact) -> Fact {
    let start = Step {
        resource,
        action,
        hook: 0,
        participant: 0,
    };
    let mut path = [start; STEPS_MAX];
    let mut depth = 1;
    let mut seen = [(resource, action); SEEN_MAX];
    let mut known = 1;
    while depth > 0 {
        let step = path[depth - 1];
        let changes = sink.resources[step.resource].actions[step.action].changes;
        if step.hook == changes.len() {
            depth -= 1;
            continue;
        }
        let participants = changes[step.hook].participants;
        if step.participant == participants.len() {
            path[depth - 1].hook += 1;
            path[depth - 1].participant = 0;
            continue;
        }
        path[depth - 1].participant += 1;
        let participant = &participants[step.participant];
        let Some(next) = sink.find(participant.resource) else {
            continue;
        };
        let Some(runs) = find_action(sink.resources[next], participant.action) else {
            continue;
        };
        if sink.resources[next].broken {
            continue;
        }
        if next == resource && runs == action {
            return told(sink, &path, depth, fact.line());
        }
        let earlier = next < resource || (next == resource && runs < action);
        if earlier || is_seen(&seen, known, next, runs) {
            continue;
        }
        if depth == STEPS_MAX || known == SEEN_MAX {
            return fact
                .line()
                .action(
                    sink.resources[resource].rust_name,
                    sink.resources[resource].actions[action].called(),
                )
                .text(" runs more actions than can be followed");
        }
        seen[known] = (next, runs);
        known += 1;
        path[depth] = Step {
            resource: next,
            action: runs,
            hook: 0,
            participant: 0,
        };
        depth += 1;
    }
    fact
}

const fn is_seen(
    seen: &[(usize, usize); SEEN_MAX],
    known: usize,
    resource: usize,
    action: usize,
) -> bool {
    let mut at = 0;
    while at < known {
        if seen[at].0 == resource && seen[at].1 == action {
            return true;
        }
        at += 1;
    }
    false
}

/// Hooks run in a circle: Order::create -> Receipt::record -> Order::create
const fn told(sink: &Sink<'_>, path: &[Step; STEPS_MAX], depth: usize, fact: Fact) -> Fact {
    let mut fact = fact.text("hooks run in a circle: ");
    let mut at = 0;
    while at <= depth {
        let step = if at == depth { path[0] } else { path[at] };
        let spec = sink.resources[step.resource];
        if at > 0 {
            fact = fact.text(" -> ");
        }
        fact = fact
            .text(spec.rust_name)
            .text("::")
            .text(spec.actions[step.action].called());
        at += 1;
    }
    fact
}
