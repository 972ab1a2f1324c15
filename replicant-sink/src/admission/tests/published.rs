//! What the source's version and publications change, on a session that a test spoilt.

use replicant_transport::sink::ValueFormat;
use replicant_transport::source::{Generated, Session, TableKind};

use super::super::{DestinationConstraints, Request, Values, admit};
use super::refused::{SOURCE, codes, database, plain};
use super::source::{self, ident};
use crate::generation::Generation;

/// Admits a plain mirror over a session that `change` spoilt.
async fn spoilt(change: impl FnOnce(&mut Session)) -> Result<Generation, Vec<&'static str>> {
    let (_cluster, client) = database(&format!(
        "{SOURCE} create table mirror.t (id int primary key, v text);"
    ))
    .await;
    let mut session = source::session(&client).await;
    change(&mut session);
    let spec = plain();
    let request = Request {
        spec: &spec,
        constraints: DestinationConstraints::Deferred,
        values: Values::Fastest,
        code: &[],
    };
    admit(&request, &session, &client)
        .await
        .map_err(|refused| codes(&refused))
}

#[tokio::test]
async fn a_publication_that_leaves_something_out_is_refused() {
    assert!(spoilt(|_| {}).await.is_ok());
    let changes: [fn(&mut Session); 6] = [
        |session| session.publications[0].insert = false,
        |session| session.publications[0].update = false,
        |session| session.publications[0].delete = false,
        |session| session.publications[0].truncate = false,
        |session| session.tables[0].row_filter = true,
        |session| {
            session.publications[0].via_root = false;
            session.tables[0].kind = TableKind::Partitioned;
        },
    ];
    for change in changes {
        assert_eq!(spoilt(change).await.unwrap_err(), ["publication_shape"]);
    }
    let listed = |session: &mut Session| session.tables[0].column_list = Some(vec![ident("id")]);
    let refused = spoilt(listed).await.unwrap_err();
    assert_eq!(refused, ["source_column_unpublished"]);
}

#[tokio::test]
async fn a_computed_column_is_sent_from_version_18_on_and_only_when_listed() {
    let computed = |version: u32, listed: bool| {
        move |session: &mut Session| {
            session.server.version_num = version;
            session.tables[0].columns[1].generated = Generated::Expression;
            session.tables[0].column_list = listed.then(|| vec![ident("id"), ident("v")]);
        }
    };
    for (version, listed) in [(170_000, true), (170_000, false), (180_000, false)] {
        let refused = spoilt(computed(version, listed)).await.unwrap_err();
        assert_eq!(refused, ["source_column_unpublished"], "{version} {listed}");
    }
    assert!(spoilt(computed(180_000, true)).await.is_ok());
}

#[tokio::test]
async fn a_source_before_version_14_sends_text() {
    let at = |version: u32| move |session: &mut Session| session.server.version_num = version;
    let before = spoilt(at(130_022)).await.unwrap();
    assert_eq!(before.format, ValueFormat::Text);
    let since = spoilt(at(140_000)).await.unwrap();
    assert_eq!(since.format, ValueFormat::Binary);
}
