//! Which rules exist: the closed list, each with its code, the rung of the ladder that can know it, what silences
//! it, and one sentence of help.

use std::fmt;

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

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

rules! {
    // One attribute is enough.
    /// An option is not `flag`, `name = value` or `name(...)`.
    OptionSyntax = "option_syntax", Syntax, [],
        "write options as `flag`, `name = value` or `name(a, b)`, separated by commas";
    /// An option does not exist.
    OptionUnknown = "option_unknown", Syntax, [],
        "use one of the listed options";
    /// An option belongs somewhere else.
    OptionMisplaced = "option_misplaced", Syntax, [],
        "move the option to where it belongs";
    /// An option is given twice.
    OptionRepeated = "option_repeated", Syntax, [],
        "keep one of the two";
    /// An option's value has another form or is not one of the legal words.
    OptionValue = "option_value", Syntax, [],
        "give the option a value of the shown form";
    /// A required option is absent.
    OptionMissing = "option_missing", Syntax, [],
        "add the option in the shown form";
    /// The attribute is on something else than the struct it needs.
    ItemShape = "item_shape", Syntax, [],
        "a resource is a struct with named fields; domains, checkpoints and sinks are unit structs";
    /// The struct has generic parameters.
    ItemGeneric = "item_generic", Syntax, [],
        "remove the parameters; a declaration is one concrete type";
    /// The item carries more than one declaration.
    ItemRepeated = "item_repeated", Syntax, [],
        "keep one attribute per item; a second target is a second struct";
    /// A field exists only under some configuration.
    FieldConditional = "field_conditional", Syntax, [],
        "remove the condition; a contract must not change with a feature flag";
    /// A field is made by the destination and read from the source.
    GeneratedSource = "generated_source", Syntax, [],
        "remove `generated`, or the option about the source's value";

    // The whole declaration.
    /// A name is not a PostgreSQL identifier.
    IdentifierInvalid = "identifier_invalid", Rules, [],
        "use 1 to 63 bytes without control characters";
    /// A schema belongs to PostgreSQL itself.
    SchemaReserved = "schema_reserved", Rules, [],
        "choose another schema; `pg_` and information_schema belong to the server";
    /// A resource maps nothing.
    ColumnsEmpty = "columns_empty", Rules, [],
        "declare a field for each source column to mirror";
    /// Two fields read one source column.
    SourceColumnRepeated = "source_column_repeated", Rules, [],
        "name another column with `source = \"...\"`, or remove one of the fields";
    /// Two fields write one destination column.
    TargetColumnRepeated = "target_column_repeated", Rules, [],
        "name another column with `column = \"...\"`, or remove one of the fields";
    /// A destination type is empty.
    SqlTypeInvalid = "sql_type_invalid", Rules, [],
        "write the destination type, for instance `sql_type = \"numeric(12,2)\"`";
    /// A source column is skipped twice.
    SkipRepeated = "skip_repeated", Rules, [],
        "remove the second entry";
    /// A skipped source column is mapped.
    SkipMapped = "skip_mapped", Rules, [SkipRepeated],
        "remove the entry, or remove the field";
    /// Two identities have one name.
    IdentityRepeated = "identity_repeated", Rules, [],
        "rename one of the two";
    /// An identity has no fields.
    IdentityEmpty = "identity_empty", Rules, [],
        "name the fields of the unique key: `keys(a, b)`";
    /// An identity names a field twice.
    IdentityKeyRepeated = "identity_key_repeated", Rules, [],
        "remove the second entry";
    /// An identity names something that is no field.
    IdentityKeyUnknown = "identity_key_unknown", Rules, [IdentityKeyRepeated],
        "name a field of the struct, not a column";
    /// Rows would be found by an identity that does not exist.
    UpsertIdentityUnknown = "upsert_identity_unknown", Rules, [],
        "name a declared identity, or remove the option to use the primary key";
    /// Rows would be found by a value that the source does not have.
    KeyGenerated = "key_generated", Rules, [],
        "find rows by mapped columns: declare an identity over them and name it in `upsert_identity`";
    /// Two actions of a kind have no name.
    PrimaryActionRepeated = "primary_action_repeated", Rules, [],
        "name all but one: `create(record, accept(...))`; the unnamed one is the primary";
    /// Two actions have one name.
    ActionNameRepeated = "action_name_repeated", Rules, [],
        "rename one of the two";
    /// A mirror lacks an action.
    ActionMissing = "action_missing", Rules, [],
        "a mirror needs an unnamed read, create and destroy: `actions(read, destroy, create(accept = all))`";
    /// An action that writes nothing accepts fields.
    AcceptWithoutWrite = "accept_without_write", Rules, [],
        "remove `accept`; only create and update set fields";
    /// An accept list names a field twice.
    AcceptRepeated = "accept_repeated", Rules, [],
        "remove the second entry";
    /// An accept list names something that is no field.
    AcceptUnknown = "accept_unknown", Rules, [AcceptRepeated],
        "name a field of the struct, not a column";
    /// An accept list names a generated field.
    AcceptGenerated = "accept_generated", Rules, [AcceptRepeated],
        "remove the entry; the destination makes the value";
    /// An accept list names a private field.
    AcceptPrivate = "accept_private", Rules, [AcceptRepeated],
        "remove the entry, or remove `private` from the field";
    /// A mapped field is private.
    PrivateMapped = "private_mapped", Rules, [AcceptPrivate],
        "remove `private`, or list the source column in `skip(...)` instead of mapping it";
    /// The primary create would drop a mapped column.
    ColumnNotAccepted = "column_not_accepted", Rules, [AcceptUnknown, PrimaryActionRepeated],
        "write `create(accept = all)`, add the fields, or list their columns in `skip(...)` instead of mapping them";
    /// A domain lists a resource twice.
    ResourceRepeated = "resource_repeated", Rules, [],
        "remove the second entry";
    /// A sink lists a domain twice.
    DomainRepeated = "domain_repeated", Rules, [],
        "remove the second entry";
    /// A slot name is not legal.
    SlotNameInvalid = "slot_name_invalid", Rules, [],
        "use 1 to 63 of a-z, 0-9 and _";
    /// An ignored source is not `schema.table`.
    IgnoredSourceInvalid = "ignored_source_invalid", Rules, [],
        "write \"schema.table\" with exactly one dot";
    /// A table is ignored twice.
    IgnoredSourceRepeated = "ignored_source_repeated", Rules, [IgnoredSourceInvalid],
        "remove the second entry";

    // The Rust types.
    /// A field's type cannot be a column.
    ColumnType = "column_type", Types, [],
        "use a type of the list, enable the feature of its crate, or `PgText` for any PostgreSQL type";
    /// A key may be NULL.
    KeyNullable = "key_nullable", Types, [ColumnType],
        "use `T` instead of `Option<T>`; rows with NULL in a key cannot be found again";

    // Other declarations.
    /// A sink holds a resource twice.
    DuplicateResource = "duplicate_resource", Relations, [],
        "a resource belongs to one domain of a sink; remove it from the other";
    /// Two resources of a sink read one source table.
    DuplicateSource = "duplicate_source", Relations, [DuplicateResource],
        "one sink maps a source table once; declare a second sink with its own slot";
    /// Two resources of a sink write one destination table.
    DuplicateTarget = "duplicate_target", Relations, [DuplicateResource],
        "give one of them another `table` or `schema`";
    /// An ignored table is mapped.
    IgnoredSourceMapped = "ignored_source_mapped", Relations, [],
        "Remove the entry, or remove the resource from the sink's domains.";
    /// A resource writes into the checkpoint's schema.
    TargetInCheckpointSchema = "target_in_checkpoint_schema", Relations, [],
        "give the resource another `schema`; the checkpoint's is denied to everyone else";
}
