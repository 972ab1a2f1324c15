//! What are indexes and constraints called? The same whenever the declaration is the same, and never too long.

use replicant_transport::ident::{IDENT_BYTES_MAX, Ident, QualifiedName};

/// The primary key's constraint, called as the server would.
pub(super) fn primary_key(table: &QualifiedName) -> Ident {
    joined(&table.name, "pkey")
}

/// A unique index, called as the server would call that of a constraint.
pub(super) fn unique(table: &QualifiedName, what: &str) -> Ident {
    match what.strip_suffix("_key") {
        Some(_) => joined(&table.name, what),
        None => joined(&table.name, &format!("{what}_key")),
    }
}

/// `<table>_<what>`. Where that is too long for a name, both are cut and a hash of the whole tells them apart.
fn joined(table: &Ident, what: &str) -> Ident {
    let whole = format!("{}_{what}", table.as_str());
    if let Ok(name) = Ident::new(&whole) {
        return name;
    }
    // Cut, because an identity's name may hold anything a string can.
    let printable: String = whole.chars().filter(|one| !one.is_control()).collect();
    let hash = format!("_{:016x}", fnv1a(whole.as_bytes()));
    let mut end = printable.len().min(IDENT_BYTES_MAX - hash.len());
    while !printable.is_char_boundary(end) {
        end -= 1;
    }
    let (kept, _) = printable.split_at(end);
    Ident::new(&format!("{kept}{hash}")).unwrap_or_else(|_| table.clone())
}

/// FNV-1a: names need to differ, nobody forges one.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_servers_and_never_longer_than_it_takes() {
        let table = |name: &str| QualifiedName::new("public", name).expect("a name");
        assert_eq!(primary_key(&table("orders")).as_str(), "orders_pkey");
        assert_eq!(
            unique(&table("orders"), "email").as_str(),
            "orders_email_key"
        );
        assert_eq!(unique(&table("orders"), "a_key").as_str(), "orders_a_key");
        let long = table(&"é".repeat(31));
        let (one, other) = (unique(&long, "first"), unique(&long, "second"));
        assert_ne!(one, other);
        assert!(one.as_str().len() <= IDENT_BYTES_MAX);
        assert!(one.as_str().starts_with("éé"));
    }
}
