//! Does every message route lead to an action that may take messages?

#![expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist; at run \
              time the index is made from the same sink"
)]

use super::{Sink, find_action};
use crate::contract::action::{ActionKind, ActionSpec};
use crate::contract::constant::equal;
use crate::contract::refusal::Fact;
use crate::contract::resource::{ResourceSpec, Shape, Tenancy, TenancyReach};
use crate::contract::rules::Rule;
use crate::contract::sink::SinkKind;

/// The resource of a route that no domain of the sink lists.
pub(super) const fn resource(sink: &Sink<'_>, route: usize) -> Fact {
    let route = &sink.spec.message_routes[route];
    match sink.find(route.resource) {
        Some(_) => Fact::NONE,
        None => Fact::NONE
            .quote(route.resource)
            .text(" is in none of the sink's domains"),
    }
}

/// What is wrong with the action of a route.
pub(super) const fn action(sink: &Sink<'_>, route: usize, rule: Rule) -> Fact {
    let route = &sink.spec.message_routes[route];
    let Some(resource) = sink.find(route.resource) else {
        return Fact::NONE;
    };
    let spec = sink.resources[resource];
    if spec.broken {
        return Fact::NONE;
    }
    let Some(found) = find_action(spec, route.action) else {
        return match rule {
            Rule::DestinationActionMissing => Fact::NONE
                .quote(spec.rust_name)
                .text(" has no action ")
                .quote(route.action)
                .text("; ")
                .actions(spec.actions),
            _ => Fact::NONE,
        };
    };
    let action = &spec.actions[found];
    match (rule, sink.spec.kind) {
        (Rule::DestinationMessageRouteInvalid, SinkKind::StateMirror) => to_auxiliary(spec, action),
        (Rule::DestinationAppendMessageRouteInvalid, SinkKind::AppendLog) => to_log(spec, action),
        (Rule::RetentionBelowRecoveryHorizon, SinkKind::StateMirror) => retention(sink, action),
        _ => Fact::NONE,
    }
}

const fn to_auxiliary(spec: &ResourceSpec, action: &ActionSpec) -> Fact {
    let fact = Fact::NONE.action(spec.rust_name, action.called());
    if !matches!(spec.shape, Shape::Auxiliary) {
        fact.text(" writes rows that the source writes")
    } else if !matches!(action.kind, ActionKind::Create) || action.message.is_none() {
        fact.text(" takes no messages")
    } else if is_scoped(spec) {
        fact.text(" needs a tenant, and a message has none")
    } else {
        Fact::NONE
    }
}

const fn to_log(spec: &ResourceSpec, action: &ActionSpec) -> Fact {
    let fact = Fact::NONE.action(spec.rust_name, action.called());
    let Shape::AppendLog(append) = &spec.shape else {
        return fact.text(" records no events");
    };
    if !matches!(action.kind, ActionKind::Create) || !equal(action.called(), append.action) {
        fact.text(" is not what records events; that is ")
            .quote(append.action)
    } else if append.message_prefix.is_none() || append.message_content.is_none() {
        fact.text(" has no fields for a message's prefix and content")
    } else if is_scoped(spec) {
        fact.text(" needs a tenant, and a message has none")
    } else {
        Fact::NONE
    }
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

const fn retention(sink: &Sink<'_>, action: &ActionSpec) -> Fact {
    match (&action.message, &sink.spec.recovery_horizon) {
        (Some(message), Some(horizon)) if message.retention.seconds() < horizon.seconds() => {
            Fact::NONE
                .quote(action.called())
                .text(" forgets a message after ")
                .period(message.retention)
                .text(", and it may be delivered again for ")
                .period(*horizon)
        }
        _ => Fact::NONE,
    }
}
