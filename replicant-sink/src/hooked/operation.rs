//! Under which key does a hook's action run? The same wherever the change is delivered again, and another for
//! everything that is not the same run of it.
//!
//! The key is the canonical encoding of its axes, in base64url: source system, database and slot, commit position,
//! ordinal of the change, the participant, and what the sink was doing with the row. One change can do two things, and
//! a hook can run one action twice; each has a key of its own.

use replicant_transport::ident::QualifiedName;
use replicant_transport::position::CommitLsn;

use crate::effects::OperationKey;
use crate::generation::SourceNames;

/// What the sink does with a row when it runs an action: the last axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Invocation {
    /// The version of a key that the row left, or that ends with the row, is closed.
    ClosePrior,
    /// The version of a key that goes on is closed.
    CloseCurrent,
    /// A version is opened.
    Open,
    /// The row of a key is removed.
    DestroyPrior,
    /// The row of a key is written.
    Upsert,
    /// An event is appended.
    Append,
}

impl Invocation {
    /// The label, as keys hold it.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::ClosePrior => "close_prior",
            Self::CloseCurrent => "close_current",
            Self::Open => "open",
            Self::DestroyPrior => "destroy_prior",
            Self::Upsert => "upsert",
            Self::Append => "append",
        }
    }
}

/// The run of an action for one change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation<'a> {
    pub(crate) source: &'a SourceNames,
    pub(crate) commit_lsn: CommitLsn,
    pub(crate) ordinal: u64,
    pub(crate) invocation: Invocation,
}

/// An action of an auxiliary resource, by what the contract calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Participant<'a> {
    pub(crate) table: &'a QualifiedName,
    pub(crate) action: &'a str,
}

impl Operation<'_> {
    /// The key under which the participant runs for the `time`th time, counted from 0.
    pub(crate) fn key(&self, participant: Participant<'_>, time: u64) -> OperationKey {
        let lsn = self.commit_lsn.lsn().value().to_string();
        let ordinal = self.ordinal.to_string();
        let time = time.to_string();
        let name = format!("{}.{}", participant.table.quoted(), participant.action);
        let axes = [
            (Kind::Text, self.source.system.as_str()),
            (Kind::Text, self.source.database.as_str()),
            (Kind::Text, self.source.slot.as_str()),
            (Kind::Number, lsn.as_str()),
            (Kind::Number, ordinal.as_str()),
            (Kind::Symbol, name.as_str()),
            (Kind::Symbol, self.invocation.label()),
            (Kind::Number, time.as_str()),
        ];
        // The first run has the seven axes alone.
        let axes = match axes.split_last() {
            Some((_, seven)) if time == "0" => seven,
            _ => &axes,
        };
        OperationKey::new(base64url(&list(axes)))
    }
}

/// What a frame holds.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Text,
    Symbol,
    List,
}

/// A list of frames as one frame: tag, length, and a count before the frames.
fn list(frames: &[(Kind, &str)]) -> Vec<u8> {
    let mut inside = length(frames.len()).to_vec();
    for (kind, payload) in frames {
        inside.extend(frame(*kind, payload.as_bytes()));
    }
    frame(Kind::List, &inside)
}

fn frame(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let tag = match kind {
        Kind::Number => 2,
        Kind::Text => 3,
        Kind::Symbol => 4,
        Kind::List => 5,
    };
    let mut bytes = vec![tag];
    bytes.extend(length(payload.len()));
    bytes.extend(payload);
    bytes
}

/// Names and numbers are far from this bound.
fn length(of: usize) -> [u8; 4] {
    u32::try_from(of).unwrap_or(u32::MAX).to_be_bytes()
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// RFC 4648, section 5, without padding.
fn base64url(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..=chunk.len() {
            let index = bits >> (18 - 6 * digit) & 63;
            let letter = usize::try_from(index).ok().and_then(|at| ALPHABET.get(at));
            text.push(char::from(letter.copied().unwrap_or(b'A')));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use replicant_transport::position::Lsn;

    use super::*;

    fn source(system: &str, database: &str, slot: &str) -> SourceNames {
        SourceNames {
            system: system.to_owned(),
            database: database.to_owned(),
            slot: slot.to_owned(),
        }
    }

    fn key(
        source: &SourceNames,
        (lsn, ordinal): (u64, u64),
        (table, action): (&str, &str),
        invocation: Invocation,
        time: u64,
    ) -> String {
        let operation = Operation {
            source,
            commit_lsn: CommitLsn::new(Lsn::new(lsn)),
            ordinal,
            invocation,
        };
        let table = QualifiedName::parse(table).unwrap();
        let participant = Participant {
            table: &table,
            action,
        };
        operation.key(participant, time).as_str().to_owned()
    }

    #[test]
    fn a_key_is_the_same_for_the_same_run_and_another_when_any_axis_differs() {
        let here = source("7", "shop", "s");
        let place = (0x10, 3);
        let participant = ("public.receipts", "record");
        let one = || key(&here, place, participant, Invocation::Upsert, 0);
        assert_eq!(one(), one());
        let others = [
            key(
                &source("8", "shop", "s"),
                place,
                participant,
                Invocation::Upsert,
                0,
            ),
            key(
                &source("7", "other", "s"),
                place,
                participant,
                Invocation::Upsert,
                0,
            ),
            key(
                &source("7", "shop", "t"),
                place,
                participant,
                Invocation::Upsert,
                0,
            ),
            // The border between two axes is part of the key.
            key(
                &source("7", "shops", ""),
                place,
                participant,
                Invocation::Upsert,
                0,
            ),
            key(&here, (0x18, 3), participant, Invocation::Upsert, 0),
            key(&here, (0x10, 4), participant, Invocation::Upsert, 0),
            key(
                &here,
                place,
                ("public.receipt", "record"),
                Invocation::Upsert,
                0,
            ),
            key(
                &here,
                place,
                ("other.receipts", "record"),
                Invocation::Upsert,
                0,
            ),
            key(
                &here,
                place,
                ("public.receipts", "create"),
                Invocation::Upsert,
                0,
            ),
            key(&here, place, participant, Invocation::DestroyPrior, 0),
            key(&here, place, participant, Invocation::Upsert, 1),
            key(&here, place, participant, Invocation::Upsert, 2),
            one(),
        ];
        let distinct: HashSet<&String> = others.iter().collect();
        assert_eq!(distinct.len(), others.len());
    }

    #[test]
    fn a_key_is_the_canonical_encoding_of_its_seven_axes() {
        let here = source("7", "d", "s");
        let found = key(&here, (16, 3), ("a.b", "c"), Invocation::Open, 0);
        let mut expected = vec![5, 0, 0, 0, 0, 0, 0, 0, 7];
        let name: &[u8] = b"\"a\".\"b\".c";
        for (tag, payload) in [
            (3, b"7".as_slice()),
            (3, b"d"),
            (3, b"s"),
            (2, b"16"),
            (2, b"3"),
            (4, name),
            (4, b"open"),
        ] {
            expected.push(tag);
            expected.extend([0, 0, 0, u8::try_from(payload.len()).unwrap()]);
            expected.extend(payload);
        }
        expected[4] = u8::try_from(expected.len() - 5).unwrap();
        assert_eq!(found, base64url(&expected));
    }

    #[test]
    fn bytes_are_written_in_the_alphabet_of_urls() {
        // RFC 4648, section 10, without padding.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64url(bytes.as_bytes()), text);
        }
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
    }
}
