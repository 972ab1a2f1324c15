//! How rows are held: mirror, history, append log or auxiliary, and which fields hold what the sink fills.

use replicant_checkpoint::contract::declared::{
    DeclaredAppend, DeclaredHistory, DeclaredProvenance, DeclaredResource, DeclaredShape, Written,
};
use replicant_checkpoint::contract::role::Role;
use replicant_checkpoint::contract::rules::Part;

use crate::options::{Options, Value};
use crate::spans::Spans;

pub(super) fn lower(options: &Options, declared: &mut DeclaredResource, spans: &mut Spans) {
    for (option, span, value) in options.all() {
        let (shape, span) = match (option, value) {
            ("history_strategy", Value::Name(word)) if word.text == "scd2" => {
                (DeclaredShape::History, word.span)
            }
            ("history_strategy", Value::Name(word)) => (DeclaredShape::Mirror, word.span),
            ("append_log", _) => (DeclaredShape::AppendLog, span),
            ("auxiliary", _) => (DeclaredShape::Auxiliary, span),
            _ => continue,
        };
        spans.put(Part::Shape(declared.shapes.len()), span);
        declared.shapes.push(shape);
    }
    for role in Role::ALL {
        let named = role.option();
        let named = named.and_then(|option| spans.text(Part::Role(*role), options, option));
        if let Some(field) = named {
            declared.roles.push((*role, field));
        }
    }
    if let Some(span) = options.span("history_business_key") {
        spans.put(Part::BusinessKey, span);
    }
    declared.history = DeclaredHistory {
        business_key: options
            .names("history_business_key")
            .map(|names| spans.texts(Part::BusinessKeyField, names)),
        close_action: spans.text(Part::CloseAction, options, "history_close_action"),
    };
    declared.append = DeclaredAppend {
        action: spans.text(Part::AppendAction, options, "append_action"),
        identity: spans.text(Part::AppendIdentity, options, "append_identity"),
    };
    let opted_in = options.span("snapshot_provenance");
    for (span, part) in [
        (opted_in, Part::Provenance),
        (options.span("snapshot_scopes"), Part::SnapshotScopes),
    ] {
        if let Some(span) = span {
            spans.put(part, span);
        }
    }
    declared.provenance = DeclaredProvenance {
        opted_in: match opted_in {
            Some(_) => Written::Yes,
            None => Written::No,
        },
        mark_action: spans.text(Part::MarkAction, options, "snapshot_mark_action"),
        retire_action: spans.text(Part::RetireAction, options, "snapshot_retire_action"),
        scopes: options
            .block("snapshot_scopes")
            .and_then(|block| block.path("path"))
            .map(|path| path.text()),
    };
}
