//! Where does a sealed value belong? The bytes that its tag covers beside the value.
//!
//! The place is what the contract calls it (source table, destination table, destination column, all as declared) and
//! not what a server or Rust calls it. Under context tenancy the declared schema stands for every tenant's, and the
//! tenant is covered by itself.

use std::fmt;

use replicant_checkpoint::contract::resource::TableName;

/// One column of one declared resource.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Place(Vec<u8>);

impl Place {
    /// The destination column of this name, of a resource between these tables.
    pub fn new(source: TableName, target: TableName, column: &str) -> Self {
        let mut bytes = Vec::new();
        for name in [
            source.schema,
            source.table,
            target.schema,
            target.table,
            column,
        ] {
            put(name.as_bytes(), &mut bytes);
        }
        Self(bytes)
    }

    /// What the tag covers: envelope header, place and tenant, each with its length, so that no two contexts have the
    /// same bytes.
    pub(super) fn covered(&self, header: &[u8], tenant: Option<&[u8]>) -> Vec<u8> {
        let tenant_bytes = tenant.unwrap_or_default();
        let mut bytes = Vec::with_capacity(header.len() + self.0.len() + tenant_bytes.len() + 16);
        put(header, &mut bytes);
        bytes.extend_from_slice(&self.0);
        bytes.push(u8::from(tenant.is_some()));
        put(tenant_bytes, &mut bytes);
        bytes
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Place(..)")
    }
}

fn put(part: &[u8], into: &mut Vec<u8>) {
    // A part is a name of at most 63 bytes, a header or one value of a row, which is shorter than 2^30 bytes.
    let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
    into.extend_from_slice(&length.to_be_bytes());
    into.extend_from_slice(part);
}
