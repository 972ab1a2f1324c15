//! Why we stopped: the closed list of this crate's reasons, each with a class and a sentence of help.
//!
//! [`closed_reasons!`](crate::closed_reasons) declares such a list; every crate of the workspace that can stop has one.

/// What a reason means for whoever drives the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Class {
    /// The world is at fault for a moment: try again with a delay.
    Transient,
    /// The declaration, the data or the setup is at fault: stop until someone changed it.
    Terminal,
    /// Continuing would be a guess: a person has to decide and say so with a command.
    OperatorDecision,
}

impl Class {
    /// Stable name, as printed in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Terminal => "terminal",
            Self::OperatorDecision => "operator decision",
        }
    }
}

/// Declares a closed `Reason` enum: `ALL`, `code()`, `class()`, `help()` and `Display` (the code).
#[macro_export]
macro_rules! closed_reasons {
    (
        $(#[$enum_doc:meta])*
        pub enum $name:ident {
            $( $(#[$doc:meta])* $variant:ident = $code:literal, $class:ident, $help:literal; )*
        }
    ) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum $name {
            $( $(#[$doc])* $variant, )*
        }

        impl $name {
            /// Every reason, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Stable machine-readable code.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),* }
            }

            /// Whether to retry, stop, or ask a person.
            pub const fn class(self) -> $crate::reason::Class {
                match self { $(Self::$variant => $crate::reason::Class::$class),* }
            }

            /// One sentence on what to do.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help),* }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.code())
            }
        }
    };
}

closed_reasons! {
    /// Why the transport stopped or reconnects.
    pub enum Reason {
        /// The connection string, an environment variable or an option is not usable.
        ConfigInvalid = "config_invalid", Terminal,
            "Correct the named option; run `replicant explain config_invalid` for the accepted forms.";
        /// The server could not be reached, or the connection broke.
        SourceUnreachable = "source_unreachable", Transient,
            "Check host, port and network; the pipeline keeps trying with a growing delay.";

        // Decoding.

        /// A frame or message is not what the replication protocol allows.
        DecodeFailed = "decode_failed", Terminal,
            "The server sent something this version does not know; nothing was skipped. Report the named message and field.";
        /// A published table or column has a name that cannot be carried.
        InvalidIdentifier = "invalid_identifier", Terminal,
            "Rename the table or column on the source, or take it out of the publication: names are UTF-8, 1 to 63 bytes, without control characters.";
        /// A row or truncate refers to a table the server never described in this session.
        RelationUnknown = "relation_unknown", Terminal,
            "The stream contradicts itself; restart the pipeline and report it if it comes again.";
        /// A row has another number of columns than its table's description.
        RowShapeMismatch = "row_shape_mismatch", Terminal,
            "The stream contradicts itself; restart the pipeline and report it if it comes again.";
        /// Messages came in an order that the replication protocol rules out.
        StreamOutOfOrder = "stream_out_of_order", Terminal,
            "The stream contradicts itself; restart the pipeline and report it if it comes again.";
    }
}
