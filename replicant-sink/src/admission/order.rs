//! In which order are tables written so that parents come before their children?

use replicant_transport::ident::QualifiedName;

use super::facts::ForeignKey;

/// Indexes into `tables`, parents first, otherwise in the given order. A cycle keeps the given order: its foreign
/// keys are deferred, so only the commit looks at them.
pub(super) fn parents_first(tables: &[&QualifiedName], keys: &[ForeignKey]) -> Vec<usize> {
    let position = |name: &QualifiedName| tables.iter().position(|one| *one == name);
    let mut edges: Vec<(usize, usize)> = keys
        .iter()
        .filter_map(|key| {
            let child = position(key.from.table.as_ref()?)?;
            let parent = position(key.to.table.as_ref()?)?;
            (child != parent).then_some((child, parent))
        })
        .collect();
    let mut remaining: Vec<usize> = (0..tables.len()).collect();
    let mut ordered = Vec::with_capacity(tables.len());
    while !remaining.is_empty() {
        let ready = remaining
            .iter()
            .position(|table| !edges.iter().any(|(child, _)| child == table))
            .unwrap_or(0);
        let table = remaining.remove(ready);
        edges.retain(|(child, parent)| *child != table && *parent != table);
        ordered.push(table);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::super::facts::End;
    use super::*;

    fn name(table: &str) -> QualifiedName {
        QualifiedName::new("public", table).unwrap()
    }

    fn ordered(tables: &[&str], keys: &[(&str, &str)]) -> Vec<String> {
        let end = |table: &str| End {
            relation: name(table),
            table: Some(name(table)),
            columns: Vec::new(),
        };
        let keys: Vec<_> = keys
            .iter()
            .map(|(child, parent)| ForeignKey {
                name: name("fk"),
                from: end(child),
                to: end(parent),
                deferrable: true,
                no_action: true,
                match_full: false,
                name_is_shared: false,
            })
            .collect();
        let names: Vec<_> = tables.iter().map(|table| name(table)).collect();
        let names: Vec<_> = names.iter().collect();
        parents_first(&names, &keys)
            .into_iter()
            .map(|index| tables[index].to_owned())
            .collect()
    }

    #[test]
    fn parents_come_first_and_nothing_else_moves() {
        assert_eq!(
            ordered(
                &["lines", "orders", "notes", "customers"],
                &[("lines", "orders"), ("orders", "customers")]
            ),
            ["notes", "customers", "orders", "lines"]
        );
        assert_eq!(ordered(&["b", "a"], &[]), ["b", "a"]);
    }

    #[test]
    fn a_cycle_and_a_self_reference_keep_the_declared_order() {
        assert_eq!(
            ordered(
                &["c", "a", "b"],
                &[("a", "b"), ("b", "a"), ("c", "a"), ("a", "a")]
            ),
            ["c", "a", "b"]
        );
        assert_eq!(ordered(&["tree"], &[("tree", "tree")]), ["tree"]);
    }
}
