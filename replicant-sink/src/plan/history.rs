//! Which versions a run of changes opens and closes: one window per key and source transaction that touched it.
//!
//! | change | what it does to the versions of its key |
//! | --- | --- |
//! | insert | opens a version at its commit LSN |
//! | update | closes the open version there and opens the next |
//! | delete | closes the open version |
//! | key change | closes the open version of the old key and opens one of the new key |
//!
//! Changes of one key in one transaction are one version with the last image; one that is gone at the end of its
//! transaction has a window of no width. A version that is closed by a later transaction of the same run is written
//! closed. What an update did not carry comes from the version before: from its image if the run has it, else the
//! destination looks it up ([`Carry`]).

use std::collections::HashMap;
use std::sync::Arc;

use replicant_transport::cell::Cell;

use super::effect::{Effect, effect_of};
use super::fold::{Key, Offer, key_of};
use super::image::{Images, Row};
use super::moment::Moment;
use super::resolve::Mapping;
use super::tenants::Scoped;
use crate::error::Error;
use crate::generation::Table;
use crate::reason::Reason;

/// Why the version that the destination has open is closed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub(crate) enum Cause {
    /// Its row changed: it is there, unless it was opened by the same transaction.
    Replaced,
    /// Its row took another key: it is there.
    Left,
    /// Its row was deleted. A destination that never saw the row has none.
    Deleted,
    /// Another row has the key now. Normally there is none.
    Appeared,
}

impl Cause {
    /// Does it close a version that the same transaction opened?
    pub(crate) fn is_inclusive(self) -> bool {
        matches!(self, Self::Left | Self::Deleted)
    }
}

/// The version that the destination has open for a key is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    /// Holds the key.
    pub(crate) key: Row,
    pub(crate) at: Moment,
    pub(crate) cause: Cause,
}

/// Where the destination finds the values that an image does not have: in the version of this key that was closed,
/// or opened, at this LSN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Carry {
    /// Holds the key.
    pub(crate) key: Row,
    pub(crate) lsn: i64,
}

/// A version to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    /// Its key and values.
    pub(crate) row: Row,
    pub(crate) from: Moment,
    /// `None` while it is open.
    pub(crate) to: Option<Moment>,
    /// Where its unknown values are.
    pub(crate) carry: Option<Carry>,
}

/// What a run of changes of one table leaves behind.
#[derive(Debug)]
pub(crate) struct Versions<'a> {
    pub(crate) images: Images<'a>,
    /// At most one per key.
    pub(crate) closings: Vec<Closing>,
    /// The versions of a key in order; only its last one can be open.
    pub(crate) versions: Vec<Version>,
    pub(crate) mapping: Arc<Mapping>,
}

/// What the run did to one key so far.
#[derive(Clone, Copy, Debug)]
struct Chain {
    /// Its last version in the run.
    last: Option<usize>,
    /// Another key's version carries values of the destination's version. A new version of this key would be found
    /// instead.
    lends: bool,
}

/// Collects the versions of one table.
#[derive(Debug)]
pub(crate) struct Historian<'a> {
    versions: Versions<'a>,
    chains: HashMap<Key<'a>, Chain>,
}

impl<'a> Historian<'a> {
    pub(crate) fn new(table: &Table, mapping: Arc<Mapping>) -> Self {
        Self {
            versions: Versions {
                images: Images::new(table.columns.len()),
                closings: Vec::new(),
                versions: Vec::new(),
                mapping,
            },
            chains: HashMap::new(),
        }
    }

    pub(crate) fn finish(self) -> Versions<'a> {
        self.versions
    }

    /// Offers the next change of the table.
    ///
    /// # Errors
    /// Those of [`effect_of`], and `destination_unique_conflict` when two rows of the source have one key.
    pub(crate) fn offer(
        &mut self,
        table: &Table,
        mapping: &Arc<Mapping>,
        scoped: Scoped<'a>,
        at: Moment,
    ) -> Result<Offer, Error> {
        if !Arc::ptr_eq(mapping, &self.versions.mapping) {
            return Ok(Offer::Seal);
        }
        let mark = self.versions.images.mark();
        let effect = effect_of(table, mapping, scoped, &mut self.versions.images)?;
        let offer = match effect {
            Effect::Insert { row } => self.appear(table, row, at, None)?,
            Effect::Update { row } => self.replace(table, row, at, mark),
            Effect::Delete { old } => {
                self.end(table, old, at, Cause::Deleted);
                Offer::Taken
            }
            Effect::Move { old, row } => self.relocate(table, old, row, at)?,
        };
        if offer == Offer::Seal {
            self.versions.images.forget_since(mark);
        }
        Ok(offer)
    }

    /// A row has the key that none had before.
    fn appear(
        &mut self,
        table: &Table,
        row: Row,
        at: Moment,
        carry: Option<Carry>,
    ) -> Result<Offer, Error> {
        let version = Version {
            row,
            from: at,
            to: None,
            carry,
        };
        match self.chain(table, row) {
            None => {
                self.versions.closings.push(Closing {
                    key: row,
                    at,
                    cause: Cause::Appeared,
                });
                self.push(table, version);
            }
            Some(Chain { lends: true, .. }) => return Ok(Offer::Seal),
            Some(Chain { last, .. }) => match last.and_then(|last| self.version(last)) {
                Some(last) if last.to.is_none() => {
                    // A deferrable constraint of the source allows it until the commit; whose version ends at the
                    // next change of the key cannot be told.
                    let fact = "two source rows have one business key";
                    return Err(Error::new(
                        Reason::DestinationUniqueConflict,
                        table.site().fact(fact),
                    ));
                }
                Some(last) if last.from.lsn == at.lsn => *last = version,
                _ => self.push(table, version),
            },
        }
        Ok(Offer::Taken)
    }

    /// The row of the key changed.
    fn replace(&mut self, table: &Table, row: Row, at: Moment, mark: usize) -> Offer {
        let Some(chain) = self.chain(table, row) else {
            self.versions.closings.push(Closing {
                key: row,
                at,
                cause: Cause::Replaced,
            });
            let carry = self.unknown(row).then_some(Carry {
                key: row,
                lsn: at.lsn,
            });
            self.push(
                table,
                Version {
                    row,
                    from: at,
                    to: None,
                    carry,
                },
            );
            return Offer::Taken;
        };
        let Some((index, last)) = self.open_version(chain) else {
            // The run ended this key; what follows is judged by the rows that the run leaves behind.
            return Offer::Seal;
        };
        if last.from.lsn == at.lsn {
            self.versions.images.overlay(last.row, row);
            self.versions.images.forget_since(mark);
            return Offer::Taken;
        }
        self.versions.images.complete(row, last.row);
        let carry = last.carry.filter(|_| self.unknown(row));
        if let Some(last) = self.version(index) {
            last.to = Some(at);
        }
        self.push(
            table,
            Version {
                row,
                from: at,
                to: None,
                carry,
            },
        );
        Offer::Taken
    }

    /// No row has the key any more.
    fn end(&mut self, table: &Table, old: Row, at: Moment, cause: Cause) {
        match self.chain(table, old) {
            None => {
                self.versions.closings.push(Closing {
                    key: old,
                    at,
                    cause,
                });
                self.chains.insert(
                    key_of(table, &self.versions.images, old),
                    Chain {
                        last: None,
                        lends: false,
                    },
                );
            }
            Some(chain) => {
                if let Some((index, _)) = self.open_version(chain)
                    && let Some(last) = self.version(index)
                {
                    last.to = Some(at);
                }
            }
        }
    }

    /// The row of the old key has the new key.
    fn relocate(&mut self, table: &Table, old: Row, row: Row, at: Moment) -> Result<Offer, Error> {
        if self.chain(table, row).is_some_and(|chain| chain.lends) {
            return Ok(Offer::Seal);
        }
        let left = self.chain(table, old);
        let carry = match left {
            None => Some(Carry {
                key: old,
                lsn: at.lsn,
            }),
            Some(chain) => {
                let Some((_, last)) = self.open_version(chain) else {
                    return Ok(Offer::Seal);
                };
                self.versions.images.complete(row, last.row);
                last.carry
            }
        };
        let carry = carry.filter(|_| self.unknown(row));
        self.end(table, old, at, Cause::Left);
        if let Some(carry) = carry {
            let key = key_of(table, &self.versions.images, carry.key);
            if let Some(chain) = self.chains.get_mut(&key) {
                chain.lends = true;
            }
        }
        self.appear(table, row, at, carry)
    }

    /// Has the row a value that only the version before it knows? A column that the source does not have any more keeps
    /// what it held, as it does in a mirror.
    fn unknown(&self, row: Row) -> bool {
        self.versions.images.row(row).contains(&Cell::Unchanged)
    }

    fn chain(&self, table: &Table, row: Row) -> Option<Chain> {
        let key = key_of(table, &self.versions.images, row);
        self.chains.get(&key).copied()
    }

    fn open_version(&self, chain: Chain) -> Option<(usize, Version)> {
        let index = chain.last?;
        let version = self.versions.versions.get(index)?;
        version.to.is_none().then_some((index, *version))
    }

    fn version(&mut self, index: usize) -> Option<&mut Version> {
        self.versions.versions.get_mut(index)
    }

    fn push(&mut self, table: &Table, version: Version) {
        let key = key_of(table, &self.versions.images, version.row);
        let chain = Chain {
            last: Some(self.versions.versions.len()),
            lends: false,
        };
        self.chains.insert(key, chain);
        self.versions.versions.push(version);
    }
}
