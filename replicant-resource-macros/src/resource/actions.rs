//! The named operations: `actions(read, create(record, accept(...), changes(...)), ...)`.

use replicant_checkpoint::contract::declared::{
    DeclaredAccept, DeclaredAction, DeclaredMessage, DeclaredResource,
};
use replicant_checkpoint::contract::resource::{ActionKind, ActionTenancy, Marking, Visibility};
use replicant_checkpoint::contract::rules::Part;

use crate::options::{Options, Value};
use crate::path::Path;
use crate::spans::Spans;

/// The types an action names.
#[derive(Default)]
pub(crate) struct EmittedAction {
    pub(crate) changes: Vec<Path>,
    pub(crate) validations: Vec<Path>,
    pub(crate) touches: Vec<Path>,
    pub(crate) effect: Option<Path>,
}

pub(super) fn lower(
    options: &Options,
    declared: &mut DeclaredResource,
    spans: &mut Spans,
) -> Vec<EmittedAction> {
    let Some(block) = options.block("actions") else {
        return Vec::new();
    };
    if let Some(span) = options.span("actions") {
        spans.put(Part::Actions, span);
    }
    let (mut actions, mut emitted) = (Vec::new(), Vec::new());
    for (kind, span, value) in block.all() {
        let kind = match kind {
            "read" => ActionKind::Read,
            "create" => ActionKind::Create,
            "update" => ActionKind::Update,
            "destroy" => ActionKind::Destroy,
            _ => continue,
        };
        let Value::Block(name, inner) = value else {
            continue;
        };
        let index = actions.len();
        spans.put(Part::Action(index), span);
        spans.put(
            Part::ActionName(index),
            name.as_ref().map_or(span, |name| name.span),
        );
        spans.put(
            Part::ActionAccept(index),
            inner.span("accept").unwrap_or(span),
        );
        let types = types(index, inner, spans);
        let texts = |paths: &[Path]| paths.iter().map(Path::text).collect();
        actions.push(DeclaredAction {
            name: name.as_ref().map(|name| name.text.clone()),
            visibility: match flag(inner, "private", Part::ActionPrivate(index), spans) {
                true => Visibility::Private,
                false => Visibility::Public,
            },
            tenancy: tenancy(index, inner, spans),
            marking: match flag(inner, "mark_seen", Part::ActionMarking(index), spans) {
                true => Marking::MarkSeen,
                false => Marking::Unmarked,
            },
            changes: texts(&types.changes),
            validations: texts(&types.validations),
            touches: texts(&types.touches),
            message: message(index, inner, spans),
            ..DeclaredAction::new(kind, accept(index, kind, inner, spans))
        });
        emitted.push(types);
    }
    declared.actions = Some(actions);
    emitted
}

fn accept(index: usize, kind: ActionKind, inner: &Options, spans: &mut Spans) -> DeclaredAccept {
    match inner.get("accept") {
        Some((_, Value::AcceptAll)) => DeclaredAccept::All,
        Some((_, Value::AcceptFields(fields))) => DeclaredAccept::Fields(
            spans.texts(|position| Part::AcceptField(index, position), fields),
        ),
        // Unreadable: assume the form that causes no further message.
        None if inner.was_written("accept") => match kind {
            ActionKind::Create | ActionKind::Update => DeclaredAccept::All,
            ActionKind::Read | ActionKind::Destroy => DeclaredAccept::Fields(Vec::new()),
        },
        _ => DeclaredAccept::Fields(Vec::new()),
    }
}

fn tenancy(index: usize, inner: &Options, spans: &mut Spans) -> ActionTenancy {
    let word = spans.text(Part::ActionTenancy(index), inner, "multitenancy");
    match word.as_deref() {
        Some("allow_global") => ActionTenancy::AllowGlobal,
        Some("bypass") => ActionTenancy::Bypass,
        Some("bypass_all") => ActionTenancy::BypassAll,
        _ => ActionTenancy::Enforce,
    }
}

fn types(index: usize, inner: &Options, spans: &mut Spans) -> EmittedAction {
    let mut paths = |option: &str, part: fn(usize, usize) -> Part| {
        let paths = inner.paths(option);
        for (position, path) in paths.iter().enumerate() {
            spans.put(part(index, position), path.span);
            spans.put_option(part(index, position), inner.span(option));
        }
        paths.to_vec()
    };
    EmittedAction {
        changes: paths("changes", Part::Change),
        validations: paths("validations", Part::Validation),
        touches: paths("touches", Part::Touch),
        effect: inner
            .block("message")
            .and_then(|message| message.path("effect"))
            .cloned(),
    }
}

fn message(index: usize, inner: &Options, spans: &mut Spans) -> Option<DeclaredMessage> {
    let block = inner.block("message")?;
    if let Some(span) = inner.span("message") {
        spans.put(Part::Message(index), span);
    }
    let effect = block.path("effect");
    if let Some(path) = effect {
        spans.put(Part::MessageEffect(index), path.span);
    }
    Some(DeclaredMessage {
        retention: spans.text(Part::MessageRetention(index), block, "retention"),
        effect: effect.map(Path::text),
    })
}

fn flag(inner: &Options, option: &str, part: Part, spans: &mut Spans) -> bool {
    let span = inner.span(option);
    if let Some(span) = span {
        spans.put(part, span);
    }
    span.is_some()
}
