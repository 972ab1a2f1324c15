//! Which bytes a manifest has: exactly one encoding, versioned, so that equal promises have equal fingerprints.
//!
//! The first byte is the version. Texts and lists carry their length as four bytes, big endian; closed words are one
//! byte; an optional text is preceded by 0 or 1. Decoding accepts nothing that encoding would not write: unknown
//! words, unsorted lists and trailing bytes are errors, so stored bytes and their meaning cannot part.

use std::fmt;

use super::manifest::{Column, Holding, MANIFEST_VERSION, Manifest, Relation, Stream, Table};
use super::resource::{Fidelity, OnSchemaChange, OnTruncate, Storage};

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
            relations,
            ignores,
        } = self;
        let mut out = Writer(vec![MANIFEST_VERSION]);
        match stream {
            Stream::Pgoutput { publications } => {
                out.byte(1);
                out.list(publications, |out, name| out.text(name));
            }
        }
        out.list(relations, Writer::relation);
        out.list(ignores, Writer::table);
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
                publications: input.list(Reader::text, |name| name.clone())?,
            },
            _ => return Err(DecodeError::UnknownWord),
        };
        let manifest = Self {
            stream,
            relations: input.list(Reader::relation, |relation| {
                (relation.source.clone(), relation.target.clone())
            })?,
            ignores: input.list(Reader::table, |table| table.clone())?,
        };
        if !input.0.is_empty() {
            return Err(DecodeError::TrailingBytes);
        }
        Ok(manifest)
    }
}

/// Declares the byte of each word of a closed list, both ways. A word without a byte does not compile.
macro_rules! words {
    ($($kind:ident { $($word:ident = $byte:literal),* $(,)? })*) => {$(
        impl Word for $kind {
            fn byte(self) -> u8 {
                match self { $(Self::$word => $byte),* }
            }
            fn from_byte(byte: u8) -> Option<Self> {
                match byte { $($byte => Some(Self::$word),)* _ => None }
            }
        }
    )*};
}

trait Word: Sized {
    fn byte(self) -> u8;
    fn from_byte(byte: u8) -> Option<Self>;
}

// Bytes are forever: a new word takes a new byte, a removed one leaves a gap.
words! {
    Holding { Mirror = 1, History = 2, AppendLog = 3 }
    OnTruncate { Halt = 1, Mirror = 2, Close = 3, Append = 4 }
    OnSchemaChange { HaltDestructive = 1, Ignore = 2 }
    Fidelity { Lossless = 1, Lossy = 2 }
    Storage {
        Bool = 1, Int2 = 2, Int4 = 3, Int8 = 4, Float4 = 5, Float8 = 6, Text = 7, Bytes = 8, Numeric = 9,
        Uuid = 10, Date = 11, Time = 12, Timestamp = 13, TimestampTz = 14, Json = 15, Any = 16, Array = 17,
    }
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

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.length(items.len());
        for item in items {
            write(self, item);
        }
    }

    fn table(&mut self, table: &Table) {
        let Table { schema, table } = table;
        self.text(schema);
        self.text(table);
    }

    fn relation(&mut self, relation: &Relation) {
        let Relation {
            source,
            target,
            shape,
            columns,
            skips,
            key,
            on_truncate,
            on_schema_change,
        } = relation;
        self.table(source);
        self.table(target);
        self.byte(shape.byte());
        self.list(columns, Self::column);
        self.list(skips, |out, name| out.text(name));
        self.list(key, |out, name| out.text(name));
        self.byte(on_truncate.byte());
        self.byte(on_schema_change.byte());
    }

    fn column(&mut self, column: &Column) {
        let Column {
            source,
            target,
            storage,
            fidelity,
        } = column;
        match source {
            None => self.byte(0),
            Some(name) => {
                self.byte(1);
                self.text(name);
            }
        }
        self.text(target);
        self.byte(storage.byte());
        self.byte(fidelity.byte());
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

    fn text(&mut self) -> Result<String, DecodeError> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| DecodeError::NotText)?;
        Ok(text.to_owned())
    }

    fn word<W: Word>(&mut self) -> Result<W, DecodeError> {
        W::from_byte(self.byte()?).ok_or(DecodeError::UnknownWord)
    }

    /// A list sorted by `key` without repetition. Nothing is reserved up front: every element consumes input, so
    /// the input bounds the allocation, not the number written in it.
    fn list<T, K: Ord>(
        &mut self,
        read: impl Fn(&mut Self) -> Result<T, DecodeError>,
        key: impl Fn(&T) -> K,
    ) -> Result<Vec<T>, DecodeError> {
        let length = self.length()?;
        let mut items: Vec<T> = Vec::new();
        for _ in 0..length {
            let item = read(self)?;
            if let Some(last) = items.last()
                && key(last) >= key(&item)
            {
                return Err(DecodeError::NotCanonical);
            }
            items.push(item);
        }
        Ok(items)
    }

    fn table(&mut self) -> Result<Table, DecodeError> {
        Ok(Table {
            schema: self.text()?,
            table: self.text()?,
        })
    }

    fn relation(&mut self) -> Result<Relation, DecodeError> {
        Ok(Relation {
            source: self.table()?,
            target: self.table()?,
            shape: self.word()?,
            columns: self.list(Self::column, |column| {
                (column.target.clone(), column.source.clone())
            })?,
            skips: self.list(Self::text, Clone::clone)?,
            key: self.list(Self::text, Clone::clone)?,
            on_truncate: self.word()?,
            on_schema_change: self.word()?,
        })
    }

    fn column(&mut self) -> Result<Column, DecodeError> {
        Ok(Column {
            source: match self.byte()? {
                0 => None,
                1 => Some(self.text()?),
                _ => return Err(DecodeError::UnknownWord),
            },
            target: self.text()?,
            storage: self.word()?,
            fidelity: self.word()?,
        })
    }
}
