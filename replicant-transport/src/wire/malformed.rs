//! What is wrong with a message: which one, which field, and what kind of fault, never a byte of it.

use crate::error::{Error, Site};
use crate::ident::NotAnIdent;
use crate::reason::Reason;

/// A message that is not what the protocol allows.
///
/// It stays small and free of allocation until it becomes an [`Error`]. Lengths and unknown bytes are left out on
/// purpose: in a message whose framing is wrong they may be parts of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Malformed {
    pub(super) message: &'static str,
    pub(super) field: &'static str,
    /// Position of the column the field belongs to, from 1, in messages that have columns.
    pub(super) column: Option<u16>,
    pub(super) problem: Problem,
}

/// The kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    /// The field reaches beyond the end of the message.
    BeyondEnd,
    /// Bytes follow the last field.
    TrailingBytes,
    /// The message is larger than the protocol can express.
    TooLarge,
    /// The byte or flag is not one the protocol defines.
    Unknown,
    /// The number is outside its field's range.
    OutOfRange,
    /// Two columns of one table have the same name.
    Duplicate,
    /// A value that was "not sent" where the protocol always sends it.
    UnexpectedUnchanged,
    /// A name is not UTF-8.
    NotUtf8,
    /// A name is not an identifier.
    NotAnIdent(NotAnIdent),
}

impl Malformed {
    fn reason(self) -> Reason {
        match self.problem {
            Problem::NotUtf8 | Problem::NotAnIdent(_) => Reason::InvalidIdentifier,
            _ => Reason::DecodeFailed,
        }
    }
}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Self {
        let Malformed {
            message,
            field,
            column,
            problem,
        } = malformed;
        let column = column
            .map(|at| format!(" of column {at}"))
            .unwrap_or_default();
        let problem = match problem {
            Problem::BeyondEnd => "reaches beyond the end",
            Problem::TrailingBytes => "is followed by more bytes",
            Problem::TooLarge => "is too large",
            Problem::Unknown => "is not one the protocol defines",
            Problem::OutOfRange => "is out of range",
            Problem::Duplicate => "occurs twice",
            Problem::UnexpectedUnchanged => "is missing where the protocol always sends it",
            Problem::NotUtf8 => "is not UTF-8",
            Problem::NotAnIdent(NotAnIdent::Empty) => "is empty",
            Problem::NotAnIdent(NotAnIdent::TooLong) => "is longer than 63 bytes",
            Problem::NotAnIdent(_) => "holds a control character",
        };
        let fact = format!("{message} message, {field}{column} {problem}");
        Error::new(malformed.reason(), Site::none().fact(fact))
    }
}
