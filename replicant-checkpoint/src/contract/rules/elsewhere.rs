//! What does no rule here judge, although a declaration can be wrong in it? Each with the reason, and who judges it
//! instead.

/// Who judges what a declaration cannot show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judge {
    /// There is nothing to judge: the language has no words for it.
    Language,
    /// The compiler, by the signature or bound of a trait.
    Compiler,
    /// Admission, before the first row, with these reasons.
    Admission(&'static [&'static str]),
    /// Delivery, at the row or message, with these reasons.
    Delivery(&'static [&'static str]),
    /// Binding the checkpoint, with these reasons.
    Binding(&'static [&'static str]),
}

/// One thing that is not judged by a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Elsewhere {
    /// What could be wrong.
    pub what: &'static str,
    /// Why no declaration shows it.
    pub why: &'static str,
    /// Who judges it.
    pub judge: Judge,
}

const fn entry(what: &'static str, why: &'static str, judge: Judge) -> Elsewhere {
    Elsewhere { what, why, judge }
}

/// Everything that is judged elsewhere.
pub const ELSEWHERE: &[Elsewhere] = &[
    entry(
        "A mapped column does not exist, or a delivered one is neither mapped nor skipped",
        "Only the source knows its columns.",
        Judge::Admission(&["source_column_missing", "source_column_unmapped"]),
    ),
    entry(
        "A published table is neither mapped nor ignored",
        "Only the source knows what it publishes.",
        Judge::Admission(&["source_table_unmapped"]),
    ),
    entry(
        "A value does not fit its destination column exactly",
        "A Rust type promises a family; the two catalogs know the types.",
        Judge::Admission(&["type_pair_lossy"]),
    ),
    entry(
        "A sensitive field that is not sealed reads a column that is not bytea",
        "`Vec<u8>` promises bytes; that the source encrypted them before, only its catalog can suggest.",
        Judge::Admission(&["type_pair_lossy"]),
    ),
    entry(
        "A sealed field is written to a column that is not bytea",
        "Only the destination knows the type of its column.",
        Judge::Admission(&["type_pair_lossy"]),
    ),
    entry(
        "The destination has no unique index for the identity rows are found by",
        "An index belongs to the destination's catalog.",
        Judge::Admission(&["destination_unique_missing"]),
    ),
    entry(
        "A table without a key, or a log, is published without the whole old row",
        "REPLICA IDENTITY belongs to the source's catalog.",
        Judge::Admission(&["source_replica_identity"]),
    ),
    entry(
        "Destination triggers, rules, policies or foreign keys change what is written",
        "They belong to the destination's catalog.",
        Judge::Admission(&[
            "destination_trigger",
            "destination_rule",
            "destination_row_security",
            "destination_foreign_key",
        ]),
    ),
    entry(
        "Two sinks write one destination table",
        "A constant sees one sink; the checkpoint sees all.",
        Judge::Binding(&["destination_target_claimed"]),
    ),
    entry(
        "The declaration changed in a way that stored rows do not survive",
        "Only the checkpoint knows the declaration it was reached under.",
        Judge::Binding(&["publication_contract_incompatible"]),
    ),
    entry(
        "A field is filled by nobody",
        "The macros give every field a source column, a role or an action; only a specification written by hand can leave it out.",
        Judge::Admission(&["declaration_invalid"]),
    ),
    entry(
        "A row has no tenant",
        "The tenant is a value, and values are not declared.",
        Judge::Delivery(&[]),
    ),
    entry(
        "The part of the table in an identity's `where` is not legal SQL",
        "The server parses SQL; the rules refuse only what cannot be a condition.",
        Judge::Admission(&["destination_unique_missing"]),
    ),
    entry(
        "A type cannot be a column, or `Sealed<Option<T>>` is written",
        "Types are judged by bounds, so that an alias is what it stands for.",
        Judge::Compiler,
    ),
    entry(
        "A tenant function, a hook, a validation or an effect has another signature",
        "The compiler knows signatures; a specification holds names.",
        Judge::Compiler,
    ),
    entry(
        "A hook sets a key, a tenant, a window, a structural or a provenance column",
        "Such columns have no setter.",
        Judge::Compiler,
    ),
    entry(
        "A hook runs an action that it does not declare",
        "The handle a hook gets runs the declared actions and no other.",
        Judge::Compiler,
    ),
    entry(
        "A hook reaches a database by another way than its handle",
        "A pool in a static is beyond any declaration; it is unsupported.",
        Judge::Language,
    ),
    entry(
        "An action redirects to another repository, is manual or generic, or takes arguments",
        "An action is a description from which the sink derives SQL.",
        Judge::Language,
    ),
    entry(
        "The checkpoint, a resource or an auxiliary table is in another store than the sink",
        "A sink has one destination, and no option names a store.",
        Judge::Language,
    ),
    entry(
        "A generated callback is written by hand as well",
        "A declaration is data; nothing that it generates can be overridden.",
        Judge::Language,
    ),
    entry(
        "The code that an action runs is another one than was admitted",
        "Hooks are types that are linked into the program; they do not change while it runs.",
        Judge::Language,
    ),
    entry(
        "A change runs for every action of a resource",
        "Hooks are listed by each action; there is no block for all.",
        Judge::Language,
    ),
    entry(
        "A participant list is empty",
        "An empty list says that a hook touches no database; there is no third thing to say.",
        Judge::Language,
    ),
    entry(
        "A schema per tenant has no list of tenants, because it has no `snapshot_provenance`",
        "Nothing is wrong: each row tells its tenant, and a truncate means every schema of the pattern that holds the table, \
         listed or not. Only retiring what a snapshot no longer saw has to ask the host whose rows it may touch.",
        Judge::Language,
    ),
    entry(
        "A claim is protected by a nonce, kept without a digest, or answered from a cache",
        "The profile of a message is the library's, not the declaration's; only its retention and effect are declared.",
        Judge::Language,
    ),
    entry(
        "Notifications of a mirrored change load rows before they are sent",
        "Mirrored changes are not announced to anybody.",
        Judge::Language,
    ),
];
