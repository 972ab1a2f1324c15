//! Which run-time parameters a session pins in its startup packet, and why.
//!
//! Text output follows session parameters, and `ALTER ROLE` or `ALTER DATABASE ... SET` changes them for us; a value
//! in the startup packet wins over both. `idle_session_timeout` exists from PostgreSQL 14 on, and an unknown
//! parameter in the startup packet is fatal, so the handshake sets that one afterwards.

/// One parameter and its value.
pub(super) type Setting = (&'static str, &'static str);

/// How values look, the same on both sides.
const OUTPUT: &[Setting] = &[
    ("client_encoding", "UTF8"),
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "postgres"),
    ("TimeZone", "UTC"),
    ("extra_float_digits", "3"),
    ("bytea_output", "hex"),
    ("xmlbinary", "base64"),
    ("lc_monetary", "C"),
    // Names in the output of regclass and regtype are qualified, and nothing is found by accident.
    ("search_path", ""),
    ("statement_timeout", "0"),
    // Catalog questions are estimated as expensive and answered in milliseconds; compiling them takes a second.
    ("jit", "off"),
];

/// A source session waits as long as it takes: slot creation waits for old transactions, streams are idle for days.
const SOURCE: &[Setting] = &[
    ("lock_timeout", "0"),
    ("idle_in_transaction_session_timeout", "0"),
];

/// A session that writes to the destination: durable when it says so, unable to see less than it thinks, never
/// waiting for ever, and planning key lookups rather than joins over whole tables. What decides how text is read is
/// pinned too: without `array_nulls` a NULL element would silently become the word.
const DESTINATION: &[Setting] = &[
    ("array_nulls", "on"),
    ("xmloption", "content"),
    ("standard_conforming_strings", "on"),
    ("transform_null_equals", "off"),
    ("lock_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("synchronous_commit", "on"),
    ("row_security", "off"),
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    // A foreign key's check keeps the plan it made when the parent was empty: a scan of the whole table for each row.
    ("enable_seqscan", "off"),
];

/// Which side a session talks to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Source,
    Destination,
}

impl Side {
    /// What is pinned on this side.
    pub(super) fn settings(self) -> impl Iterator<Item = Setting> {
        let own = match self {
            Self::Source => SOURCE,
            Self::Destination => DESTINATION,
        };
        OUTPUT.iter().chain(own).copied()
    }
}
