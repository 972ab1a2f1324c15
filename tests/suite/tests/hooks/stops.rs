//! Hooks that go wrong: each way stops before its transaction, by its own reason, and without a word of the row.

use std::future::poll_fn;
use std::sync::Once;
use std::task::Poll;

use replicant_sink::columns::{ColumnRef, Value};
use replicant_sink::decision::{self, Decided, Position, SlotOnSource};
use replicant_sink::prelude::*;
use replicant_test_servers::wait_for;
use replicant_tests::World;
use replicant_tests::hooked::{Positions, pipeline, start};
use replicant_tests::listen::{Heard, unheard};
use replicant_tests::refusal::{assert_says, drop_slot, halted, refused};
use replicant_tests::world::DEADLINE;
use replicant_transport::position::CommitLsn;

/// In every row, and in everything a hook says.
const CANARY: &str = "KoToRi";

const SOURCE: &str = "create table odd (id bigint primary key, what text not null, secret text)";
const DESTINATION: &str = "create table odd (id bigint primary key, what text not null, secret text); \
    create table note (id bigint primary key, text text, hidden text default 'h', extra text); \
    create table other (id bigint primary key)";

/// Does what its row says.
#[replicant(
    table = "odd",
    actions(read, destroy, create(accept = all, changes(Odd), touches(Note))),
)]
pub struct OddRow {
    #[replicant(primary_key)]
    pub id: i64,
    pub what: String,
    pub secret: Option<String>,
}

#[replicant(
    auxiliary,
    table = "note",
    actions(
        read,
        create(write, accept(id, text)),
        update(edit, accept(text)),
        destroy
    )
)]
pub struct Note {
    #[replicant(primary_key)]
    pub id: i64,
    pub text: Option<String>,
    #[replicant(private)]
    pub hidden: Option<String>,
    pub extra: Option<String>,
}

#[replicant(auxiliary, table = "other", actions(read, create(accept = all)))]
pub struct Other {
    #[replicant(primary_key)]
    pub id: i64,
}

#[replicant_domain(resources(OddRow, Note, Other))]
pub struct OddDomain;

#[replicant_sink(slot_name = "odd", domains(OddDomain), checkpoint = Positions)]
pub struct OddSink;

pub struct Odd;

/// What holds a value and must not be repeated.
#[derive(Debug)]
struct Telling(String);

impl std::fmt::Display for Telling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Telling {}

/// Tokens that claim what is not so.
const FORGED_KEY: ColumnRef<OddRow, i64, Value> = ColumnRef::new("id");
const FORGED_HIDDEN: ColumnRef<Note, Option<String>, Value> = ColumnRef::new("hidden");

fn note(id: i64, text: &str) -> Values {
    Values::new()
        .with(Note::COLUMNS.id, &id)
        .with(Note::COLUMNS.text, &Some(text.to_owned()))
}

impl Hook for Odd {
    const PARTICIPANTS: &'static [ActionRef] = &[
        Note::ACTIONS.read,
        Note::ACTIONS.write,
        Note::ACTIONS.edit,
        Note::ACTIONS.destroy,
    ];

    async fn run(
        changeset: &mut Changeset<'_>,
        actions: &mut Actions<'_>,
    ) -> Result<(), HookError> {
        let id = changeset.get(OddRow::COLUMNS.id)?;
        let secret = changeset.get(OddRow::COLUMNS.secret)?.unwrap_or_default();
        let what = changeset.get(OddRow::COLUMNS.what)?;
        let write = Note::ACTIONS.write;
        match what.as_str() {
            "fine" => actions.run(write, note(id, &secret)).await,
            "refuses" => Err(Telling(secret).into()),
            "panics" => panic!("{secret}"),
            "panics with it" => std::panic::panic_any(Telling(secret)),
            "reads as another type" => {
                let wrong: ColumnRef<OddRow, i64, Value> = ColumnRef::new("secret");
                changeset.get(wrong).map(|_| ())
            }
            "sets its key" => changeset.set(FORGED_KEY, 7),
            "sets its key in silence" => {
                let _ = changeset.set(FORGED_KEY, 7);
                Ok(())
            }
            "runs another" => {
                let values = Values::new().with(Other::COLUMNS.id, &id);
                actions.run(Other::ACTIONS.create, values).await
            }
            "runs another in silence" => {
                let values = Values::new().with(Other::COLUMNS.id, &id);
                let _ = actions.run(Other::ACTIONS.create, values).await;
                Ok(())
            }
            "runs what does not exist" => {
                let action = ActionRef {
                    action: "burn",
                    ..write
                };
                actions.run(action, note(id, &secret)).await
            }
            "reads by a write" => actions.find(write, note(id, &secret)).await.map(|_| ()),
            "writes by a read" => actions.run(Note::ACTIONS.read, note(id, &secret)).await,
            "gives what is not accepted" => {
                let values = note(id, &secret).with(Note::COLUMNS.extra, &Some(secret));
                actions.run(write, values).await
            }
            "gives what is private" => {
                let values = note(id, &secret).with(FORGED_HIDDEN, &Some(secret));
                actions.run(write, values).await
            }
            "gives a value twice" => {
                let values = note(id, &secret).with(Note::COLUMNS.text, &Some(secret));
                actions.run(write, values).await
            }
            "gives a value of another" => {
                let values = Values::new().with(Other::COLUMNS.id, &id);
                actions.run(write, values).await
            }
            "gives nothing" => actions.run(write, Values::new()).await,
            "edits without a key" => {
                let values = Values::new().with(Note::COLUMNS.text, &Some(secret));
                actions.run(Note::ACTIONS.edit, values).await
            }
            "edits nothing" => {
                let key = Values::new().with(Note::COLUMNS.id, &id);
                actions.run(Note::ACTIONS.edit, key).await
            }
            "edits what is not there" => actions.run(Note::ACTIONS.edit, note(-1, &secret)).await,
            "removes by more than the key" => {
                actions.run(Note::ACTIONS.destroy, note(id, &secret)).await
            }
            "writes twice" => {
                actions.run(write, note(id, &secret)).await?;
                actions.run(write, note(id, &secret)).await
            }
            "writes twice in silence" => {
                actions.run(write, note(id, &secret)).await?;
                let _ = actions.run(write, note(id, &secret)).await;
                let _ = actions.run(write, note(-id, &secret)).await;
                Ok(())
            }
            "gives up halfway" => {
                let mut running = Box::pin(actions.run(write, note(id, &secret)));
                let once = poll_fn(|context| {
                    let _ = running.as_mut().poll(context);
                    Poll::Ready(())
                });
                once.await;
                Ok(())
            }
            other => Err(HookError::new(Box::leak(
                format!("no {}", other.len()).into(),
            ))),
        }
    }
}

/// What the row says, the reason, and what its line names beside the hook.
const CASES: &[(&str, &str, &[&str])] = &[
    ("refuses", "hook_failed", &["Telling"]),
    ("panics", "hook_panicked", &[]),
    ("panics with it", "hook_panicked", &[]),
    (
        "reads as another type",
        "hook_failed",
        &["value_outside_type"],
    ),
    ("sets its key", "hook_failed", &["column_protected"]),
    (
        "sets its key in silence",
        "hook_column_protected",
        &["set id"],
    ),
    ("runs another", "hook_action_undeclared", &["Other::create"]),
    (
        "runs another in silence",
        "hook_action_undeclared",
        &["Other::create"],
    ),
    (
        "runs what does not exist",
        "hook_action_undeclared",
        &["Note::burn"],
    ),
    (
        "reads by a write",
        "hook_action_undeclared",
        &["Note::write"],
    ),
    (
        "writes by a read",
        "hook_action_undeclared",
        &["Note::read"],
    ),
    (
        "gives what is not accepted",
        "hook_values_refused",
        &["public.note", "write of Note", "extra"],
    ),
    ("gives what is private", "hook_values_refused", &["hidden"]),
    (
        "gives a value twice",
        "hook_values_refused",
        &["text is given twice"],
    ),
    (
        "gives a value of another",
        "hook_values_refused",
        &["does not take id"],
    ),
    ("gives nothing", "hook_values_refused", &["no value"]),
    (
        "edits without a key",
        "hook_values_refused",
        &["edit of Note", "needs a value of id"],
    ),
    (
        "edits nothing",
        "hook_values_refused",
        &["public.note", "update of Note sets nothing"],
    ),
    (
        "edits what is not there",
        "hook_row_absent",
        &["public.note", "edit of Note"],
    ),
    (
        "removes by more than the key",
        "hook_values_refused",
        &["destroy of Note", "text"],
    ),
    (
        "writes twice",
        "destination_unique_conflict",
        &["public.note", "note_pkey", "23505"],
    ),
    (
        "writes twice in silence",
        "destination_unique_conflict",
        &["public.note"],
    ),
    ("gives up halfway", "hook_failed", &["given up halfway"]),
];

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_hook_does_wrong_stops_before_its_transaction_and_tells_no_value() {
    for code in [
        "hook_failed",
        "hook_panicked",
        "hook_column_protected",
        "hook_action_undeclared",
        "hook_values_refused",
        "hook_row_absent",
    ] {
        assert!(CASES.iter().any(|(_, other, _)| *other == code), "{code}");
    }
    let heard = Heard::everything();
    silence_panics_of_hooks();
    unheard(every_case(&heard)).await;
    let said = heard.text().to_lowercase();
    assert!(said.contains("pipeline.halted"), "nothing was heard");
    assert!(!said.contains(&CANARY.to_lowercase()));
}

/// What a panic says goes to the process's own panic hook; a host's may repeat it, ours tells the place alone.
fn silence_panics_of_hooks() {
    static SILENCED: Once = Once::new();
    SILENCED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let said = panic.payload_as_str().unwrap_or_default();
            if !said.contains(CANARY) && !panic.payload().is::<Telling>() {
                before(panic);
            }
        }));
    });
}

async fn every_case(heard: &Heard) {
    let world = World::new(SOURCE, DESTINATION).await;
    let pipeline = pipeline::<OddSink>(&world).await;
    let mut handle = pipeline.start().await.unwrap();
    handle.ready().await.unwrap();
    handle.stop().await.unwrap();
    let mut id = 0;
    for (what, code, mentions) in CASES {
        id += 10;
        for row in ["fine", what, "fine"] {
            id += 1;
            world
                .run(&format!(
                    "insert into odd values ({id}, '{row}', '{CANARY}')"
                ))
                .await;
        }
        let error = refused(&pipeline).await;
        heard.note(&format!("{error} {error:?}"));
        assert_says(&error, code, mentions, what);
        let named = error.to_string().contains("Odd of create");
        let by_hook = matches!(
            *code,
            "hook_failed" | "hook_panicked" | "hook_column_protected"
        );
        assert_eq!(named, by_hook, "{what}: {error}");
        // The transaction before it is there with its note, and nothing of this one or of the next.
        let there = "select concat_ws(' ', (select max(id) from odd), (select max(id) from note), \
                     (select count(*) from other))";
        let before = id - 2;
        assert_eq!(
            world.destination_text(there).await,
            format!("{before} {before} 0"),
            "{what}"
        );
        // Such a row cannot be repaired on the source, which has it: begin anew behind it.
        drop_slot(&world).await;
        wait_for("the lease to end", DEADLINE, async || {
            let reset = decision::reset(&pipeline, SlotOnSource::MustBeGone);
            reset.await.ok()
        })
        .await
        .unwrap();
        let mut handle = pipeline.start().await.unwrap();
        handle.ready().await.unwrap();
        handle.stop().await.unwrap();
    }
    drop_slot(&world).await;
}

/// Only looks at rows.
#[replicant(
    table = "odd",
    actions(read, destroy(validations(Kept)), create(accept = all, changes(Strange))),
)]
pub struct StrangeRow {
    #[replicant(primary_key)]
    pub id: i64,
    pub what: String,
    pub secret: Option<String>,
}

#[replicant_domain(resources(StrangeRow))]
pub struct StrangeDomain;

#[replicant_sink(slot_name = "strange", domains(StrangeDomain), checkpoint = Positions)]
pub struct StrangeSink;

pub struct Strange;

impl Change for Strange {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        let secret = changeset.get(StrangeRow::COLUMNS.secret)?;
        match changeset.get(StrangeRow::COLUMNS.what)?.as_str() {
            "refuses" => Err(Telling(secret.unwrap_or_default()).into()),
            "panics" => panic!("{secret:?}"),
            "sets its key" => {
                let key: ColumnRef<StrangeRow, i64, Value> = ColumnRef::new("id");
                let _ = changeset.set(key, 7);
                Ok(())
            }
            "asks for another" => changeset.get(Note::COLUMNS.text).map(|_| ()),
            _ => Ok(()),
        }
    }
}

pub struct Kept;

impl Validation for Kept {
    fn validate(changeset: &Changeset<'_>) -> Result<(), HookError> {
        // A delete tells the key alone.
        match changeset.get(StrangeRow::COLUMNS.id)? {
            2 => Err(HookError::new("must_stay")),
            _ if changeset.is_unchanged(StrangeRow::COLUMNS.secret)? => Ok(()),
            _ => Err(HookError::new("told_more")),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pure_hook_that_goes_wrong_stops_the_same_way() {
    silence_panics_of_hooks();
    // The other test listens to everything, and this one's own statements have the canary.
    unheard(every_pure_case()).await;
}

async fn every_pure_case() {
    for (number, (what, code, mention)) in [
        ("refuses", "hook_failed", "Telling"),
        ("panics", "hook_panicked", "Strange of create"),
        ("sets its key", "hook_column_protected", "set id"),
        (
            "asks for another",
            "hook_failed",
            "column_of_another_resource",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let world = World::new(SOURCE, DESTINATION).await;
        let handle = start::<StrangeSink>(&world).await;
        // Alone, and behind others in a group.
        let several = "insert into odd values (1, 'fine', null)";
        world.run(several).await;
        let bad = format!("insert into odd values (3, '{what}', '{CANARY}')");
        world.run(&bad).await;
        world.run("insert into odd values (4, 'fine', null)").await;
        let error = halted(handle).await;
        assert_says(&error, code, &["public.odd", mention], what);
        let said = format!("{error} {error:?}");
        assert!(!said.contains(CANARY), "{number}: {said}");
        let there = "select string_agg(id::text, ' ') from odd";
        assert_eq!(world.destination_text(there).await, "1", "{what}");
        drop_slot(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_took_effect_before_is_shown_to_no_pure_hook_when_it_comes_again() {
    let world = World::new(SOURCE, DESTINATION).await;
    start::<StrangeSink>(&world).await.stop().await.unwrap();
    world
        .run("insert into odd values (1, 'refuses', null)")
        .await;
    let pipeline = pipeline::<StrangeSink>(&world).await;
    let error = refused(&pipeline).await;
    assert_eq!(error.code(), "hook_failed");
    // Somebody settled it by hand. The slot does not know, and sends it again.
    let reset = decision::reset(&pipeline, SlotOnSource::MayStay).await;
    assert_eq!(reset.unwrap(), Decided::Changed);
    let settled = Position::Commit(CommitLsn::new(error.site().lsn.unwrap()));
    let adopted = decision::adopt(&pipeline, settled).await;
    assert_eq!(adopted.unwrap(), Decided::Changed);
    world.run("insert into odd values (2, 'fine', null)").await;
    let handle = start::<StrangeSink>(&world).await;
    world.caught_up().await;
    let there = "select string_agg(id::text, ' ') from odd";
    assert_eq!(world.destination_text(there).await, "2");
    handle.stop().await.unwrap();
    drop_slot(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_validation_of_a_destroy_sees_the_row_that_goes() {
    let world = World::new(SOURCE, DESTINATION).await;
    let handle = start::<StrangeSink>(&world).await;
    world
        .run("insert into odd values (1, '', 'a'), (2, '', 'b'); delete from odd where id = 1")
        .await;
    world.caught_up().await;
    let there = "select string_agg(id::text, ' ') from odd";
    assert_eq!(world.destination_text(there).await, "2");
    world.run("delete from odd").await;
    let error = halted(handle).await;
    assert_says(
        &error,
        "validation_refused",
        &["public.odd", "Kept of destroy", "must_stay"],
        "",
    );
    drop_slot(&world).await;
}

/// A row without a key is found by what the source sent of all its columns.
#[replicant(table = "bag", actions(read, destroy, create(accept = all, changes(Filled))))]
pub struct Bag {
    pub a: i64,
    pub b: Option<String>,
}

#[replicant_domain(resources(Bag))]
pub struct BagDomain;

#[replicant_sink(slot_name = "bag", domains(BagDomain), checkpoint = Positions)]
pub struct BagSink;

pub struct Filled;

impl Change for Filled {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        if changeset.get(Bag::COLUMNS.b)?.is_none() {
            changeset.set(Bag::COLUMNS.b, Some("filled".to_owned()))?;
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_row_without_a_key_can_be_set() {
    let ddl = "create table bag (a bigint not null, b text)";
    let world = World::new(
        &format!("{ddl}; alter table bag replica identity full"),
        ddl,
    )
    .await;
    let handle = start::<BagSink>(&world).await;
    world
        .run("insert into bag values (1, 'x'), (1, 'x'); delete from bag where ctid = '(0,1)'")
        .await;
    world.caught_up().await;
    let there = "select string_agg(a || b, ' ') from bag";
    assert_eq!(world.destination_text(there).await, "1x");
    world.run("insert into bag values (2, null)").await;
    let error = halted(handle).await;
    assert_says(
        &error,
        "hook_failed",
        &["Filled of create", "column_protected"],
        "",
    );
    drop_slot(&world).await;
}
