//! What a column's type really is: domains resolved to their base, arrays to their element.

use std::collections::HashMap;

use super::{ask, name, unexpected, while_doing};
use crate::connect::Replication;
use crate::error::Error;
use crate::ident::QualifiedName;
use crate::source::{PgType, TypeKind};

const DOING: &str = "reading types";
/// Domains over domains nest; a chain longer than this is a broken catalog, not a type.
const NESTING_MAX: usize = 64;

/// One row of `pg_type`.
#[derive(Clone, Debug)]
struct TypeRow {
    name: QualifiedName,
    kind: TypeKind,
    base: u32,
    modifier: i32,
    element: u32,
    is_array: bool,
}

/// Every type that the published tables' columns lead to.
#[derive(Debug, Default)]
pub(super) struct Types(HashMap<u32, TypeRow>);

impl Types {
    /// Reads all types reachable from the columns of the tables that `tables_sql` selects (a column `oid`).
    pub(super) async fn read(
        replication: &mut Replication,
        tables_sql: &str,
    ) -> Result<Self, Error> {
        let failed = while_doing(DOING);
        let sql = format!(
            "with recursive involved(oid) as ( \
               select a.atttypid from pg_catalog.pg_attribute a \
               where a.attrelid in ({tables_sql}) and a.attnum > 0 and not a.attisdropped \
               union \
               select v.oid from involved i join pg_catalog.pg_type t on t.oid = i.oid \
               cross join lateral (values (t.typbasetype), (t.typelem)) v(oid) where v.oid <> 0) \
             select t.oid, n.nspname, t.typname, t.typtype, t.typbasetype, t.typtypmod, t.typelem, \
               exists (select from pg_catalog.pg_type e where e.oid = t.typelem and e.typarray = t.oid) \
                 as is_array \
             from involved i join pg_catalog.pg_type t on t.oid = i.oid \
             join pg_catalog.pg_namespace n on n.oid = t.typnamespace"
        );
        let answer = ask(replication, &sql, DOING).await?;
        let mut types = HashMap::with_capacity(answer.len());
        for row in answer.rows() {
            let kind = kind(row.text("typtype").map_err(&failed)?);
            let read = TypeRow {
                name: QualifiedName {
                    schema: name(row.text("nspname").map_err(&failed)?, DOING)?,
                    name: name(row.text("typname").map_err(&failed)?, DOING)?,
                },
                kind: kind.ok_or_else(|| unexpected(DOING))?,
                base: row.required("typbasetype").map_err(&failed)?,
                modifier: row.required("typtypmod").map_err(&failed)?,
                element: row.required("typelem").map_err(&failed)?,
                is_array: row.flag("is_array").map_err(&failed)?,
            };
            types.insert(row.required("oid").map_err(&failed)?, read);
        }
        Ok(Self(types))
    }

    /// The type of a column declared with this object id and modifier.
    pub(super) fn resolve(&self, oid: u32, modifier: i32) -> Result<PgType, Error> {
        let declared = self.row(oid)?;
        let (base_oid, base, modifier) = self.base_of(oid, modifier)?;
        let element = if base.is_array { base.element } else { 0 };
        let element_kind = if element == 0 {
            None
        } else {
            Some(self.base_of(element, -1)?.1.kind)
        };
        Ok(PgType {
            oid,
            name: declared.name.clone(),
            kind: declared.kind,
            base_oid,
            base_name: base.name.clone(),
            base_kind: base.kind,
            element_oid: element,
            element_kind,
            modifier,
        })
    }

    /// Walks down the domains. The first modifier on the way holds: a domain over a domain cannot have another.
    fn base_of(&self, oid: u32, modifier: i32) -> Result<(u32, &TypeRow, i32), Error> {
        let (mut oid, mut modifier) = (oid, modifier);
        for _ in 0..NESTING_MAX {
            let row = self.row(oid)?;
            if row.kind != TypeKind::Domain {
                return Ok((oid, row, modifier));
            }
            if modifier == -1 {
                modifier = row.modifier;
            }
            oid = row.base;
        }
        Err(unexpected(DOING))
    }

    fn row(&self, oid: u32) -> Result<&TypeRow, Error> {
        self.0.get(&oid).ok_or_else(|| unexpected(DOING))
    }
}

fn kind(letter: Option<&str>) -> Option<TypeKind> {
    Some(match letter? {
        "b" => TypeKind::Base,
        "c" => TypeKind::Composite,
        "d" => TypeKind::Domain,
        "e" => TypeKind::Enum,
        "r" => TypeKind::Range,
        "m" => TypeKind::Multirange,
        "p" => TypeKind::Pseudo,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types() -> Types {
        let row = |name: &str, kind, base, modifier, element, is_array| TypeRow {
            name: QualifiedName::new("s", name).unwrap(),
            kind,
            base,
            modifier,
            element,
            is_array,
        };
        Types(HashMap::from([
            (1700, row("numeric", TypeKind::Base, 0, -1, 0, false)),
            (16_386, row("d1", TypeKind::Domain, 1700, 655_366, 0, false)),
            (16_388, row("d2", TypeKind::Domain, 16_386, -1, 0, false)),
            (16_385, row("_d1", TypeKind::Base, 0, -1, 16_386, true)),
            (600, row("point", TypeKind::Base, 0, -1, 701, false)),
            (9, row("loop", TypeKind::Domain, 9, -1, 0, false)),
        ]))
    }

    #[test]
    fn a_domain_over_a_domain_has_the_base_type_and_the_inner_modifier() {
        let ty = types().resolve(16_388, -1).unwrap();
        assert_eq!((ty.oid, ty.base_oid, ty.modifier), (16_388, 1700, 655_366));
        assert_eq!((ty.kind, ty.base_kind), (TypeKind::Domain, TypeKind::Base));
        assert!(ty.is_built_in());
    }

    #[test]
    fn only_true_arrays_have_elements() {
        let array = types().resolve(16_385, -1).unwrap();
        assert_eq!(array.element_oid, 16_386);
        assert_eq!(array.element_kind, Some(TypeKind::Base));
        let point = types().resolve(600, -1).unwrap();
        assert_eq!((point.element_oid, point.element_kind), (0, None));
    }

    #[test]
    fn a_broken_catalog_is_an_error_and_not_a_loop() {
        assert!(types().resolve(9, -1).is_err());
        assert!(types().resolve(1, -1).is_err());
    }
}
