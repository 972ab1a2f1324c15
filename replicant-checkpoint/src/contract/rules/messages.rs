//! Does a sink know what to do with its messages, and where its log begins? Where a route leads is a relation.

use super::hooks::period;
use super::list::Rule;
use super::violation::{Part, Violation};
use super::wording::shown;
use crate::contract::declared::DeclaredSink;
use crate::contract::sink::SinkKind;

pub(super) fn check(declared: &DeclaredSink, found: &mut Vec<Violation>) {
    beginning(declared, found);
    prefixes(declared, found);
    horizon(declared, found);
}

// sink_kind = append_log alone, or initial_state = snapshot on a mirror
fn beginning(declared: &DeclaredSink, found: &mut Vec<Violation>) {
    match (declared.kind, declared.initial_state) {
        (Some(SinkKind::AppendLog), None) => found.push(Violation::new(
            Rule::InitialStateMissing,
            [Part::SinkKind],
            "nothing says where the log begins",
        )),
        (Some(SinkKind::StateMirror) | None, Some(_)) => found.push(Violation::new(
            Rule::InitialStateUnused,
            [Part::InitialState],
            "a mirror has no first event",
        )),
        (Some(SinkKind::AppendLog), Some(_)) | (Some(SinkKind::StateMirror) | None, None) => {}
    }
}

// message_routes(route("", A, b)), the same prefix twice, or routed and ignored
fn prefixes(declared: &DeclaredSink, found: &mut Vec<Violation>) {
    let routed: Vec<(&str, Part)> = declared
        .message_routes
        .iter()
        .enumerate()
        .map(|(index, route)| (route.prefix.as_str(), Part::RoutePrefix(index)))
        .collect();
    let ignored: Vec<(&str, Part)> = declared
        .ignored_message_prefixes
        .iter()
        .enumerate()
        .map(|(index, prefix)| (prefix.as_str(), Part::IgnoredPrefix(index)))
        .collect();
    for list in [&routed, &ignored] {
        for (index, (prefix, part)) in list.iter().enumerate() {
            if prefix.is_empty() || prefix.contains('\0') {
                found.push(Violation::new(
                    Rule::MessagePrefixInvalid,
                    [*part],
                    format!("no message has the prefix `{}`", shown(prefix)),
                ));
            } else if let Some((_, first)) = list.iter().take(index).find(|(one, _)| one == prefix)
            {
                found.push(Violation::new(
                    Rule::MessagePrefixRepeated,
                    [*part, *first],
                    format!("`{}` is listed twice", shown(prefix)),
                ));
            }
        }
    }
    for (prefix, part) in &ignored {
        if let Some((_, route)) = routed.iter().find(|(one, _)| one == prefix) {
            found.push(Violation::new(
                Rule::MessagePrefixConflict,
                [*part, *route],
                format!("messages of `{}` are routed", shown(prefix)),
            ));
        }
    }
}

// message_routes(...) without recovery_horizon, or the other way round
fn horizon(declared: &DeclaredSink, found: &mut Vec<Violation>) {
    let mirror = declared.kind != Some(SinkKind::AppendLog);
    let routed = !declared.message_routes.is_empty();
    match &declared.recovery_horizon {
        None if mirror && routed => found.push(Violation::new(
            Rule::RecoveryHorizonMissing,
            [Part::MessageRoutes],
            "nothing says how long a message may be delivered again",
        )),
        None => {}
        Some(_) if !mirror || !routed => found.push(Violation::new(
            Rule::RecoveryHorizonUnused,
            [Part::RecoveryHorizon],
            if mirror {
                "no message is routed"
            } else {
                "a log remembers its messages for ever"
            },
        )),
        Some(text) => found.extend(period(text, Part::RecoveryHorizon)),
    }
}
