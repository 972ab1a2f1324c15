//! What is a rule: a code, the rung of the ladder that can know it, what silences it, and one sentence of help.

/// The lowest stage that can know a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Rung {
    /// One attribute is enough.
    Syntax,
    /// The whole declaration is needed, but no type.
    Rules,
    /// The Rust types are needed.
    Types,
    /// Other declarations are needed.
    Relations,
}

impl Rung {
    /// Stable name, as printed in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Rules => "rules",
            Self::Types => "types",
            Self::Relations => "relations",
        }
    }
}

macro_rules! rules {
    ($( $(#[$doc:meta])* $variant:ident = $code:literal, $rung:ident, [$($silencer:ident),*], $help:literal; )*) => {
        /// What a declaration must not do.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Rule {
            $( $(#[$doc])* $variant, )*
        }

        impl Rule {
            /// Every rule, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Stable machine-readable code.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),* }
            }

            /// The lowest stage that can know it.
            pub const fn rung(self) -> Rung {
                match self { $(Self::$variant => Rung::$rung),* }
            }

            /// Rules whose violation at the same part makes this one a consequence, not a second mistake.
            pub const fn silenced_by(self) -> &'static [Self] {
                match self { $(Self::$variant => &[$(Self::$silencer),*]),* }
            }

            /// One sentence on what to do.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help),* }
            }
        }
    };
}
