//! Does a plan of a history leave behind every version with its window? Random lives of a few rows over several
//! transactions, cut into groups and parts anywhere, planned, written to a map, and written again from any point on.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use replicant_transport::cell::Cell;
use replicant_transport::change::Change;
use replicant_transport::position::{CommitLsn, Lsn};
use replicant_transport::relation::Relation;

use super::{
    Batch, Cause, Closing, Emptying, Images, Piece, Plan, Resolver, Row, Step, Tenants, Versions,
    closing_sets, plan, version_sets,
};
use crate::fixture::{
    INT8, TEXT, U, V, delete, delete_full, generation, history_of, insert, plain_table, relation,
    t, truncate, update, update_full, update_key,
};
use crate::generation::{Generation, Held};

static UNTENANTED: Tenants = Tenants::NONE;

/// What a source statement does.
#[derive(Clone, Debug)]
enum Act {
    Insert(u8, u8),
    Update(u8, Option<u8>, u8),
    Rekey(u8, u8, Option<u8>, u8),
    Delete(u8),
    Truncate,
    Commit,
}

/// What old rows carry.
#[derive(Clone, Copy, Debug)]
enum Identity {
    Key,
    AlwaysKey,
    Full,
}

type Values = (u8, u8);

/// One version: its window and its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kept {
    from: i64,
    to: Option<i64>,
    values: Values,
}

type Stored = BTreeMap<u8, Vec<Kept>>;

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = (
        0u8..14,
        0u8..4,
        0u8..4,
        prop::option::of(any::<u8>()),
        any::<u8>(),
    )
        .prop_map(|(kind, key, to, big, small)| match kind {
            0..=2 => Act::Insert(key, small),
            3..=5 => Act::Update(key, big, small),
            6..=7 => Act::Rekey(key, to, big, small),
            8..=9 => Act::Delete(key),
            10 if small < 60 => Act::Truncate,
            _ => Act::Commit,
        });
    prop::collection::vec(act, 0..40)
}

/// The source: rows now, their history as it must be, and what it sends.
struct Source {
    /// One description, as a session has it: another one would end the batch.
    relation: Arc<Relation>,
    identity: Identity,
    rows: BTreeMap<u8, Values>,
    /// The last image that a key had in the open transaction, for keys it touched.
    opened: BTreeMap<u8, Option<Values>>,
    history: Stored,
    lsn: i64,
    changes: Vec<Change>,
    pieces: Vec<Piece>,
}

impl Source {
    fn new(generation: &Arc<Generation>, identity: Identity) -> Self {
        Self {
            relation: relation(&generation.tables[0]),
            identity,
            rows: BTreeMap::new(),
            opened: BTreeMap::new(),
            history: Stored::new(),
            lsn: 0x100,
            changes: Vec::new(),
            pieces: Vec::new(),
        }
    }

    fn act(&mut self, act: &Act) {
        let relation = Arc::clone(&self.relation);
        let image = |key: u8, (big, small): Values| [t(key), t(big), t(small)];
        match *act {
            Act::Insert(key, small) if !self.rows.contains_key(&key) => {
                let values = (small.wrapping_add(1), small);
                self.changes.push(insert(&relation, &image(key, values)));
                self.become_(key, values);
            }
            Act::Update(key, big, small) => self.change(key, key, big, small),
            Act::Rekey(key, to, big, small) if !self.rows.contains_key(&to) => {
                self.change(key, to, big, small);
            }
            Act::Delete(key) => {
                if let Some(row) = self.rows.remove(&key) {
                    self.opened.entry(key).or_default();
                    self.changes.push(match self.identity {
                        Identity::Full => delete_full(&relation, &image(key, row)),
                        _ => delete(&relation, &[t(key), V::Null, V::Null]),
                    });
                }
            }
            Act::Truncate => {
                self.changes.push(truncate(&[&relation]));
                for key in std::mem::take(&mut self.rows).into_keys() {
                    self.opened.entry(key).or_default();
                }
            }
            Act::Commit => self.commit(),
            Act::Insert(..) | Act::Rekey(..) => {}
        }
    }

    fn become_(&mut self, key: u8, values: Values) {
        self.rows.insert(key, values);
        self.opened.insert(key, Some(values));
    }

    fn change(&mut self, key: u8, to: u8, big: Option<u8>, small: u8) {
        let Some((old_big, old_small)) = self.rows.remove(&key) else {
            return;
        };
        let relation = Arc::clone(&self.relation);
        self.opened.entry(key).or_default();
        self.become_(to, (big.unwrap_or(old_big), small));
        let new = [t(to), big.map_or(U, t), t(small)];
        let old_key = [t(key), V::Null, V::Null];
        self.changes.push(match self.identity {
            Identity::Full => update_full(&relation, &[t(key), t(old_big), t(old_small)], &new),
            Identity::AlwaysKey => update_key(&relation, &old_key, &new),
            Identity::Key if key != to => update_key(&relation, &old_key, &new),
            Identity::Key => update(&relation, &new),
        });
    }

    fn commit(&mut self) {
        if self.changes.is_empty() {
            return;
        }
        self.lsn += 8;
        for (key, opened) in std::mem::take(&mut self.opened) {
            let versions = self.history.entry(key).or_default();
            if let Some(last) = versions.last_mut()
                && last.to.is_none()
            {
                last.to = Some(self.lsn);
            }
            if let Some(values) = opened {
                let to = (!self.rows.contains_key(&key)).then_some(self.lsn);
                versions.push(Kept {
                    from: self.lsn,
                    to,
                    values,
                });
            }
        }
        self.history.retain(|_, versions| !versions.is_empty());
        self.pieces.push(Piece {
            commit_lsn: Some(CommitLsn::new(Lsn::from_bigint(self.lsn).unwrap())),
            changes: std::mem::take(&mut self.changes),
            ..Piece::default()
        });
    }
}

fn number(images: &Images<'_>, row: Row, column: usize) -> Option<u8> {
    match images.get(row, column) {
        Cell::Text(text) => Some(std::str::from_utf8(text).unwrap().parse().unwrap()),
        _ => None,
    }
}

/// Writes a plan to the map as the destination would, and insists on what the plan claims.
fn write(generation: &Generation, plan: &Plan<'_>, stored: &mut Stored) {
    for step in &plan.steps {
        match step {
            Step::Truncate(emptied) => {
                let [emptied] = emptied.as_slice() else {
                    panic!("one table");
                };
                let Emptying::Close(at) = emptied.how else {
                    panic!("closes");
                };
                for kept in stored.values_mut().flatten() {
                    if kept.to.is_none() && kept.from <= at.lsn {
                        kept.to = Some(at.lsn);
                    }
                }
            }
            Step::Tables(work) => {
                for batch in work.iter().flat_map(|work| &work.batches) {
                    match batch {
                        Batch::Versions(versions) => write_versions(generation, versions, stored),
                        Batch::Recorded(versions) => {
                            for version in &versions.versions {
                                let key = number(&versions.images, version.row, 0).unwrap();
                                let of_key = &stored[&key];
                                assert!(of_key.iter().any(|kept| kept.from == version.from.lsn));
                            }
                        }
                        _ => panic!("versions"),
                    }
                }
            }
        }
        for versions in stored.values() {
            let open = versions.iter().filter(|kept| kept.to.is_none());
            assert!(open.count() <= 1, "one open version per key");
        }
    }
}

fn write_versions(generation: &Generation, versions: &Versions<'_>, stored: &mut Stored) {
    let table = &generation.tables[0];
    for set in closing_sets(table, versions) {
        for closing in &set.closings {
            close(versions, *closing, stored);
        }
    }
    for set in version_sets(table, versions) {
        let before = stored.clone();
        for version in &set.versions {
            let key = number(&versions.images, version.row, 0).unwrap();
            let value = |column: usize| {
                number(&versions.images, version.row, column).unwrap_or_else(|| {
                    assert!(set.carried.contains(column));
                    let carry = version.carry.unwrap();
                    let kept = carried(&before, &versions.images, carry.key, carry.lsn);
                    if column == 1 { kept.0 } else { kept.1 }
                })
            };
            let values = (value(1), value(2));
            let of_key = stored.entry(key).or_default();
            let to = version.to.map(|to| to.lsn);
            match of_key.iter_mut().find(|kept| kept.from == version.from.lsn) {
                None => of_key.push(Kept {
                    from: version.from.lsn,
                    to,
                    values,
                }),
                Some(kept) => {
                    // What is carried over is there already, unless another row had the key for a moment.
                    if kept.to.is_some() || !set.carried.contains(1) {
                        kept.values.0 = values.0;
                    }
                    if kept.to.is_some() || !set.carried.contains(2) {
                        kept.values.1 = values.1;
                    }
                    kept.to = to;
                }
            }
            of_key.sort_by_key(|kept| kept.from);
        }
    }
}

fn close(versions: &Versions<'_>, closing: Closing, stored: &mut Stored) {
    let key = number(&versions.images, closing.key, 0).unwrap();
    let at = closing.at.lsn;
    let of_key = stored.entry(key).or_default();
    let last = of_key.iter().rfind(|kept| kept.from <= at);
    let known =
        last.is_some_and(|kept| kept.to.is_none() || kept.to == Some(at) || kept.from == at);
    if matches!(closing.cause, Cause::Replaced | Cause::Left) {
        assert!(known, "what is replaced was there");
    }
    let mut closed = 0;
    for kept in of_key.iter_mut() {
        let reaches = if closing.cause.is_inclusive() {
            kept.from <= at
        } else {
            kept.from < at
        };
        if kept.to.is_none() && reaches {
            kept.to = Some(at);
            closed += 1;
        }
    }
    if closing.cause == Cause::Appeared {
        assert_eq!(closed, 0, "nothing had the key");
    }
    if of_key.is_empty() {
        stored.remove(&key);
    }
}

fn carried(stored: &Stored, images: &Images<'_>, key: Row, lsn: i64) -> Values {
    let of_key = stored.get(&number(images, key, 0).unwrap()).unwrap();
    let kept = of_key.iter().rfind(|kept| kept.from <= lsn).unwrap();
    assert!(
        kept.to == Some(lsn) || kept.from == lsn,
        "the version before"
    );
    kept.values
}

/// The same table, when a new checkpoint finds in it what an earlier one wrote.
fn found_again(generation: &Generation, stored: &Stored) -> Arc<Generation> {
    let mut generation = generation.clone();
    let Held::History(history) = &mut generation.tables[0].held else {
        panic!("a history");
    };
    let ends = stored.values().flatten();
    history.recorded_until = ends
        .flat_map(|kept| [Some(kept.from), kept.to])
        .flatten()
        .max();
    Arc::new(generation)
}

fn one_table() -> Arc<Generation> {
    let columns = [
        ("id", "int8", INT8),
        ("big", "text", TEXT),
        ("small", "text", TEXT),
    ];
    let table = history_of(plain_table("public.t", &columns, &[0]));
    Arc::new(generation(vec![table]))
}

/// Plans and writes runs of pieces; every run is a group, or the parts of one large transaction.
fn deliver(
    generation: &Arc<Generation>,
    pieces: &[Piece],
    cuts: &[prop::sample::Index],
    stored: &mut Stored,
) {
    let mut resolver = Resolver::new(Arc::clone(generation));
    let mut group = Vec::new();
    let mut cuts = cuts.iter().cycle();
    for piece in pieces {
        let cut = cuts.next().map_or(0, |cut| cut.index(8));
        match cut {
            // Alone, in parts.
            0 if piece.changes.len() > 1 => {
                flush(generation, &mut resolver, &mut group, stored);
                for changes in piece
                    .changes
                    .chunks(1 + cuts.next().map_or(0, |cut| cut.index(4)))
                {
                    group.push(Piece {
                        changes: changes.to_vec(),
                        ..*piece
                    });
                    flush(generation, &mut resolver, &mut group, stored);
                }
            }
            0 | 1 => {
                flush(generation, &mut resolver, &mut group, stored);
                group.push(piece.clone());
            }
            _ => group.push(piece.clone()),
        }
    }
    flush(generation, &mut resolver, &mut group, stored);
}

fn flush(
    generation: &Generation,
    resolver: &mut Resolver,
    group: &mut Vec<Piece>,
    stored: &mut Stored,
) {
    let planned = plan(resolver, group, &UNTENANTED).unwrap();
    write(generation, &planned, stored);
    drop(planned);
    group.clear();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_version_of_every_transaction_has_its_window(
        acts in acts(),
        identity in prop::sample::select(&[Identity::Key, Identity::AlwaysKey, Identity::Full][..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
    ) {
        let generation = one_table();
        let mut source = Source::new(&generation, identity);
        for act in &acts {
            source.act(act);
        }
        source.commit();
        let mut stored = Stored::new();
        deliver(&generation, &source.pieces, &cuts, &mut stored);
        prop_assert_eq!(&stored, &source.history);
    }

    #[test]
    fn a_reset_at_any_moment_changes_no_window(
        acts in acts(),
        identity in prop::sample::select(&[Identity::Key, Identity::AlwaysKey, Identity::Full][..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
        delivered in any::<prop::sample::Index>(),
        again_from in any::<prop::sample::Index>(),
    ) {
        let generation = one_table();
        let mut source = Source::new(&generation, identity);
        for act in &acts {
            source.act(act);
        }
        source.commit();
        let delivered = delivered.index(source.pieces.len() + 1);
        let again_from = again_from.index(delivered + 1);
        let mut stored = Stored::new();
        deliver(&generation, &source.pieces[..delivered], &cuts, &mut stored);
        let generation = found_again(&generation, &stored);
        deliver(&generation, &source.pieces[again_from..], &cuts, &mut stored);
        prop_assert_eq!(&stored, &source.history);
    }
}

/// The first transaction alone, the second in two batches.
fn in_two_batches(acts: &[Act], split: usize) -> (Stored, Stored) {
    let generation = one_table();
    let mut source = Source::new(&generation, Identity::Key);
    for act in acts {
        source.act(act);
    }
    source.commit();
    let [first, second] = source.pieces.as_slice() else {
        panic!("two transactions");
    };
    let mut resolver = Resolver::new(Arc::clone(&generation));
    let mut stored = Stored::new();
    let (before, after) = second.changes.split_at(split);
    for changes in [before, after] {
        let part = Piece {
            changes: changes.to_vec(),
            ..*second
        };
        let mut group = Vec::from([first.clone()]);
        if !stored.is_empty() {
            group.clear();
        } else {
            flush(&generation, &mut resolver, &mut group, &mut stored);
        }
        group.push(part);
        flush(&generation, &mut resolver, &mut group, &mut stored);
    }
    (stored, source.history)
}

#[test]
fn a_row_that_leaves_in_a_later_batch_takes_its_own_values_along() {
    let acts = [
        Act::Insert(1, 0),
        Act::Commit,
        Act::Update(1, Some(99), 1),
        Act::Update(1, None, 2),
        Act::Rekey(1, 2, None, 3),
        Act::Delete(2),
    ];
    let (stored, expected) = in_two_batches(&acts, 1);
    assert_eq!(stored, expected);
}
