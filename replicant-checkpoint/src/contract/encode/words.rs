//! Which byte is each closed word? Bytes are forever: a new word takes a new byte, a removed one leaves a gap.

use super::{Code, DecodeError, Reader, Writer};
use crate::contract::action::ActionKind;
use crate::contract::column::{Fidelity, Protection, Storage};
use crate::contract::identity::IdentityReach;
use crate::contract::manifest::Provenance;
use crate::contract::resource::{OnSchemaChange, OnTruncate};
use crate::contract::role::Role;
use crate::contract::sink::{InitialState, SinkKind};
use crate::contract::tenancy::TenancyReach;

/// Declares the byte of each word of a closed list, both ways. A word without a byte does not compile.
macro_rules! words {
    ($($kind:ident { $($word:ident = $byte:literal),* $(,)? })*) => {$(
        impl Code for $kind {
            fn write(&self, out: &mut Writer) {
                out.byte(match self { $(Self::$word => $byte),* });
            }
            fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
                match input.byte()? {
                    $($byte => Ok(Self::$word),)*
                    _ => Err(DecodeError::UnknownWord),
                }
            }
        }
    )*};
}

words! {
    SinkKind { StateMirror = 1, AppendLog = 2 }
    InitialState { Snapshot = 1, GoForward = 2 }
    OnTruncate { Halt = 1, Mirror = 2, Close = 3, Append = 4 }
    OnSchemaChange { HaltDestructive = 1, Ignore = 2 }
    Fidelity { Lossless = 1, Lossy = 2 }
    Protection { Plain = 1, Sealed = 2 }
    TenancyReach { Scoped = 1, Global = 2 }
    IdentityReach { Tenant = 1, AllTenants = 2 }
    Provenance { Unmarked = 1, Marked = 2 }
    ActionKind { Read = 1, Create = 2, Update = 3, Destroy = 4 }
    Storage {
        Bool = 1, Int2 = 2, Int4 = 3, Int8 = 4, Float4 = 5, Float8 = 6, Text = 7, Bytes = 8, Numeric = 9,
        Uuid = 10, Date = 11, Time = 12, Timestamp = 13, TimestampTz = 14, Json = 15, Any = 16, Array = 17,
    }
    Role {
        ValidFromLsn = 1, ValidToLsn = 2, ValidFrom = 3, ValidTo = 4, Current = 5,
        SourceSystem = 6, SourceDatabase = 7, Slot = 8, CommitLsn = 9, Ordinal = 10, Operation = 11, Origin = 12,
        Attempt = 13, Unchanged = 14, CommitTimestamp = 15, Xid = 16, MessagePrefix = 17, MessageContent = 18,
        Fingerprint = 19, SeenAttempt = 20,
    }
}
