//! Does a value of a history, of a log or of a tenant leave through anything we say, while all is well and when it fails?
//! And does the tenant itself?

use replicant_checkpoint::contract::resource::OnTruncate;
use replicant_sink::decision;
use replicant_sink::doctor;
use replicant_sink::prelude::*;
use replicant_tests::World;
use replicant_tests::canary::{
    DIGITS, TEXT, assert_silent, heard_is_listening, note, note_visible,
};
use replicant_tests::kept::{AXES, STAMPS, WINDOW};
use replicant_tests::listen::{Heard, unheard};
use replicant_tests::refusal::{drop_slot, halted, refused};

/// Whose the rows are. The SQL client logs the text of statements, which names the schema of a tenant; everything else
/// that speaks must not.
const TENANT: &str = "mejiro";
const CLIENT: &str = "log DEBUG tokio_postgres";

const COLUMNS: &str = "id text, org text, n numeric, big text, j jsonb, b bytea, a text[]";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kept {
    History,
    Log,
    Tenants,
    Schemas,
}

/// What makes it fail after a good life: done in the destination, then on the source.
struct Failure {
    destination: &'static str,
    source: &'static str,
    code: &'static str,
}

impl Kept {
    fn tables(self) -> &'static [&'static str] {
        match self {
            Self::History => &["c: history(id)"],
            Self::Log => &["c: log"],
            Self::Tenants => &["c by org"],
            Self::Schemas => &["c by org in tenant_{}"],
        }
    }

    fn destination(self) -> String {
        let keyed = COLUMNS.replace("id text", "id text primary key");
        match self {
            Self::History => format!(
                "create table c ({}, {WINDOW}); create unique index on c (id, valid_from_lsn); \
                 create unique index on c (id) where valid_to_lsn is null",
                COLUMNS.replace("id text", "id text not null")
            ),
            Self::Log => format!(
                "create table c ({COLUMNS}, before_big text, {STAMPS}); create unique index on c ({AXES})"
            ),
            Self::Tenants => format!(
                "create table c ({}, unique (org, id))",
                keyed.replace("org text", "org text not null")
            ),
            Self::Schemas => format!(
                "create table c ({keyed}); create schema tenant_{TENANT}; create table tenant_{TENANT}.c ({keyed})"
            ),
        }
    }

    /// `{c}` is the table that has the rows, `{row}` and `{other}` are rows whose keys are new.
    fn failures(self) -> Vec<Failure> {
        let failure = |destination, source, code| Failure {
            destination,
            source,
            code,
        };
        let mut failures = vec![failure(
            "alter table {c} add constraint short check (length(big) < 10) not valid",
            "insert into c values {row}",
            "destination_rejected",
        )];
        failures.extend(match self {
            Self::History => vec![
                failure(
                    "create function f() returns trigger language plpgsql as 'begin return null; end'; \
                     create trigger veto before update on c for each row execute function f()",
                    "delete from c",
                    "destination_diverged",
                ),
                failure(
                    "create unique index on c (a) where id like '%new%'",
                    "insert into c values {row}, {other}",
                    "destination_unique_conflict",
                ),
                failure(
                    "delete from c where valid_to_lsn is null",
                    "update c set n = -n",
                    "destination_diverged",
                ),
            ],
            Self::Log => vec![
                failure("", "truncate c", "truncate_halt"),
                failure(
                    "create unique index on c (a) where id like '%new%'",
                    "insert into c values {row}, {other}",
                    "destination_unique_conflict",
                ),
            ],
            Self::Tenants => vec![
                failure(
                    "",
                    "begin; insert into c values {row}; update c set org = null; commit",
                    "tenant_required",
                ),
                failure(
                    "insert into c (id, org) values ('KoToRinew', 'victim')",
                    "insert into c values {row}",
                    "tenant_conflict",
                ),
                failure("delete from c", "update c set n = -n", "destination_diverged"),
            ],
            Self::Schemas => vec![
                failure(
                    "",
                    "begin; insert into c values {row}; update c set org = org || 'KoToRi'; commit",
                    "tenant_scope_unknown",
                ),
                failure("drop table {c}", "insert into c values {row}", "destination_rejected"),
            ],
        });
        failures
    }

    async fn pipeline(self, world: &World) -> Pipeline {
        let specification = world.specification(self.tables()).await;
        let specification = specification.with("c", |resource| {
            if self == Self::Log {
                resource.on_truncate = OnTruncate::Halt;
            }
        });
        world.pipeline(specification.build()).await
    }
}

/// A row with the canary in every column, its key included.
fn row(key: &str) -> String {
    format!(
        "('{TEXT}{key}', '{TENANT}', {DIGITS}.25, repeat('{TEXT}', 1000), '{{\"{TEXT}\": [\"{TEXT}\", {DIGITS}]}}', \
         '{TEXT}', array['{TEXT}', null, '{TEXT},\"'])"
    )
}

/// Whatever a person may ask for.
async fn note_answers(heard: &Heard, pipeline: &Pipeline) {
    let report = doctor::preflight(pipeline).await;
    heard.note(&serde_json::to_string(&report).unwrap());
    let status = doctor::status(pipeline).await.unwrap();
    heard.note(&serde_json::to_string(&status).unwrap());
    let stored = decision::show(pipeline).await.unwrap();
    heard.note(&serde_json::to_string(&stored).unwrap());
    heard.note(&format!("{pipeline:?}"));
}

async fn lives_and_dies(heard: &Heard, kept: Kept, failure: &Failure) {
    let source = format!(
        "create table c ({COLUMNS}, primary key (id)); alter table c alter big set storage external; \
         alter table c replica identity full"
    );
    let world = World::new(&source, &kept.destination()).await;
    let pipeline = kept.pipeline(&world).await;
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    world
        .run(&format!(
            "insert into c values {}, {}, {}",
            row("1"),
            row("2"),
            row("3")
        ))
        .await;
    world
        .run(&format!(
            "update c set n = -n; update c set id = id || 'moved' where id = '{TEXT}2'; delete from c where id = '{TEXT}3'"
        ))
        .await;
    world.caught_up().await;
    let table = match kept {
        Kept::Schemas => format!("tenant_{TENANT}.c"),
        _ => "c".to_owned(),
    };
    let there = format!("select string_agg(id || n || big, '') from {table}");
    let there = world.destination_text(&there).await;
    assert!(
        there.contains(TEXT) && there.contains(DIGITS),
        "the rows hold it"
    );
    note_visible(heard, &world).await;
    note_answers(heard, &pipeline).await;
    heard.note(&format!(
        "{handle:?} {:?} {:?}",
        handle.status(),
        handle.progress()
    ));

    let broken = failure.destination.replace("{c}", &table);
    world.destination.batch_execute(&broken).await.unwrap();
    world
        .run(
            &failure
                .source
                .replace("{row}", &row("new"))
                .replace("{other}", &row("newer")),
        )
        .await;
    let error = halted(handle).await;
    assert_eq!(error.code(), failure.code, "{kept:?}: {broken}: {error}");
    note(heard, &error);
    note_visible(heard, &world).await;
    note_answers(heard, &pipeline).await;
    // It is the same, or worse, when it is started again.
    note(heard, &refused(&pipeline).await);
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_value_of_a_history_a_log_or_a_tenant_leaves_and_no_tenant_either() {
    let all = Heard::everything();
    heard_is_listening(&all);
    let mut offset = all.text().len();
    for kept in [Kept::History, Kept::Log, Kept::Tenants, Kept::Schemas] {
        for failure in kept.failures() {
            let heard = Heard::default();
            unheard(lives_and_dies(&heard, kept, &failure)).await;
            let when = format!("{kept:?}: {}", failure.code);
            let said = all.text().split_off(offset);
            offset += said.len();
            assert!(
                said.contains(CLIENT),
                "{when}: the client library is not heard"
            );
            assert!(
                said.contains("pipeline.halted"),
                "{when}: the halt is not heard"
            );
            for text in [said, heard.text()] {
                assert_silent(&text, &when);
                // The text of a statement names the schema; a parameter of one does not.
                let excused =
                    |line: &str| line.contains(CLIENT) && !line.contains("with parameters");
                let named = text
                    .lines()
                    .find(|line| line.contains(TENANT) && !excused(line));
                assert_eq!(named, None, "{when}");
            }
        }
    }
}
