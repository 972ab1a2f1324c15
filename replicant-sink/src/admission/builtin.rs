//! Which built-in types do we know by number, how do they travel in binary, and what may a field promise of them?
//!
//! Object ids below 10000 are assigned by hand in PostgreSQL's catalog sources and never change.

use replicant_checkpoint::contract::resource::Storage;
use replicant_transport::ident::QualifiedName;
use replicant_transport::pg_type::{Inside, PgType, TypeKind};

/// Object ids of the types this crate distinguishes.
pub(crate) mod oid {
    pub(crate) const BOOL: u32 = 16;
    pub(crate) const BYTEA: u32 = 17;
    pub(crate) const CHAR: u32 = 18;
    pub(crate) const NAME: u32 = 19;
    pub(crate) const INT8: u32 = 20;
    pub(crate) const INT2: u32 = 21;
    pub(crate) const INT4: u32 = 23;
    pub(crate) const TEXT: u32 = 25;
    pub(crate) const JSON: u32 = 114;
    pub(crate) const BOX: u32 = 603;
    pub(crate) const FLOAT4: u32 = 700;
    pub(crate) const FLOAT8: u32 = 701;
    pub(crate) const MONEY: u32 = 790;
    pub(crate) const TEXT_ARRAY: u32 = 1009;
    pub(crate) const BPCHAR: u32 = 1042;
    pub(crate) const VARCHAR: u32 = 1043;
    pub(crate) const DATE: u32 = 1082;
    pub(crate) const TIME: u32 = 1083;
    pub(crate) const TIMESTAMP: u32 = 1114;
    pub(crate) const TIMESTAMPTZ: u32 = 1184;
    pub(crate) const INTERVAL: u32 = 1186;
    pub(crate) const TIMETZ: u32 = 1266;
    pub(crate) const BIT: u32 = 1560;
    pub(crate) const VARBIT: u32 = 1562;
    pub(crate) const NUMERIC: u32 = 1700;
    pub(crate) const UUID: u32 = 2950;
    pub(crate) const JSONB: u32 = 3802;
}

/// Built-in base types whose binary form the server sends and takes back unchanged on every version, with the type
/// of an array of them. `xml` (its binary form carries an encoding declaration) and `money` (its scale follows
/// `lc_monetary`) are left out on purpose.
const BINARY: &[(u32, u32)] = &[
    (oid::BOOL, 1000),
    (oid::BYTEA, 1001),
    (oid::CHAR, 1002),
    (oid::NAME, 1003),
    (oid::INT8, 1016),
    (oid::INT2, 1005),
    (oid::INT4, 1007),
    (oid::TEXT, oid::TEXT_ARRAY),
    (26, 1028), // oid
    (oid::JSON, 199),
    (600, 1017), // point
    (601, 1018), // lseg
    (602, 1019), // path
    (oid::BOX, 1020),
    (604, 1027), // polygon
    (628, 629),  // line
    (650, 651),  // cidr
    (oid::FLOAT4, 1021),
    (oid::FLOAT8, 1022),
    (718, 719),  // circle
    (774, 775),  // macaddr8
    (829, 1040), // macaddr
    (869, 1041), // inet
    (oid::BPCHAR, 1014),
    (oid::VARCHAR, 1015),
    (oid::DATE, 1182),
    (oid::TIME, 1183),
    (oid::TIMESTAMP, 1115),
    (oid::TIMESTAMPTZ, 1185),
    (oid::INTERVAL, 1187),
    (oid::TIMETZ, 1270),
    (oid::BIT, 1561),
    (oid::VARBIT, 1563),
    (oid::NUMERIC, 1231),
    (oid::UUID, 2951),
    (3220, 3221), // pg_lsn
    (oid::JSONB, 3807),
];

/// A type under which binary cells are bound as elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BinaryForm {
    /// The element's object id.
    pub(crate) element: u32,
    /// The array's object id.
    pub(crate) array: u32,
}

/// How binary cells of a source column are bound, if they may be. An enum's binary form is its label, so it is
/// bound as text: its own object id means nothing in the destination.
pub(crate) fn binary_form(source: &PgType) -> Option<BinaryForm> {
    if source.base_kind == TypeKind::Enum {
        return Some(BinaryForm {
            element: oid::TEXT,
            array: oid::TEXT_ARRAY,
        });
    }
    BINARY
        .iter()
        .find(|(element, _)| *element == source.base_oid)
        .map(|&(element, array)| BinaryForm { element, array })
}

/// A type that the list knows, or an array of one, by its number alone.
pub(crate) fn of_number(type_oid: u32, modifier: i32) -> Option<PgType> {
    let (element, array) = *BINARY
        .iter()
        .find(|(element, array)| *element == type_oid || *array == type_oid)?;
    let plain = |oid: u32, inside: Inside| {
        let name = QualifiedName::new("pg_catalog", "?").ok()?;
        Some(PgType {
            oid,
            name: name.clone(),
            kind: TypeKind::Base,
            base_oid: oid,
            base_name: name,
            base_kind: TypeKind::Base,
            inside,
            modifier,
        })
    };
    let element = plain(element, Inside::Nothing)?;
    if type_oid == array {
        return plain(array, Inside::Elements(Box::new(element)));
    }
    Some(element)
}

/// Is this the case-insensitive text of the extension of that name?
pub(crate) fn is_citext(ty: &PgType) -> bool {
    ty.base_kind == TypeKind::Base && !ty.is_built_in() && ty.base_name.name.as_str() == "citext"
}

/// Can every value of the source type be read as what the field's Rust type promises?
pub(crate) fn promise_holds(storage: Storage, source: &PgType) -> bool {
    let among = |oids: &[u32]| oids.contains(&source.base_oid);
    match storage {
        Storage::Any => true,
        Storage::Array => source.element().is_some(),
        Storage::Bool => among(&[oid::BOOL]),
        Storage::Int2 => among(&[oid::INT2]),
        Storage::Int4 => among(&[oid::INT2, oid::INT4]),
        Storage::Int8 => among(&[oid::INT2, oid::INT4, oid::INT8]),
        Storage::Float4 => among(&[oid::FLOAT4]),
        Storage::Float8 => among(&[oid::FLOAT4, oid::FLOAT8]),
        Storage::Text => {
            source.base_kind == TypeKind::Enum
                || is_citext(source)
                || among(&[oid::TEXT, oid::VARCHAR, oid::BPCHAR, oid::NAME, oid::CHAR])
        }
        Storage::Bytes => among(&[oid::BYTEA]),
        Storage::Numeric => among(&[oid::NUMERIC, oid::INT2, oid::INT4, oid::INT8]),
        Storage::Uuid => among(&[oid::UUID]),
        Storage::Date => among(&[oid::DATE]),
        Storage::Time => among(&[oid::TIME]),
        Storage::Timestamp => among(&[oid::TIMESTAMP]),
        Storage::TimestampTz => among(&[oid::TIMESTAMPTZ]),
        Storage::Json => among(&[oid::JSON, oid::JSONB]),
    }
}

/// The words for a promise in a message.
pub(crate) const fn promise_name(storage: Storage) -> &'static str {
    match storage {
        Storage::Any => "any type",
        Storage::Array => "an array",
        Storage::Bool => "boolean",
        Storage::Int2 => "smallint",
        Storage::Int4 => "up to integer",
        Storage::Int8 => "up to bigint",
        Storage::Float4 => "real",
        Storage::Float8 => "up to double precision",
        Storage::Text => "text or an enum",
        Storage::Bytes => "bytea",
        Storage::Numeric => "numeric",
        Storage::Uuid => "uuid",
        Storage::Date => "date",
        Storage::Time => "time",
        Storage::Timestamp => "timestamp",
        Storage::TimestampTz => "timestamp with time zone",
        Storage::Json => "json or jsonb",
    }
}
