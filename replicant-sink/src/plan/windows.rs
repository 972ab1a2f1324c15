//! Which sets of versions and closings one statement can write, and in which order.
//!
//! Closings come first, so that no key has two open versions; then versions that are closed already; then open ones.
//! Values that are carried over are looked up by each statement before it writes.

use super::history::{Cause, Closing, Version, Versions};
use super::image::ColumnSet;
use super::lower::{known_columns, sort_by_key_of};
use crate::generation::Table;

/// Is the version closed already when it is written?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub(crate) enum Window {
    Closed,
    Open,
}

/// Versions that one kind of statement writes, sorted by key.
#[derive(Debug)]
pub(crate) struct VersionSet {
    pub(crate) window: Window,
    /// Columns whose values the images have.
    pub(crate) columns: ColumnSet,
    /// Columns whose values the destination looks up; empty for most.
    pub(crate) carried: ColumnSet,
    pub(crate) carrier: Carrier,
    pub(crate) versions: Vec<Version>,
}

/// Must there be a version whose values are carried over?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Carrier {
    /// The source left values out that only that version has.
    Needed,
    /// The source does not have the columns any more, or had not yet; without a version before, nobody ever told them.
    Welcome,
}

/// Closings for one cause, sorted by key.
#[derive(Debug)]
pub(crate) struct ClosingSet {
    pub(crate) cause: Cause,
    pub(crate) closings: Vec<Closing>,
}

/// The versions in the order they are written.
pub(crate) fn version_sets(table: &Table, versions: &Versions<'_>) -> Vec<VersionSet> {
    let mut sets: Vec<VersionSet> = Vec::new();
    let mut columns = ColumnSet::default();
    let mut carried = ColumnSet::default();
    for version in &versions.versions {
        let window = match version.to {
            Some(_) => Window::Closed,
            None => Window::Open,
        };
        columns.clear();
        carried.clear();
        let mut carrier = Carrier::Welcome;
        known_columns(&versions.images, version.row, &mut columns);
        if version.carry.is_some() {
            for (index, position) in versions.mapping.positions.iter().enumerate() {
                if !columns.contains(index) {
                    carried.insert(index);
                    if position.is_some() {
                        carrier = Carrier::Needed;
                    }
                }
            }
        }
        let found = sets
            .iter_mut()
            .find(|set| set.window == window && set.columns == columns && set.carried == carried);
        match found {
            Some(set) => set.versions.push(*version),
            None => sets.push(VersionSet {
                window,
                columns: columns.clone(),
                carried: carried.clone(),
                carrier,
                versions: vec![*version],
            }),
        }
    }
    sets.sort_by_key(|set| set.window);
    for set in &mut sets {
        sort_by_key_of(table, &versions.images, &mut set.versions, |version| {
            version.row
        });
    }
    sets
}

/// The closings by cause.
pub(crate) fn closing_sets(table: &Table, versions: &Versions<'_>) -> Vec<ClosingSet> {
    let mut sets: Vec<ClosingSet> = Vec::new();
    for closing in &versions.closings {
        match sets.iter_mut().find(|set| set.cause == closing.cause) {
            Some(set) => set.closings.push(*closing),
            None => sets.push(ClosingSet {
                cause: closing.cause,
                closings: vec![*closing],
            }),
        }
    }
    sets.sort_by_key(|set| set.cause);
    for set in &mut sets {
        sort_by_key_of(table, &versions.images, &mut set.closings, |closing| {
            closing.key
        });
    }
    sets
}
