//! Which data key seals now? One of its own for each table and destination transaction, made when the first value is
//! sealed in it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::key::Keyring;
use super::sealer::Sealer;
use crate::reason::Reason;

/// Counts the destination transactions of a session. Tables without sealed columns never look at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups(Arc<AtomicU64>);

impl Groups {
    /// A destination transaction begins: no data key of an earlier one seals anything in it.
    pub(crate) fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn current(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The data keys of one table.
pub(super) struct DataKeys {
    keys: Keyring,
    groups: Groups,
    /// The last one, and the transaction it was made in.
    last: Mutex<(u64, Arc<Sealer>)>,
}

impl DataKeys {
    /// Those that come from the current one of these keys. The first one is made at once: what keeps one from being made
    /// is told before any row is written.
    ///
    /// # Errors
    /// `sealing_failed`.
    pub(super) fn new(keys: &Keyring, groups: &Groups) -> Result<Self, Reason> {
        let first = (groups.current(), Arc::new(Sealer::new(keys.current())?));
        Ok(Self {
            keys: keys.clone(),
            groups: groups.clone(),
            last: Mutex::new(first),
        })
    }

    /// What seals in the transaction that is open.
    ///
    /// # Errors
    /// `sealing_failed`.
    pub(super) fn current(&self) -> Result<Arc<Sealer>, Reason> {
        let group = self.groups.current();
        // Who panicked here left a data key that is as good as any.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != group {
            *last = (group, Arc::new(Sealer::new(self.keys.current())?));
        }
        Ok(Arc::clone(&last.1))
    }

    /// What they come from, and what opens.
    pub(super) fn keys(&self) -> &Keyring {
        &self.keys
    }
}

impl fmt::Debug for DataKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataKeys({})", self.keys.current().id())
    }
}
