//! Does a plan leave behind what the source has? Random lives of a few rows, planned, then written to a map.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use replicant_transport::cell::Cell;
use replicant_transport::change::Change;

use super::{
    Batch, Effect, Images, Net, Plan, Resolver, Row, Rows, Step, Tenants, Verb, in_source_order,
    plan,
};
use crate::fixture::{
    INT8, TEXT, U, V, delete, delete_full, generation, insert, piece, plain_table, relation, t,
    update, update_full, update_key,
};
use crate::generation::{Folding, Generation};

static UNTENANTED: Tenants = Tenants::NONE;

/// What a source statement does to one row.
#[derive(Clone, Debug)]
enum Act {
    Insert(u8, u8, u8),
    Update(u8, Option<u8>, u8),
    Rekey(u8, u8, Option<u8>, u8),
    Delete(u8),
}

/// What old rows carry.
#[derive(Clone, Copy, Debug)]
enum Identity {
    Key,
    AlwaysKey,
    Full,
}

type Stored = BTreeMap<Vec<u8>, [Vec<u8>; 3]>;

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = (
        0u8..4,
        0u8..4,
        0u8..4,
        prop::option::of(any::<u8>()),
        any::<u8>(),
    )
        .prop_map(|(kind, key, to, big, small)| match kind {
            0 => Act::Insert(key, big.unwrap_or(7), small),
            1 => Act::Update(key, big, small),
            2 => Act::Rekey(key, to, big, small),
            _ => Act::Delete(key),
        });
    prop::collection::vec(act, 0..24)
}

/// Lives the acts on a source table that starts with keys 0 and 1, and tells what it would send.
fn live(generation: &Generation, acts: &[Act], identity: Identity) -> (Vec<Change>, Stored) {
    let relation = relation(&generation.tables[0]);
    let mut rows: BTreeMap<u8, (u8, u8)> = started();
    let mut changes = Vec::new();
    let image = |key: u8, (big, small): (u8, u8)| [t(key), t(format!("big{big}")), t(small)];
    for act in acts {
        match *act {
            Act::Insert(key, big, small) if !rows.contains_key(&key) => {
                rows.insert(key, (big, small));
                changes.push(insert(&relation, &image(key, (big, small))));
            }
            Act::Update(key, big, small) if rows.contains_key(&key) => {
                change_row(
                    &relation,
                    &mut rows,
                    &mut changes,
                    identity,
                    (key, key, big, small),
                );
            }
            Act::Rekey(key, to, big, small)
                if rows.contains_key(&key) && !rows.contains_key(&to) =>
            {
                change_row(
                    &relation,
                    &mut rows,
                    &mut changes,
                    identity,
                    (key, to, big, small),
                );
            }
            Act::Delete(key) => {
                if let Some(row) = rows.remove(&key) {
                    changes.push(match identity {
                        Identity::Full => delete_full(&relation, &image(key, row)),
                        _ => delete(&relation, &[t(key), V::Null, V::Null]),
                    });
                }
            }
            _ => {}
        }
    }
    let stored = rows.into_iter().map(|(key, row)| {
        let [key, big, small] = image(key, row).map(bytes);
        (key.clone(), [key, big, small])
    });
    (changes, stored.collect())
}

fn change_row(
    relation: &Arc<replicant_transport::relation::Relation>,
    rows: &mut BTreeMap<u8, (u8, u8)>,
    changes: &mut Vec<Change>,
    identity: Identity,
    (key, to, big, small): (u8, u8, Option<u8>, u8),
) {
    let (old_big, old_small) = rows.remove(&key).unwrap();
    rows.insert(to, (big.unwrap_or(old_big), small));
    let new = [t(to), big.map_or(U, |big| t(format!("big{big}"))), t(small)];
    changes.push(match identity {
        Identity::Full => {
            let old = [t(key), t(format!("big{old_big}")), t(old_small)];
            update_full(relation, &old, &new)
        }
        Identity::AlwaysKey => update_key(relation, &[t(key), V::Null, V::Null], &new),
        Identity::Key if key != to => update_key(relation, &[t(key), V::Null, V::Null], &new),
        Identity::Key => update(relation, &new),
    });
}

fn started() -> BTreeMap<u8, (u8, u8)> {
    BTreeMap::from([(0, (100, 100)), (1, (101, 101))])
}

fn started_stored() -> Stored {
    let rows = started().into_iter().map(|(key, (big, small))| {
        let cells = [t(key), t(format!("big{big}")), t(small)].map(bytes);
        (cells[0].clone(), cells)
    });
    rows.collect()
}

fn bytes(value: V) -> Vec<u8> {
    match value {
        V::Text(text) => text.into_bytes(),
        _ => panic!("only text here"),
    }
}

fn cell_bytes(cell: Cell<'_>) -> Option<Vec<u8>> {
    match cell {
        Cell::Text(bytes) => Some(bytes.to_vec()),
        _ => None,
    }
}

fn key(images: &Images<'_>, row: Row) -> Vec<u8> {
    cell_bytes(images.get(row, 0)).unwrap()
}

fn whole(images: &Images<'_>, row: Row) -> [Vec<u8>; 3] {
    [0, 1, 2].map(|column| cell_bytes(images.get(row, column)).expect("a whole image"))
}

fn set(stored: &mut [Vec<u8>; 3], images: &Images<'_>, row: Row) {
    for (column, place) in stored.iter_mut().enumerate() {
        if let Some(value) = cell_bytes(images.get(row, column)) {
            *place = value;
        }
    }
}

/// Writes a plan to the map as the destination would, and insists on what the plan claims.
fn write(plan: &Plan<'_>, stored: &mut Stored) {
    for step in &plan.steps {
        let Step::Tables(work) = step else {
            stored.clear();
            continue;
        };
        for batch in work.iter().flat_map(|work| &work.batches) {
            match batch {
                Batch::Versions(_) | Batch::Recorded(_) | Batch::Events(_) => panic!("a mirror"),
                Batch::Rows(rows) => write_rows(rows, stored),
                Batch::Folded { folded, operations } => {
                    let images = &folded.images;
                    for operation in operations {
                        for &row in &operation.rows {
                            let key = key(images, row);
                            match operation.verb {
                                Verb::Depart => assert!(stored.remove(&key).is_some(), "departs"),
                                Verb::Delete => {
                                    stored.remove(&key);
                                }
                                Verb::Update => set(stored.get_mut(&key).unwrap(), images, row),
                                Verb::Upsert => {
                                    stored.insert(key, whole(images, row));
                                }
                                Verb::Insert | Verb::Arrive => {
                                    let before = stored.insert(key, whole(images, row));
                                    assert!(before.is_none(), "inserts a new key");
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn write_rows(rows: &Rows<'_>, stored: &mut Stored) {
    let images = &rows.images;
    for effect in &rows.effects {
        match *effect {
            Effect::Insert { row } => {
                assert!(
                    stored
                        .insert(key(images, row), whole(images, row))
                        .is_none()
                );
            }
            Effect::Update { row } => set(stored.get_mut(&key(images, row)).unwrap(), images, row),
            Effect::Move { old, row } => {
                let mut cells = stored.remove(&key(images, old)).unwrap();
                set(&mut cells, images, row);
                assert!(stored.insert(key(images, row), cells).is_none());
            }
            Effect::Delete { old } => {
                assert!(stored.remove(&key(images, old)).is_some());
            }
        }
    }
}

fn one_table() -> Generation {
    let columns = [
        ("id", "int8", INT8),
        ("big", "text", TEXT),
        ("small", "text", TEXT),
    ];
    generation(vec![plain_table("public.t", &columns, &[0])])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_folded_plan_leaves_what_the_source_has(
        acts in acts(),
        identity in prop::sample::select(&[Identity::Key, Identity::AlwaysKey, Identity::Full][..]),
        cut in any::<prop::sample::Index>(),
    ) {
        let generation = Arc::new(one_table());
        let (mut changes, expected) = live(&generation, &acts, identity);
        let rest = changes.split_off(cut.index(changes.len() + 1));
        let pieces = [piece(changes), piece(rest)].concat();
        let mut resolver = Resolver::new(Arc::clone(&generation));
        let planned = plan(&mut resolver, &pieces, &UNTENANTED).unwrap();
        let mut stored = started_stored();
        write(&planned, &mut stored);
        prop_assert_eq!(stored, expected);
    }

    #[test]
    fn each_folded_batch_planned_again_in_source_order_does_the_same(acts in acts()) {
        let generation = Arc::new(one_table());
        let (changes, expected) = live(&generation, &acts, Identity::Key);
        let pieces = piece(changes);
        let mut resolver = Resolver::new(Arc::clone(&generation));
        let planned = plan(&mut resolver, &pieces, &UNTENANTED).unwrap();
        let mut stored = started_stored();
        for step in &planned.steps {
            let Step::Tables(work) = step else { continue };
            for batch in work.iter().flat_map(|work| &work.batches) {
                match batch {
                    Batch::Versions(_) | Batch::Recorded(_) | Batch::Events(_) => panic!("a mirror"),
                    Batch::Rows(rows) => write_rows(rows, &mut stored),
                    Batch::Folded { folded, .. } => {
                        for rows in in_source_order(&mut resolver, (&pieces, &UNTENANTED), 0, folded.span).unwrap() {
                            write_rows(&rows, &mut stored);
                        }
                    }
                }
            }
        }
        prop_assert_eq!(stored, expected);
    }
}

fn nets(generation: &Arc<Generation>, changes: Vec<Change>) -> Vec<Vec<Net>> {
    let pieces = piece(changes);
    let mut resolver = Resolver::new(Arc::clone(generation));
    let planned = plan(&mut resolver, &pieces, &UNTENANTED).unwrap();
    let mut nets = Vec::new();
    for step in &planned.steps {
        let Step::Tables(work) = step else {
            nets.push(Vec::new());
            continue;
        };
        for batch in work.iter().flat_map(|work| &work.batches) {
            nets.push(match batch {
                Batch::Folded { folded, .. } => {
                    folded.effects.iter().map(|effect| effect.net).collect()
                }
                Batch::Rows(_) | Batch::Versions(_) | Batch::Recorded(_) | Batch::Events(_) => {
                    Vec::new()
                }
            });
        }
    }
    nets
}

#[test]
fn the_fold_table_holds() {
    let generation = Arc::new(one_table());
    let r = relation(&generation.tables[0]);
    let row = |key: u8, big: V| [t(key), big, t("s")];
    let i = |key| insert(&r, &row(key, t("b")));
    let u = |key| update(&r, &row(key, U));
    let d = |key| delete(&r, &[t(key), V::Null, V::Null]);
    let k = |old, new, big| update_key(&r, &[t(old), V::Null, V::Null], &row(new, big));
    for (changes, expected) in [
        (vec![i(1), u(1)], vec![vec![Net::Insert]]),
        (vec![i(1), d(1)], vec![vec![Net::Delete]]),
        (vec![d(1), i(1)], vec![vec![Net::Upsert]]),
        (vec![d(1), i(1), u(1)], vec![vec![Net::Upsert]]),
        (vec![u(1), u(1)], vec![vec![Net::Update]]),
        (vec![u(1), d(1)], vec![vec![Net::Delete]]),
        (vec![k(1, 2, t("b"))], vec![vec![Net::Depart, Net::Arrive]]),
        (vec![k(1, 2, U)], vec![vec![]]),
        (vec![i(1), k(1, 2, U)], vec![vec![Net::Delete, Net::Arrive]]),
        (
            vec![update(&r, &row(1, t("b"))), k(1, 2, U)],
            vec![vec![Net::Depart, Net::Arrive]],
        ),
        (vec![u(1), k(1, 2, U)], vec![vec![Net::Update], vec![]]),
        (
            vec![d(2), k(1, 2, t("b"))],
            vec![vec![Net::Upsert, Net::Depart]],
        ),
        (
            vec![k(1, 2, t("b")), d(2)],
            vec![vec![Net::Depart, Net::Arrive], vec![Net::Delete]],
        ),
        (vec![d(1), u(1)], vec![vec![Net::Delete], vec![Net::Update]]),
        (
            vec![i(1), crate::fixture::truncate(&[&r]), i(1)],
            vec![vec![Net::Insert], vec![], vec![Net::Insert]],
        ),
    ] {
        assert_eq!(nets(&generation, changes), expected);
    }
}

#[test]
fn a_key_old_row_that_did_not_change_is_a_plain_update() {
    let generation = Arc::new(one_table());
    let r = relation(&generation.tables[0]);
    let same = update_key(&r, &[t(1), V::Null, V::Null], &[t(1), U, t("s")]);
    assert_eq!(nets(&generation, vec![same]), [[Net::Update]]);
}

#[test]
fn a_table_in_row_order_is_never_folded() {
    let mut generation = one_table();
    generation.tables[0].folding = Folding::RowOrder;
    let generation = Arc::new(generation);
    let r = relation(&generation.tables[0]);
    let changes = vec![
        insert(&r, &[t(1), t("b"), t("s")]),
        delete(&r, &[t(1), V::Null, V::Null]),
    ];
    let pieces = piece(changes);
    let mut resolver = Resolver::new(Arc::clone(&generation));
    let planned = plan(&mut resolver, &pieces, &UNTENANTED).unwrap();
    let [Step::Tables(work)] = planned.steps.as_slice() else {
        panic!("one step");
    };
    assert!(matches!(work[0].batches.as_slice(), [Batch::Rows(rows)] if rows.effects.len() == 2));
}
