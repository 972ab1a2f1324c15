//! What remains of many changes of one key: the fold table.
//!
//! | then → / ↓ first | insert | update | delete | key change (its old key) |
//! | --- | --- | --- | --- | --- |
//! | nothing | insert | update | delete | delete, must exist |
//! | insert | upsert | insert, updated | delete | delete |
//! | upsert | upsert | upsert, updated | delete | delete |
//! | update | upsert | update of both | delete | delete, must exist |
//! | delete | upsert, or *seal* | *seal* | delete | *seal* |
//! | arrival | *seal* | *seal* | *seal* | *seal* |
//!
//! A key change whose new image is whole, in a table that holds nothing else, is a delete of the old key and an arrival at the new one; an earlier effect
//! on the old key may supply what the change did not carry. *Seal* ends the batch: what follows is planned against
//! the rows that the batch leaves behind. An arrival is never folded further: only if nothing was there before is
//! its row the one that later changes of the key mean. An insert after a delete is sealed where the destination has
//! columns of its own: the new row must not inherit theirs, however the changes happen to be grouped.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::sync::Arc;

use replicant_transport::cell::Cell;

use super::Span;
use super::effect::{Effect, effect_of, is_whole};
use super::image::{Images, Row};
use super::resolve::Mapping;
use super::tenants::Scoped;
use crate::error::Error;
use crate::generation::{DeleteAndReinsert, Table};

/// What remains to be done for one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Net {
    /// The row appears; one that was not known of is replaced.
    Insert,
    /// The row appears under a key it did not have before.
    Arrive,
    /// The row is there afterwards, whatever was before.
    Upsert,
    /// The known columns of an existing row change.
    Update,
    /// No row has the key afterwards.
    Delete,
    /// The same, and a row had it before.
    Depart,
}

/// The net effect on one key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NetEffect {
    pub(crate) net: Net,
    pub(crate) row: Row,
}

/// Net effects of a run of changes of one table, at most one per key.
#[derive(Debug)]
pub(crate) struct Folded<'a> {
    pub(crate) images: Images<'a>,
    pub(crate) effects: Vec<NetEffect>,
    pub(crate) mapping: Arc<Mapping>,
    /// The changes it was made from.
    pub(crate) span: Span,
}

/// What became of a change offered to a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Offer {
    /// Folded in.
    Taken,
    /// Not taken: it must come after everything folded so far.
    Seal,
    /// Not taken: its new image has unknown values under a new key, or the row has values that no image has, so it
    /// must be written as it came.
    AsItCame,
}

pub(super) type Key<'a> = Cow<'a, [u8]>;

/// Folds the changes of one table.
#[derive(Debug)]
pub(crate) struct Folder<'a> {
    folded: Folded<'a>,
    by_key: HashMap<Key<'a>, usize>,
}

impl<'a> Folder<'a> {
    pub(crate) fn new(table: &Table, mapping: Arc<Mapping>, at: u64) -> Self {
        Self {
            folded: Folded {
                images: Images::new(table.columns.len()),
                effects: Vec::new(),
                mapping,
                span: Span::at(at),
            },
            by_key: HashMap::new(),
        }
    }

    pub(crate) fn finish(self) -> Folded<'a> {
        self.folded
    }

    /// Offers the next change of the table.
    ///
    /// # Errors
    /// Those of [`effect_of`].
    pub(crate) fn offer(
        &mut self,
        table: &Table,
        mapping: &Arc<Mapping>,
        scoped: Scoped<'a>,
        at: u64,
    ) -> Result<Offer, Error> {
        if !Arc::ptr_eq(mapping, &self.folded.mapping) {
            return Ok(Offer::Seal);
        }
        let mark = self.folded.images.mark();
        let effect = effect_of(table, mapping, scoped, &mut self.folded.images)?;
        let offer = match effect {
            Effect::Insert { row } => self.insert(table, row),
            Effect::Update { row } => self.update(table, row, mark),
            Effect::Delete { old } => self.delete(table, old, mark),
            Effect::Move { old, row } => self.relocate(table, old, row),
        };
        match offer {
            Offer::Taken => self.folded.span.extend(at),
            Offer::Seal | Offer::AsItCame => self.folded.images.forget_since(mark),
        }
        Ok(offer)
    }

    fn insert(&mut self, table: &Table, row: Row) -> Offer {
        let Some(index) = self.place(table, row, Net::Insert) else {
            return Offer::Taken;
        };
        match self.effect(index) {
            // What only the destination has belongs to the row that is gone.
            Some(effect) if is_gone(effect.net) && keeps_its_own(table) => Offer::Seal,
            Some(effect) if effect.net != Net::Arrive => {
                *effect = NetEffect {
                    net: Net::Upsert,
                    row,
                };
                Offer::Taken
            }
            _ => Offer::Seal,
        }
    }

    fn update(&mut self, table: &Table, row: Row, mark: usize) -> Offer {
        let Some(index) = self.place(table, row, Net::Update) else {
            return Offer::Taken;
        };
        match self.effect(index).copied() {
            Some(NetEffect {
                net: Net::Insert | Net::Upsert | Net::Update,
                row: first,
            }) => {
                self.folded.images.overlay(first, row);
                self.folded.images.forget_since(mark);
                Offer::Taken
            }
            _ => Offer::Seal,
        }
    }

    fn delete(&mut self, table: &Table, old: Row, mark: usize) -> Offer {
        let Some(index) = self.place(table, old, Net::Delete) else {
            return Offer::Taken;
        };
        match self.effect(index) {
            Some(effect) if effect.net != Net::Arrive => {
                effect.net = Net::Delete;
                self.folded.images.forget_since(mark);
                Offer::Taken
            }
            _ => Offer::Seal,
        }
    }

    fn relocate(&mut self, table: &Table, old: Row, row: Row) -> Offer {
        if !self.folded.mapping.may_replace(table) {
            return Offer::AsItCame;
        }
        let left = self.pending(table, old);
        let entered = self.pending(table, row);
        let departure = match left.map(|first| first.net) {
            None | Some(Net::Update) => Net::Depart,
            Some(Net::Insert | Net::Upsert) => Net::Delete,
            Some(Net::Arrive | Net::Delete | Net::Depart) => return Offer::Seal,
        };
        let arrival = match entered.map(|first| first.net) {
            None => Net::Arrive,
            Some(Net::Delete | Net::Depart) => Net::Upsert,
            // Two rows have the key for a moment, which the destination will judge.
            Some(Net::Insert | Net::Upsert | Net::Update | Net::Arrive) => return Offer::Seal,
        };
        if let Some(first) = left {
            self.folded.images.complete(row, first.row);
        }
        if !is_whole(&self.folded.mapping, &self.folded.images, row) {
            return Offer::AsItCame;
        }
        self.write(table, departure, left.map_or(old, |first| first.row));
        self.write(table, arrival, row);
        Offer::Taken
    }

    /// Sets the net effect of the row's key.
    fn write(&mut self, table: &Table, net: Net, row: Row) {
        let known = self.place(table, row, net);
        if let Some(effect) = known.and_then(|index| self.effect(index)) {
            *effect = NetEffect { net, row };
        }
    }

    /// Where the effect on the row's key is; if there was none, it is this one now.
    fn place(&mut self, table: &Table, row: Row, net: Net) -> Option<usize> {
        let key = key_of(table, &self.folded.images, row);
        match self.by_key.entry(key) {
            Place::Occupied(place) => Some(*place.get()),
            Place::Vacant(place) => {
                place.insert(self.folded.effects.len());
                self.folded.effects.push(NetEffect { net, row });
                None
            }
        }
    }

    fn pending(&self, table: &Table, row: Row) -> Option<NetEffect> {
        let key = key_of(table, &self.folded.images, row);
        let index = self.by_key.get(&key)?;
        self.folded.effects.get(*index).copied()
    }

    fn effect(&mut self, index: usize) -> Option<&mut NetEffect> {
        self.folded.effects.get_mut(index)
    }
}

fn is_gone(net: Net) -> bool {
    matches!(net, Net::Delete | Net::Depart)
}

/// Would a row that replaces another inherit something that the mirror does not write?
fn keeps_its_own(table: &Table) -> bool {
    table.delete_and_reinsert == DeleteAndReinsert::Forbidden
}

/// The bytes that identify a row. A column travels in one format, so equal keys have equal bytes.
pub(super) fn key_of<'a>(table: &Table, images: &Images<'a>, row: Row) -> Key<'a> {
    let bytes = |column| match images.get(row, column) {
        Cell::Text(bytes) | Cell::Binary(bytes) => bytes,
        Cell::Null | Cell::Unchanged => &[],
    };
    match table.row_match.key() {
        [only] => Cow::Borrowed(bytes(only.column)),
        several => {
            let mut key = Vec::with_capacity(several.len() * 12);
            for part in several {
                let bytes = bytes(part.column);
                key.extend_from_slice(&bytes.len().to_be_bytes());
                key.extend_from_slice(bytes);
            }
            Cow::Owned(key)
        }
    }
}
