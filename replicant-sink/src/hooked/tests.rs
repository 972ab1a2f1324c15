//! What a change calls, what hooks may set, and where pieces are cut: without a database.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use replicant_checkpoint::contract::append::AppendSpec;
use replicant_checkpoint::contract::history::HistorySpec;
use replicant_checkpoint::contract::resource::{
    Accept, ActionKind, ActionRef, ActionSpec, ColumnSpec, Origin, ResourceSpec, Shape, Tenancy,
    TenancyReach, TenancyStrategy,
};
use replicant_transport::cell::Cell;
use replicant_transport::change::{Change, ChangeKind, OldRow, Ordinal};
use replicant_transport::position::{CommitLsn, Lsn, Watermark};

use super::barrier::{Cut, barriers};
use super::calls::Side;
use super::given::Given;
use super::operation::Invocation;
use super::{Hooks, Stage, TableHooks};
use crate::changeset::{Actions, Changeset, Values};
use crate::columns::{ColumnRef, Value};
use crate::fixture::{
    INT8, N, TEXT, U, V, delete, delete_full, generation, history_of, insert, keyless, plain_table,
    relation, t, truncate, tuple, update, update_full, update_key,
};
use crate::generation::{AppendLog, Generation, Held, SourceNames, Table};
use crate::hooks::{ActionCode, ChangeRef, Code, Hook, HookError, Validation, change, validation};
use crate::plan::{Mapping, Owners, Piece, Resolution, Resolver};
use crate::resource::Resource;
use crate::tenant::Tenant;

const PATH: &str = "tests::Row";

/// A resource of these tests; only its columns' tokens are used.
struct Token;

impl Resource for Token {
    const PATH: &'static str = PATH;
    const SPEC: ResourceSpec = ResourceSpec::EMPTY;
    const CODE: Code = Code::NONE;
}

const ID: ColumnRef<Token, String, Value> = ColumnRef::new("id");
const BIG: ColumnRef<Token, Option<String>, Value> = ColumnRef::new("big");
const SMALL: ColumnRef<Token, Option<String>, Value> = ColumnRef::new("small");

struct Fine;

impl Validation for Fine {
    fn validate(_: &Changeset<'_>) -> Result<(), HookError> {
        Ok(())
    }
}

/// Doubles what it sees.
struct Twice;

impl crate::hooks::Change for Twice {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        for column in [BIG, SMALL] {
            if !changeset.is_unchanged(column)? {
                let value = changeset.get(column)?;
                changeset.set(column, value.map(|value| value.repeat(2)))?;
            }
        }
        Ok(())
    }
}

struct SetsKey;

impl crate::hooks::Change for SetsKey {
    fn change(changeset: &mut Changeset<'_>) -> Result<(), HookError> {
        let _ = changeset.set(ID, "7".to_owned());
        Ok(())
    }
}

struct Waits;

impl Hook for Waits {
    const PARTICIPANTS: &'static [ActionRef] = &[];

    async fn run(_: &mut Changeset<'_>, _: &mut Actions<'_>) -> Result<(), HookError> {
        Ok(())
    }
}

const fn action(action: &'static str, changes: &'static [ChangeRef]) -> ActionCode {
    ActionCode {
        action,
        changes,
        validations: const { &[validation::<Fine>()] },
        effect: None,
    }
}

/// Every action that a sink runs calls something.
static EVERYWHERE: Code = Code {
    actions: &[
        action("create", &[]),
        action("destroy", &[]),
        action("close", &[]),
        action("append", &[]),
        action("update", &[]),
    ],
    ..Code::NONE
};

static TWICE: Code = Code {
    actions: &[action("create", const { &[change::<Twice, _>()] })],
    ..Code::NONE
};

static SETS_KEY: Code = Code {
    actions: &[action("create", const { &[change::<SetsKey, _>()] })],
    ..Code::NONE
};

static WAITS: Code = Code {
    actions: &[action("create", const { &[change::<Waits, _>()] })],
    ..Code::NONE
};

fn table(name: &str, shape: Shape) -> Table {
    let columns = [
        ("id", "int8", INT8),
        ("big", "text", TEXT),
        ("small", "text", TEXT),
    ];
    let mut table = plain_table(name, &columns, &[0]);
    let columns: Vec<ColumnSpec> = table.columns.iter().map(|column| *column.spec).collect();
    table.spec = Box::leak(Box::new(ResourceSpec {
        rust_path: PATH,
        columns: columns.leak(),
        primary_key: &["id"],
        shape,
        ..*table.spec
    }));
    table
}

fn mirror() -> Table {
    table("public.t", Shape::Mirror)
}

fn history() -> Table {
    let spec = HistorySpec {
        business_key: &["id"],
        valid_from_lsn: "valid_from_lsn",
        valid_to_lsn: "valid_to_lsn",
        valid_from: None,
        valid_to: None,
        current: None,
        close_action: "close",
    };
    history_of(table("public.t", Shape::History(spec)))
}

fn log() -> Table {
    let spec = AppendSpec {
        action: "append",
        identity: "append_identity",
        source_system: "a",
        source_database: "b",
        slot: "c",
        commit_lsn: "d",
        ordinal: "e",
        operation: "f",
        origin: "g",
        attempt: "h",
        unchanged: None,
        commit_timestamp: None,
        xid: None,
        message_prefix: None,
        message_content: None,
    };
    let mut table = keyless(table("public.t", Shape::AppendLog(spec)));
    table.held = Held::AppendLog(AppendLog {
        stamps: Vec::new(),
        source: SourceNames {
            system: String::new(),
            database: String::new(),
            slot: String::new(),
        },
    });
    table
}

fn hooked(tables: Vec<Table>, code: &'static Code) -> Arc<Generation> {
    let mut generation = generation(tables);
    generation.hooks = Hooks {
        tables: generation
            .tables
            .iter()
            .map(|table| TableHooks::of(table, code))
            .collect(),
        ..generation.hooks
    };
    Arc::new(generation)
}

fn mapping(generation: &Arc<Generation>) -> Arc<Mapping> {
    let mut resolver = Resolver::new(Arc::clone(generation));
    let relation = relation(&generation.tables[0]);
    match resolver.resolve(&relation).unwrap() {
        Resolution::Mapped(mapping) => mapping,
        Resolution::Ignored => panic!("it is mapped"),
    }
}

/// Action, label and image of everything that each kind of change calls.
fn called(table: Table) -> Vec<Vec<(&'static str, &'static str, Side)>> {
    let relation = relation(&table);
    let row = [t(1), t("b"), t("s")];
    let changes = [
        insert(&relation, &row),
        update(&relation, &row),
        update_key(&relation, &[t(2), N, N], &row),
        // The same key under a full replica identity.
        update_full(&relation, &row, &[t(1), U, t("x")]),
        delete(&relation, &[t(1), N, N]),
        truncate(&[&relation]),
    ];
    let generation = hooked(vec![table], &EVERYWHERE);
    let (table, mapping) = (&generation.tables[0], mapping(&generation));
    let hooks = generation.hooks.of_table(0).unwrap();
    changes
        .iter()
        .map(|change| {
            let calls = hooks.of_change(table, &mapping, &change.kind, &Owners::default());
            calls
                .map(|call| (call.calls.action, call.invocation.label(), call.side))
                .collect()
        })
        .collect()
}

#[test]
fn a_change_calls_the_actions_that_the_sink_runs_for_it_each_under_its_label() {
    use Side::{New, Old};
    let (write, remove) = (("create", "upsert", New), ("destroy", "destroy_prior", Old));
    let of_mirror = vec![
        vec![write],
        vec![write],
        vec![remove, write],
        vec![write],
        vec![remove],
        vec![],
    ];
    assert_eq!(called(mirror()), of_mirror);
    let (open, close) = (("create", "open", New), ("close", "close_current", New));
    let end = ("close", "close_prior", Old);
    let of_history = vec![
        vec![open],
        vec![close, open],
        vec![end, open],
        vec![close, open],
        vec![end],
        vec![],
    ];
    assert_eq!(called(history()), of_history);
    let append = ("append", "append", New);
    let of_log = vec![
        vec![append],
        vec![append],
        vec![append],
        vec![append],
        vec![("append", "append", Old)],
        vec![],
    ];
    assert_eq!(called(log()), of_log);
    // Nothing has a label that is never used, or one label for two things that one change does.
    let labels = |all: &[Vec<Vec<(&'static str, &'static str, Side)>>]| -> BTreeSet<&'static str> {
        let calls = all.iter().flatten().flatten();
        calls.map(|(_, label, _)| *label).collect()
    };
    let all = [of_mirror, of_history, of_log];
    use Invocation::{Append, CloseCurrent, ClosePrior, DestroyPrior, Open, Upsert};
    let inventory = [ClosePrior, CloseCurrent, Open, DestroyPrior, Upsert, Append];
    assert_eq!(labels(&all), inventory.map(Invocation::label).into());
    for change in all.iter().flatten() {
        let distinct: BTreeSet<_> = change.iter().map(|(_, label, _)| label).collect();
        assert_eq!(distinct.len(), change.len());
    }
}

fn prepared(generation: &Arc<Generation>, change: Change) -> Result<Change, &'static str> {
    let mut piece = Piece {
        changes: vec![change],
        ..Piece::default()
    };
    let mut stage = Stage::new(Arc::clone(generation), None);
    match stage.prepare(&mut piece) {
        Ok(()) => Ok(piece.changes.remove(0)),
        Err(error) => Err(error.code()),
    }
}

#[test]
fn what_took_effect_before_runs_no_hook_again() {
    let generation = hooked(vec![mirror()], &SETS_KEY);
    let relation = relation(&generation.tables[0]);
    let piece = |at| Piece {
        commit_lsn: Some(CommitLsn::new(Lsn::new(at))),
        changes: vec![insert(&relation, &[t(1), N, N])],
        ..Piece::default()
    };
    let applied = Watermark::at(CommitLsn::new(Lsn::new(2)));
    let mut stage = Stage::new(Arc::clone(&generation), Some(applied));
    let mut pieces = [piece(1), piece(2), piece(3)];
    let (first, error) = stage.prepare_all(&mut pieces).unwrap();
    assert_eq!((first, error.code()), (2, "hook_column_protected"));
}

fn new_of(change: &Change) -> replicant_transport::cell::Tuple {
    match &change.kind {
        ChangeKind::Insert { new, .. } | ChangeKind::Update { new, .. } => new.clone(),
        _ => panic!("it has no new row"),
    }
}

#[test]
fn what_a_change_sets_takes_the_place_of_what_was_sent() {
    let generation = hooked(vec![mirror()], &TWICE);
    let relation = relation(&generation.tables[0]);
    let becomes = |change: Change, expected: &[V]| {
        let change = prepared(&generation, change).unwrap();
        assert_eq!(new_of(&change), tuple(expected));
    };
    becomes(insert(&relation, &[t(1), t("b"), N]), &[t(1), t("bb"), N]);
    becomes(update(&relation, &[t(1), U, t("s")]), &[t(1), U, t("ss")]);
    // A full old row has what the new one leaves out.
    becomes(
        update_full(&relation, &[t(1), t("b"), t("r")], &[t(1), U, t("s")]),
        &[t(1), t("bb"), t("ss")],
    );
    // The placeholders of a key's old row are no values.
    becomes(
        update_key(&relation, &[t(2), N, N], &[t(1), U, t("s")]),
        &[t(1), U, t("ss")],
    );
    // What was there before stays what it was.
    let old = [t(1), t("b"), t("r")];
    let change = update_full(&relation, &old, &[t(1), U, t("s")]);
    let change = prepared(&generation, change).unwrap();
    let ChangeKind::Update {
        old: Some(OldRow::Full(kept)),
        ..
    } = change.kind
    else {
        panic!("the old row is gone");
    };
    assert_eq!(kept, tuple(&old));
    let gone = prepared(&generation, delete_full(&relation, &old)).unwrap();
    assert_eq!(gone, delete_full(&relation, &old));
}

#[test]
fn a_protected_column_is_refused_whatever_its_token_says_and_whoever_looks() {
    let generation = hooked(vec![mirror()], &SETS_KEY);
    let relation = relation(&generation.tables[0]);
    let row = [t(1), t("b"), N];
    let refused = prepared(&generation, insert(&relation, &row));
    assert_eq!(refused, Err("hook_column_protected"));
    // Of a row that is found by all its columns nothing can be set.
    let generation = hooked(vec![keyless(mirror())], &TWICE);
    let refused = prepared(&generation, insert(&relation, &row));
    assert_eq!(refused, Err("hook_failed"));
}

/// An auxiliary table of tenants, and what its actions make of values for a change of this tenant.
fn given(action: ActionKind, tenant: Option<&str>, values: Values) -> Result<Vec<V>, String> {
    let mut table = table("public.receipt", Shape::Auxiliary);
    let actions = ActionKind::ALL.iter().map(|kind| {
        let accept = match kind {
            ActionKind::Create | ActionKind::Update => Accept::All,
            ActionKind::Read | ActionKind::Destroy => Accept::Fields(&[]),
        };
        ActionSpec::new(*kind, accept)
    });
    let columns: Vec<ColumnSpec> = table
        .spec
        .columns
        .iter()
        .map(|column| ColumnSpec {
            origin: Origin::Action,
            ..*column
        })
        .collect();
    table.spec = Box::leak(Box::new(ResourceSpec {
        actions: actions.collect::<Vec<_>>().leak(),
        columns: columns.leak(),
        tenancy: Tenancy::Tenanted {
            strategy: TenancyStrategy::Attribute("small"),
            reach: TenancyReach::Scoped,
            source: None,
        },
        ..*table.spec
    }));
    let spec = table.spec.action(action.as_str()).unwrap();
    let tenant = tenant.map(|tenant| Tenant::new(tenant).unwrap());
    let given = Given::new(&table, spec, &values, tenant.as_ref()).map_err(|untaken| untaken.0)?;
    let cells = given.cells().map(|cell| match cell {
        Cell::Null => N,
        Cell::Unchanged => U,
        Cell::Text(text) => t(String::from_utf8_lossy(text)),
        Cell::Binary(_) => panic!("nothing is binary here"),
    });
    Ok(cells.collect())
}

#[test]
fn what_a_hook_writes_finds_or_removes_is_its_changes_tenants() {
    let key = || Values::new().with(ID, &"1".to_owned());
    let of = |tenant: &str| key().with(SMALL, &Some(tenant.to_owned()));
    let scoped = Ok(vec![t(1), U, t("acme")]);
    for action in ActionKind::ALL {
        assert_eq!(given(*action, Some("acme"), key()), scoped, "{action:?}");
    }
    for action in [ActionKind::Create, ActionKind::Update] {
        assert_eq!(given(action, Some("acme"), of("acme")), scoped);
        let other = given(action, Some("acme"), of("evil"));
        assert_eq!(other, Err("small names another tenant".to_owned()));
    }
    for action in [ActionKind::Update, ActionKind::Destroy, ActionKind::Read] {
        let nobodys = given(action, None, key());
        assert_eq!(nobodys, Err("it needs the tenant of small".to_owned()));
    }
}

/// Every change with its transaction.
fn flat(pieces: &[Piece]) -> Vec<(Option<CommitLsn>, Change)> {
    let changes = pieces.iter().flat_map(|piece| {
        piece
            .changes
            .iter()
            .map(|one| (piece.commit_lsn, one.clone()))
    });
    changes.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Parts are the pieces again, each but the first begins with a change that calls a database hook, and no other
    /// change does.
    #[test]
    fn pieces_are_cut_before_every_change_that_calls_a_database_hook(
        transactions in prop::collection::vec(prop::collection::vec(any::<bool>(), 0..6), 0..6),
    ) {
        let plain = plain_table("public.plain", &[("id", "int8", INT8)], &[0]);
        let mut tables = hooked(vec![mirror()], &WAITS).tables.clone();
        tables.push(plain);
        let mut generation = Arc::unwrap_or_clone(hooked(tables, &WAITS));
        // Only the first table calls it.
        generation.hooks.tables[1] = None;
        let generation = Arc::new(generation);
        let relations: Vec<_> = generation.tables.iter().map(relation).collect();
        let pieces: Vec<Piece> = (1u64..)
            .zip(&transactions)
            .map(|(number, calls)| Piece {
                commit_lsn: Some(CommitLsn::new(Lsn::new(number * 16))),
                changes: calls
                    .iter()
                    .zip(0u64..)
                    .map(|(calls, ordinal)| {
                        let change = match calls {
                            true => insert(&relations[0], &[t(ordinal), N, N]),
                            false => insert(&relations[1], &[t(ordinal)]),
                        };
                        Change { ordinal: Ordinal(ordinal), ..change }
                    })
                    .collect(),
                ..Piece::default()
            })
            .collect();
        let mut resolver = Resolver::new(Arc::clone(&generation));
        let found = barriers(&mut resolver, &pieces);
        prop_assert_eq!(found.len(), transactions.iter().flatten().filter(|calls| **calls).count());
        let mut cut = Cut::new(&pieces);
        let mut parts = Vec::new();
        for barrier in &found {
            parts.push(flat(&cut.until(barrier)));
            let (piece, change) = cut.at(barrier).unwrap();
            prop_assert!(piece.changes.contains(change));
            cut.begin_with(change.clone());
        }
        parts.push(flat(&cut.rest()));
        prop_assert_eq!(parts.concat(), flat(&pieces));
        let calls = |change: &Change| {
            matches!(&change.kind, ChangeKind::Insert { relation, .. } if Arc::ptr_eq(relation, &relations[0]))
        };
        for (number, part) in parts.iter().enumerate() {
            let called = part.iter().filter(|(_, change)| calls(change)).count();
            prop_assert_eq!(called, usize::from(number > 0));
            prop_assert!(number == 0 || calls(&part[0].1));
        }
    }
}

#[test]
fn a_history_that_holds_a_transaction_from_before_a_reset_waits_for_no_hook() {
    let mut table = history();
    if let Held::History(history) = &mut table.held {
        history.recorded_until = Some(32);
    }
    let generation = hooked(vec![table], &WAITS);
    let relation = relation(&generation.tables[0]);
    let piece = |lsn: u64| Piece {
        commit_lsn: Some(CommitLsn::new(Lsn::new(lsn))),
        changes: vec![insert(&relation, &[t(1), N, N])],
        ..Piece::default()
    };
    let mut resolver = Resolver::new(Arc::clone(&generation));
    assert!(barriers(&mut resolver, &[piece(16), piece(32)]).is_empty());
    assert_eq!(barriers(&mut resolver, &[piece(32), piece(48)]).len(), 1);
}
