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
        b'M' => Message::Logical(Logical::read(reader.named("Message"))?),
        _ => return Err(reader.malformed("type", Problem::Unknown)),
    };
    reader.end()?;
    Ok(message)
}
