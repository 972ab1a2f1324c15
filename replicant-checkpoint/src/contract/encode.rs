//! Which bytes a manifest has: exactly one encoding, versioned, so that equal promises have equal fingerprints.
//!
//! The first byte is the version. Texts and lists carry their length as four bytes, big endian; closed words are one
//! byte; an optional part is preceded by 0 or 1, and one of several forms by the byte of the form. Decoding accepts
//! nothing that encoding would not write: unknown words, unsorted lists and trailing bytes are errors, so stored
//! bytes and their meaning cannot part.

mod parts;
mod words;

use std::fmt;

use super::manifest::{MANIFEST_VERSION, Manifest, Relation, Route, Stream};

/// Why stored bytes are not a manifest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// Written by another version of this crate.
    Version {
        /// The version found.
        found: u8,
    },
    /// The bytes end early.
    Truncated,
    /// A closed word is not one this version knows.
    UnknownWord,
    /// A text is not UTF-8.
    NotText,
    /// A list is not sorted or repeats an entry.
    NotCanonical,
    /// Bytes follow the end.
    TrailingBytes,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { found } => write!(
                f,
                "the stored contract has version {found}, this release writes {MANIFEST_VERSION}"
            ),
            Self::Truncated => f.write_str("the stored contract ends early"),
            Self::UnknownWord => f.write_str("the stored contract holds an unknown word"),
            Self::NotText => f.write_str("the stored contract holds a name that is not UTF-8"),
            Self::NotCanonical => f.write_str("the stored contract is not in canonical order"),
            Self::TrailingBytes => f.write_str("bytes follow the end of the stored contract"),
        }
    }
}

impl std::error::Error for DecodeError {}

impl Manifest {
    /// The canonical bytes. Equal manifests have equal bytes and the other way round.
    pub fn encode(&self) -> Vec<u8> {
        let Self {
            stream,
            kind,
            initial_state,
            relations,
            ignores,
            routes,
            ignored_prefixes,
        } = self;
        let mut out = Writer(vec![MANIFEST_VERSION]);
        match stream {
            Stream::Pgoutput { publications } => {
                out.byte(1);
                out.list(publications);
            }
        }
        kind.write(&mut out);
        out.option(initial_state.as_ref());
        out.list(relations);
        out.list(ignores);
        out.list(routes);
        out.list(ignored_prefixes);
        out.0
    }

    /// The manifest these bytes encode.
    ///
    /// # Errors
    /// [`DecodeError`] for bytes that [`encode`](Self::encode) would not have written. Never panics, and allocates
    /// no more than a small multiple of what it was given.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut input = Reader(bytes);
        let version = input.byte()?;
        if version != MANIFEST_VERSION {
            return Err(DecodeError::Version { found: version });
        }
        let stream = match input.byte()? {
            1 => Stream::Pgoutput {
                publications: input.list(Clone::clone)?,
            },
            _ => return Err(DecodeError::UnknownWord),
        };
        let manifest = Self {
            stream,
            kind: Code::read(&mut input)?,
            initial_state: input.option()?,
            relations: input
                .list(|relation: &Relation| (relation.source.clone(), relation.target.clone()))?,
            ignores: input.list(Clone::clone)?,
            routes: input.list(|route: &Route| route.prefix.clone())?,
            ignored_prefixes: input.list(Clone::clone)?,
        };
        if !input.0.is_empty() {
            return Err(DecodeError::TrailingBytes);
        }
        Ok(manifest)
    }
}

/// A part of a manifest with its bytes, both ways.
trait Code: Sized {
    fn write(&self, out: &mut Writer);
    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

struct Writer(Vec<u8>);

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn length(&mut self, length: usize) {
        // A declaration is source code; four gigabytes of it do not compile.
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&length.to_be_bytes());
    }

    fn list<T: Code>(&mut self, items: &[T]) {
        self.length(items.len());
        for item in items {
            item.write(self);
        }
    }

    fn option<T: Code>(&mut self, part: Option<&T>) {
        match part {
            None => self.byte(0),
            Some(part) => {
                self.byte(1);
                part.write(self);
            }
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Result<&[u8], DecodeError> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        let (byte, rest) = self.0.split_first().ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        Ok(*byte)
    }

    fn length(&mut self) -> Result<usize, DecodeError> {
        let (bytes, rest) = self
            .0
            .split_first_chunk::<4>()
            .ok_or(DecodeError::Truncated)?;
        self.0 = rest;
        usize::try_from(u32::from_be_bytes(*bytes)).map_err(|_| DecodeError::Truncated)
    }

    /// A list in the order it was written. Nothing is reserved up front: every element consumes input, so the input
    /// bounds the allocation, not the number written in it.
    fn sequence<T: Code>(&mut self) -> Result<Vec<T>, DecodeError> {
        let length = self.length()?;
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(T::read(self)?);
        }
        Ok(items)
    }

    /// A list sorted by `key` without repetition.
    fn list<T: Code, K: Ord>(&mut self, key: impl Fn(&T) -> K) -> Result<Vec<T>, DecodeError> {
        let items: Vec<T> = self.sequence()?;
        if items.is_sorted_by(|a, b| key(a) < key(b)) {
            Ok(items)
        } else {
            Err(DecodeError::NotCanonical)
        }
    }

    fn option<T: Code>(&mut self) -> Result<Option<T>, DecodeError> {
        match self.byte()? {
            0 => Ok(None),
            1 => Ok(Some(T::read(self)?)),
            _ => Err(DecodeError::UnknownWord),
        }
    }
}
