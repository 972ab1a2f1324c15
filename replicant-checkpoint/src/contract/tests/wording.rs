//! Facts quote what was written and say what was probably meant.

use crate::contract::declared::{DeclaredResource, DeclaredSink};
use crate::contract::relations;
use crate::contract::resource::ResourceSpec;
use crate::contract::rules::{Violation, names};
use crate::contract::sink::{MessageRoute, SinkSpec};
use crate::contract::tests::declarations::{LINE_VERSION, ORDER, PAYMENT_EVENT, SHOP, hours};

fn facts(violations: Vec<Violation>) -> Vec<String> {
    violations.into_iter().map(|one| one.fact).collect()
}

fn of(start: &ResourceSpec, change: impl Fn(&mut DeclaredResource)) -> Vec<String> {
    let mut declared = DeclaredResource::from(start);
    change(&mut declared);
    facts(names::resource(&declared))
}

fn written(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_misspelt_name_is_quoted_beside_the_one_that_was_meant() {
    assert_eq!(
        of(&ORDER, |it| it.tenancy.attribute = written("orgid")),
        ["`orgid` is no field; did you mean `org_id`?"]
    );
    assert_eq!(
        of(&ORDER, |it| it.upsert_identity = written("unique_kp")),
        ["`unique_kp` is not a declared identity; did you mean `unique_pk`?"]
    );
    assert_eq!(
        of(&LINE_VERSION, |it| it.history.close_action =
            written("close_verison")),
        ["no update is called `close_verison`; did you mean `close_version`?"]
    );
    assert_eq!(
        of(&ORDER, |it| it.sensitive = vec!["cv".to_owned()]),
        ["`cv` is neither read by a field nor skipped; did you mean `cvv`?"]
    );
}

#[test]
fn what_cannot_be_guessed_is_listed() {
    assert_eq!(
        of(&PAYMENT_EVENT, |it| it.append.action = written("zzz")),
        ["no create is called `zzz`; the only create is `append`"]
    );
    assert_eq!(
        of(&PAYMENT_EVENT, |it| it.append.identity = written("zzz")),
        ["`zzz` is no identity; the only identity is `append_identity`"]
    );
}

#[test]
fn a_name_that_nobody_wrote_is_not_called_misspelt() {
    let facts = of(&LINE_VERSION, |it| {
        it.roles.clear();
        it.columns.retain(|column| column.field != "valid_from_lsn");
        for field in ["valid_from", "valid_to", "current"] {
            it.columns.retain(|column| column.field != field);
        }
        it.actions.as_mut().unwrap()[3].accept = super::super::declared::DeclaredAccept::All;
    });
    assert_eq!(
        facts,
        [
            "`valid_from_lsn` is to hold the commit LSN that opened a version \
          (`history_valid_from_lsn_attribute = ...`) and is no field"
        ]
    );
}

#[test]
fn a_key_says_what_it_names_and_what_it_should() {
    assert_eq!(
        of(&LINE_VERSION, |it| {
            it.identities[0].keys = Some(vec!["line_id".to_owned()]);
        }),
        [
            "`version` names `line_id`, and a version is told apart by `line_id` and `valid_from_lsn`"
        ]
    );
}

#[test]
fn control_characters_do_not_reach_a_terminal() {
    let mut sink = DeclaredSink::from(&SHOP);
    sink.recovery_horizon = written("1h\u{1b}[31m");
    assert_eq!(facts(names::sink(&sink)), ["`1h\\u{1b}[31m` is no period"]);
}

#[test]
fn relations_name_both_sides() {
    let sink = SinkSpec {
        recovery_horizon: Some(hours(73)),
        ..SHOP
    };
    assert_eq!(
        facts(relations::check(&sink)),
        ["`record` forgets a message after 3d, and it may be delivered again for 73h"]
    );
    let sink = SinkSpec {
        message_routes: &[MessageRoute {
            prefix: "mail",
            resource: "shop::MailOutbox",
            action: "recrod",
        }],
        ..SHOP
    };
    assert_eq!(
        facts(relations::check(&sink)),
        ["`MailOutbox` has no action `recrod`; it has `record`"]
    );
}
