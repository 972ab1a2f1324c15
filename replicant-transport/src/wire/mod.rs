//! What the server's bytes say: replication frames, and the messages of pgoutput protocol 1 inside them.
//!
//! Everything here is pure: bytes in, a value or a structural error out. [`frame`] opens the copy-both envelope,
//! [`decode`] reads one logical replication message. A row keeps the message it arrived in and a table of offsets,
//! so a message costs one allocation per tuple and no copy. All offsets are handled by the bounded reader.
//!
//! Protocol 1 stands for the whole of a committed transaction: no streaming, no two-phase messages. A byte that
//! the protocol does not define stops the pipeline: a decoder that skips what it does not know loses rows.
//!
//! Source: PostgreSQL documentation, "Logical Replication Message Formats".

pub mod frame;
mod logical;
mod malformed;
mod reader;
mod relation;
mod row;
mod time;
mod transaction;
mod truncate;
mod tuple;

pub use logical::{Logical, Transactional};
pub use relation::TypeName;
pub use row::{Delete, Insert, Update};
pub use time::to_micros;
pub use transaction::{Begin, Commit, Origin};
pub use truncate::Truncate;

use bytes::Bytes;

use crate::error::Error;
use crate::relation::Relation;
use malformed::{Malformed, Problem};
use reader::Reader;

/// One message of pgoutput protocol 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// `B`: a committed transaction begins.
    Begin(Begin),
    /// `C`: it is whole.
    Commit(Commit),
    /// `O`: it came to the source through replication from elsewhere.
    Origin(Origin),
    /// `R`: a table, as the rows that follow are laid out.
    Relation(Relation),
    /// `Y`: the name of a type that is not built in.
    Type(TypeName),
    /// `I`: a row appeared.
    Insert(Insert),
    /// `U`: a row changed.
    Update(Update),
    /// `D`: a row went away.
    Delete(Delete),
    /// `T`: tables were emptied.
    Truncate(Truncate),
    /// `M`: a logical message.
    Logical(Logical),
}

/// Reads one logical replication message, from its type byte to its last byte.
///
/// # Errors
/// `decode_failed` when the bytes are not exactly one message of the protocol, `invalid_identifier` when a table
/// or column has a name that cannot be carried. The error says which message and which field, never their content.
pub fn decode(bytes: Bytes) -> Result<Message, Error> {
    read(&bytes).map_err(Error::from)
}

fn read(bytes: &Bytes) -> Result<Message, Malformed> {
    let mut reader = Reader::new("unknown", bytes)?;
    let tag = reader.u8("type")?;
    let message = match tag {
        b'B' => Message::Begin(Begin::read(reader.named("Begin"))?),
        b'C' => Message::Commit(Commit::read(reader.named("Commit"))?),
        b'O' => Message::Origin(Origin::read(reader.named("Origin"))?),
        b'R' => Message::Relation(relation::read_relation(reader.named("Relation"))?),
        b'Y' => Message::Type(TypeName::read(reader.named("Type"))?),
        b'I' => Message::Insert(Insert::read(reader.named("Insert"))?),
        b'U' => Message::Update(Update::read(reader.named("Update"))?),
        b'D' => Message::Delete(Delete::read(reader.named("Delete"))?),
        b'T' => Message::Truncate(Truncate::read(reader.named("Truncate"))?),
        b'M' => Message::Logical(Logical::read(reader.named("Logical"))?),
        _ => return Err(reader.malformed("type", Problem::Unknown)),
    };
    reader.end()?;
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::Reason;

    /// What is said about these bytes.
    fn fault(bytes: &'static [u8]) -> (Reason, String) {
        let error = decode(Bytes::from_static(bytes)).unwrap_err();
        (error.reason, error.site.fact.unwrap_or_default())
    }

    #[test]
    fn a_fault_names_the_message_and_the_field_and_nothing_else() {
        let cases: [(&'static [u8], &str); 19] = [
            (b"", "unknown message, type reaches beyond the end"),
            (
                b"S\0\0\0\x01\x01",
                "unknown message, type is not one the protocol defines",
            ),
            (
                b"B\0",
                "Begin message, commit position reaches beyond the end",
            ),
            (
                b"C\x01",
                "Commit message, flags is not one the protocol defines",
            ),
            (
                b"O\0\0\0\0\0\0\0\0up",
                "Origin message, origin name reaches beyond the end",
            ),
            (
                b"R\0\0\0\x01s\0t\0x\0\0",
                "Relation message, replica identity is not one the protocol defines",
            ),
            (
                b"R\0\0\0\x01s\0t\0d\0\x02\0a\0\0\0\0\x17\xFF\xFF\xFF\xFF\x02b\0\0\0\0\x17\0\0\0\0",
                "Relation message, flags of column 2 is not one the protocol defines",
            ),
            (
                b"R\0\0\0\x01s\0t\0d\0\x02\0a\0\0\0\0\x17\xFF\xFF\xFF\xFF\0a\0\0\0\0\x17\0\0\0\0",
                "Relation message, column name occurs twice",
            ),
            (
                b"Y\0\0\0\x01s\0t\0\0",
                "Type message, last field is followed by more bytes",
            ),
            (
                b"I\0\0\0\x01K",
                "Insert message, tuple kind is not one the protocol defines",
            ),
            (
                b"I\0\0\0\x01N\0\x02nx",
                "Insert message, kind of column 2 is not one the protocol defines",
            ),
            (
                b"I\0\0\0\x01N\0\x01u",
                "Insert message, value of column 1 is missing where the protocol always sends it",
            ),
            (
                b"I\0\0\0\x01N\0\x01t\xFF\xFF\xFF\xFFsecret",
                "Insert message, value of column 1 reaches beyond the end",
            ),
            (
                b"U\0\0\0\x01K\0\x01uN\0\x01n",
                "Update message, value of column 1 is missing where the protocol always sends it",
            ),
            (
                b"U\0\0\0\x01K\0\x01nK\0\x01n",
                "Update message, new tuple's kind is not one the protocol defines",
            ),
            (
                b"D\0\0\0\x01N",
                "Delete message, tuple kind is not one the protocol defines",
            ),
            (
                b"T\0\0\0\0\0",
                "Truncate message, number of tables is out of range",
            ),
            (
                b"T\0\0\0\x01\x04\0\0\0\x01",
                "Truncate message, options is not one the protocol defines",
            ),
            (
                b"M\x02",
                "Logical message, flags is not one the protocol defines",
            ),
        ];
        for (bytes, expected) in cases {
            let (reason, fact) = fault(bytes);
            assert_eq!(fact, expected);
            assert_eq!(reason, Reason::DecodeFailed);
        }
    }

    #[test]
    fn a_name_that_cannot_be_carried_has_a_reason_of_its_own() {
        let cases: [(&'static [u8], &str); 4] = [
            (
                b"R\0\0\0\x01\xFF\0t\0d\0\0",
                "Relation message, schema is not UTF-8",
            ),
            (
                b"R\0\0\0\x01s\0\0d\0\0",
                "Relation message, table name is empty",
            ),
            (
                b"R\0\0\0\x01s\0t\n\0d\0\0",
                "Relation message, table name holds a control character",
            ),
            (
                b"R\0\0\0\x01s\0t\0d\0\x01\0\xC3\0\0\0\0\0\0\0\0\0",
                "Relation message, name of column 1 is not UTF-8",
            ),
        ];
        for (bytes, expected) in cases {
            assert_eq!(
                fault(bytes),
                (Reason::InvalidIdentifier, expected.to_owned())
            );
        }
    }

    #[test]
    fn an_empty_schema_is_the_catalog() {
        let decoded = decode(Bytes::from_static(b"R\0\0\0\x01\0t\0n\0\0"));
        let Ok(Message::Relation(relation)) = decoded else {
            panic!("a relation was expected");
        };
        assert_eq!(relation.name.to_string(), "pg_catalog.t");
        assert!(relation.columns.is_empty());
    }
}
