//! Names, columns, keys and secrets.

use super::{Case, at, case, column, drop_column, identity, mapped, text, texts};
use crate::contract::column::Protection;
use crate::contract::declared::DeclaredOrigin;
use crate::contract::role::Role;
use crate::contract::rules::{Part, Rule};
use crate::contract::tests::ORDERS;
use crate::contract::tests::declarations::{LINE_VERSION, ORDER, PAYMENT_EVENT};

pub(super) const CASES: &[Case] = &[
    case(
        Rule::IdentifierInvalid,
        &ORDERS,
        Part::TargetTable,
        |it| it.table = text("a\nb"),
        |it| it.table = text("a b"),
    ),
    case(
        Rule::IdentifierInvalid,
        &PAYMENT_EVENT,
        Part::ColumnBefore(12),
        |it| at(it, "amount_before").origin = DeclaredOrigin::Before(String::new()),
        |it| at(it, "amount_before").origin = DeclaredOrigin::Before("other".into()),
    ),
    case(
        Rule::SchemaReserved,
        &ORDERS,
        Part::TargetSchema,
        |it| it.schema = text("pg_orders"),
        |it| it.schema = text("orders_pg_"),
    ),
    case(
        Rule::ColumnsEmpty,
        &ORDERS,
        Part::Item,
        |it| {
            it.columns = vec![column("id", DeclaredOrigin::Destination)];
            it.primary_key.clear();
            it.identities.clear();
        },
        |it| {
            it.columns = vec![mapped("id")];
            it.identities.clear();
        },
    ),
    case(
        Rule::SourceColumnRepeated,
        &ORDERS,
        Part::ColumnSource(3),
        |it| {
            it.columns
                .push(column("copy", DeclaredOrigin::Source("id".into())))
        },
        |it| it.columns.push(mapped("copy")),
    ),
    case(
        Rule::TargetColumnRepeated,
        &ORDERS,
        Part::ColumnTarget(1),
        |it| at(it, "note").target = "id".into(),
        |it| at(it, "note").target = "remark".into(),
    ),
    case(
        Rule::SqlTypeInvalid,
        &ORDERS,
        Part::ColumnSqlType(2),
        |it| at(it, "amount").sql_type = text(" "),
        |it| at(it, "amount").sql_type = text("numeric(12,2)"),
    ),
    case(
        Rule::SkipRepeated,
        &ORDERS,
        Part::Skip(1),
        |it| it.skips.push("legacy_blob".into()),
        |it| it.skips.push("other".into()),
    ),
    case(
        Rule::SkipMapped,
        &ORDERS,
        Part::Skip(1),
        |it| it.skips.push("note".into()),
        |it| it.skips.push("notes".into()),
    ),
    case(
        Rule::IdentityRepeated,
        &ORDERS,
        Part::IdentityName(1),
        |it| it.identities.push(identity("by_note", &["amount"])),
        |it| it.identities.push(identity("by_amount", &["amount"])),
    ),
    case(
        Rule::IdentityEmpty,
        &ORDERS,
        Part::IdentityKeys(0),
        |it| it.identities = vec![identity("by_note", &[])],
        |_| {},
    ),
    case(
        Rule::IdentityKeyRepeated,
        &ORDERS,
        Part::IdentityKey(0, 1),
        |it| it.identities = vec![identity("by_note", &["note", "note"])],
        |it| it.identities = vec![identity("by_note", &["note", "id"])],
    ),
    case(
        Rule::IdentityKeyUnknown,
        &ORDERS,
        Part::IdentityKey(0, 0),
        |it| it.identities = vec![identity("by_note", &["noet"])],
        |_| {},
    ),
    case(
        Rule::IdentityKeyUnknown,
        &ORDERS,
        Part::PrimaryKey(0),
        |it| it.primary_key = texts(&["ix"]),
        |_| {},
    ),
    case(
        Rule::IdentityPartial,
        &ORDER,
        Part::IdentityPredicate(0),
        |it| it.identities[0].predicate = text("amount > 0"),
        |it| {
            it.identities.push(identity("paid", &["amount"]));
            it.identities[1].predicate = text("amount > 0");
        },
    ),
    case(
        Rule::IdentityPartial,
        &PAYMENT_EVENT,
        Part::IdentityPredicate(0),
        |it| it.identities[0].predicate = text("ordinal > 0"),
        |_| {},
    ),
    case(
        Rule::IdentityPredicateInvalid,
        &ORDERS,
        Part::IdentityPredicate(0),
        |it| it.identities[0].predicate = text(" "),
        |it| it.identities[0].predicate = text("true"),
    ),
    case(
        Rule::UpsertIdentityUnknown,
        &ORDERS,
        Part::UpsertIdentity,
        |it| it.upsert_identity = text("by_noet"),
        |it| it.upsert_identity = text("by_note"),
    ),
    case(
        Rule::KeyGenerated,
        &ORDERS,
        Part::PrimaryKey(0),
        |it| at(it, "id").origin = DeclaredOrigin::Destination,
        |it| {
            at(it, "id").origin = DeclaredOrigin::Destination;
            it.upsert_identity = text("by_note");
        },
    ),
    case(
        Rule::KeyGenerated,
        &ORDER,
        Part::IdentityKey(0, 0),
        |it| it.identities = vec![identity("unique_pk", &["replica_fingerprint"])],
        |_| {},
    ),
    case(
        Rule::SensitiveRepeated,
        &ORDER,
        Part::Sensitive(3),
        |it| it.sensitive.push("pan".into()),
        |it| it.sensitive.push("amount".into()),
    ),
    case(
        Rule::SensitiveUnmapped,
        &ORDER,
        Part::Sensitive(0),
        |it| it.sensitive = texts(&["pann"]),
        |it| it.sensitive = texts(&["legacy_blob"]),
    ),
    // The nearest neighbour of a hand-made `encrypted_x` column: what it names is the source column.
    case(
        Rule::SensitiveUnmapped,
        &ORDER,
        Part::Sensitive(0),
        |it| it.sensitive = texts(&["encrypted_pan"]),
        |it| it.sensitive = texts(&["pan"]),
    ),
    case(
        Rule::SealedSqlType,
        &ORDERS,
        Part::ColumnSqlType(2),
        |it| {
            at(it, "amount").protection = Protection::Sealed;
            at(it, "amount").sql_type = text("text");
        },
        |it| at(it, "amount").sql_type = text("text"),
    ),
    case(
        Rule::SealedKey,
        &ORDER,
        Part::IdentityKey(1, 0),
        |it| it.identities.push(identity("by_pan", &["pan", "amount"])),
        |it| it.identities.push(identity("by_amount", &["amount"])),
    ),
    case(
        Rule::SealedKey,
        &ORDERS,
        Part::PrimaryKey(0),
        |it| at(it, "id").protection = Protection::Sealed,
        |it| at(it, "amount").protection = Protection::Sealed,
    ),
    case(
        Rule::SealedKey,
        &LINE_VERSION,
        Part::IdentityKey(0, 0),
        |it| at(it, "line_id").protection = Protection::Sealed,
        |it| at(it, "amount").protection = Protection::Sealed,
    ),
    case(
        Rule::EncryptedWithoutValue,
        &LINE_VERSION,
        Part::ColumnEncrypted(0),
        |it| at(it, "version_id").protection = Protection::Sealed,
        |_| {},
    ),
    case(
        Rule::EncryptedWithoutValue,
        &PAYMENT_EVENT,
        Part::ColumnEncrypted(4),
        |it| at(it, "ordinal").protection = Protection::Sealed,
        |it| at(it, "amount_before").protection = Protection::Sealed,
    ),
    case(
        Rule::RoleFieldUnknown,
        &LINE_VERSION,
        Part::Role(Role::ValidTo),
        |it| it.roles[3].1 = "valid_too".into(),
        |_| {},
    ),
    // One missing field is one mistake, however many options name it.
    case(
        Rule::RoleFieldUnknown,
        &LINE_VERSION,
        Part::Shape(0),
        |it| {
            it.roles.clear();
            drop_column(it, "valid_from_lsn");
            for field in ["valid_from", "valid_to", "current"] {
                drop_column(it, field);
            }
            let actions = it.actions.as_mut().unwrap();
            actions[3].accept = super::accept(&["valid_to_lsn"]);
        },
        |it| it.roles.retain(|(role, _)| *role != Role::ValidFromLsn),
    ),
    case(
        Rule::RoleFieldShared,
        &LINE_VERSION,
        Part::Role(Role::ValidTo),
        |it| {
            it.roles[2].1 = "valid_to".into();
            at(it, "valid_from").origin = DeclaredOrigin::Source("valid_from".into());
        },
        |_| {},
    ),
    case(
        Rule::RoleFieldMapped,
        &PAYMENT_EVENT,
        Part::ColumnSource(2),
        |it| at(it, "slot_name").origin = DeclaredOrigin::Source("slot".into()),
        |it| {
            it.columns
                .push(column("slot", DeclaredOrigin::Source("slot".into())))
        },
    ),
    case(
        Rule::RoleFieldMapped,
        &LINE_VERSION,
        Part::ColumnGenerated(4),
        |it| at(it, "valid_from_lsn").origin = DeclaredOrigin::Destination,
        |_| {},
    ),
];
