//! Validity windows.

use super::{Case, accept, actions, at, case, identity, text, texts};
use crate::contract::declared::{DeclaredAccept, DeclaredOrigin};
use crate::contract::rules::{Part, Rule};
use crate::contract::tests::declarations::LINE_VERSION;

pub(super) const CASES: &[Case] = &[
    case(
        Rule::BusinessKeyMissing,
        &LINE_VERSION,
        Part::Shape(0),
        |it| it.history.business_key = None,
        |_| {},
    ),
    case(
        Rule::BusinessKeyMissing,
        &LINE_VERSION,
        Part::BusinessKey,
        |it| it.history.business_key = Some(Vec::new()),
        |_| {},
    ),
    case(
        Rule::BusinessKeyUnknown,
        &LINE_VERSION,
        Part::BusinessKeyField(0),
        |it| it.history.business_key = Some(texts(&["lineid"])),
        |_| {},
    ),
    case(
        Rule::BusinessKeyRepeated,
        &LINE_VERSION,
        Part::BusinessKeyField(1),
        |it| it.history.business_key = Some(texts(&["line_id", "line_id"])),
        |it| {
            it.history.business_key = Some(texts(&["line_id", "amount"]));
            it.identities = vec![identity(
                "version",
                &["line_id", "amount", "valid_from_lsn"],
            )];
        },
    ),
    case(
        Rule::BusinessKeyPrimary,
        &LINE_VERSION,
        Part::BusinessKeyField(0),
        |it| it.primary_key = texts(&["line_id"]),
        |it| it.primary_key = texts(&["org_id", "version_id"]),
    ),
    case(
        Rule::BusinessKeyNotMapped,
        &LINE_VERSION,
        Part::BusinessKeyField(0),
        |it| at(it, "line_id").origin = DeclaredOrigin::Destination,
        |it| at(it, "line_id").origin = DeclaredOrigin::Source("line".into()),
    ),
    case(
        Rule::HistoryIdentityMissing,
        &LINE_VERSION,
        Part::Shape(0),
        |it| it.upsert_identity = None,
        |_| {},
    ),
    case(
        Rule::HistoryIdentityKeys,
        &LINE_VERSION,
        Part::IdentityKeys(0),
        |it| it.identities = vec![identity("version", &["line_id"])],
        |it| it.identities = vec![identity("version", &["valid_from_lsn", "line_id"])],
    ),
    case(
        Rule::HistoryIdentityKeys,
        &LINE_VERSION,
        Part::IdentityKeys(0),
        |it| {
            it.identities = vec![identity(
                "version",
                &["line_id", "valid_from_lsn", "amount"],
            )]
        },
        |it| {
            it.identities
                .push(identity("other", &["line_id", "valid_from_lsn", "amount"]))
        },
    ),
    case(
        Rule::CloseActionMissing,
        &LINE_VERSION,
        Part::CloseAction,
        |it| it.history.close_action = text("close"),
        |it| {
            it.history.close_action = text("close");
            actions(it)[3].name = text("close");
        },
    ),
    case(
        Rule::CloseActionMissing,
        &LINE_VERSION,
        Part::Shape(0),
        |it| {
            it.history.close_action = None;
            actions(it).pop();
        },
        |it| it.history.close_action = None,
    ),
    // The unnamed update may close versions, when it is named so.
    case(
        Rule::CloseActionMissing,
        &LINE_VERSION,
        Part::CloseAction,
        |it| actions(it)[3].name = None,
        |it| {
            actions(it)[3].name = None;
            it.history.close_action = text("update");
        },
    ),
    case(
        Rule::CloseActionDrops,
        &LINE_VERSION,
        Part::ActionAccept(3),
        |it| actions(it)[3].accept = accept(&["valid_to_lsn", "valid_to"]),
        |it| actions(it)[3].accept = DeclaredAccept::All,
    ),
];
