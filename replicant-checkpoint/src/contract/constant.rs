//! How does the compiler compare names? Iterators and traits do not exist in constants, so these loops do.

#![expect(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, where a wrong index is a compile error and iterators do not exist"
)]

/// Are two names the same?
pub(super) const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    a.len() == b.len() && begins(a, b)
}

/// Is a name in a list?
pub(super) const fn listed(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        if equal(names[at], name) {
            return true;
        }
        at += 1;
    }
    false
}

/// Can a name be made from a pattern by writing at least one character for its `{}`?
pub(super) const fn fits(pattern: &str, name: &str) -> bool {
    let name = name.as_bytes();
    match ends(pattern.as_bytes()) {
        Some((before, after)) => {
            name.len() > before.len() + after.len() && begins(name, before) && finishes(name, after)
        }
        None => false,
    }
}

/// Can one name be made from both patterns?
pub(super) const fn meet(one: &str, other: &str) -> bool {
    match (ends(one.as_bytes()), ends(other.as_bytes())) {
        (Some((before, after)), Some((other_before, other_after))) => {
            (begins(before, other_before) || begins(other_before, before))
                && (finishes(after, other_after) || finishes(other_after, after))
        }
        _ => false,
    }
}

/// What stands before and after the `{}` of a pattern.
const fn ends(pattern: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    while at + 1 < pattern.len() {
        if pattern[at] == b'{' && pattern[at + 1] == b'}' {
            let (before, rest) = pattern.split_at(at);
            return Some((before, rest.split_at(2).1));
        }
        at += 1;
    }
    None
}

/// FNV-1a over two names and a separator that no name holds.
pub(super) const fn hash(first: &str, second: &str) -> u64 {
    let start = fnv(0xcbf2_9ce4_8422_2325, first.as_bytes());
    fnv(fnv(start, &[0]), second.as_bytes())
}

const fn begins(text: &[u8], with: &[u8]) -> bool {
    if text.len() < with.len() {
        return false;
    }
    let mut at = 0;
    while at < with.len() {
        if text[at] != with[at] {
            return false;
        }
        at += 1;
    }
    true
}

const fn finishes(text: &[u8], with: &[u8]) -> bool {
    text.len() >= with.len() && begins(text.split_at(text.len() - with.len()).1, with)
}

const fn fnv(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = seed;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_reaches_what_a_tenant_could_be_called() {
        for (pattern, name, reached) in [
            ("tenant_{}", "tenant_a", true),
            ("tenant_{}", "tenant_", false),
            ("tenant_{}", "tenants", false),
            ("t_{}_x", "t_a_x", true),
            ("t_{}_x", "t_x", false),
            ("repl{}", "replicant", true),
            ("replicant", "replicant", false),
        ] {
            assert_eq!(fits(pattern, name), reached, "{pattern} {name}");
        }
    }

    #[test]
    fn patterns_meet_where_a_tenant_of_each_could_have_one_schema() {
        for (one, other, met) in [
            ("tenant_{}", "tenant_{}", true),
            ("tenant_{}", "tenant_a_{}", true),
            ("tenant_{}", "{}_shop", true),
            ("{}", "tenant_{}", true),
            ("{}_z", "{}_y_z", true),
            ("a_{}_x", "a_{}_y", false),
            ("tenant_{}", "shop_{}", false),
            ("tenant_{}", "tenant_", false),
        ] {
            assert_eq!(meet(one, other), met, "{one} {other}");
            assert_eq!(meet(other, one), met, "{other} {one}");
        }
    }

    #[test]
    fn names_are_compared_as_a_whole() {
        assert!(equal("", "") && equal("a", "a") && !equal("a", "ab") && !equal("b", "a"));
        assert!(listed(&["a", "b"], "b") && !listed(&["a"], "b") && !listed(&[], "b"));
        assert_ne!(hash("a", "bc"), hash("ab", "c"));
    }
}
