//! How types are read from a catalog: one query for both ends, and its rows put together.

use std::collections::HashMap;

use super::{Bounds, Inside, PgType, TypeKind};
use crate::error::{Error, Site};
use crate::ident::{Ident, QualifiedName};
use crate::reason::Reason;

/// Types nest; a chain longer than this is a broken catalog, not a type.
const NESTING_MAX: usize = 64;
/// The first release with multiranges.
const MULTIRANGE_RELEASE: u32 = 140_000;

/// The query that describes every type reachable from those that `of` selects (a column `oid`): one row for each part
/// of each type, a type without parts once, the parts of a type in order.
pub fn types_sql(version_num: u32, of: &str) -> String {
    let multiranges = if version_num >= MULTIRANGE_RELEASE {
        "union all select r.rngtypid from pg_catalog.pg_range r where r.rngmultitypid = t.oid"
    } else {
        ""
    };
    let multirange_of = if version_num >= MULTIRANGE_RELEASE {
        "(select m.rngtypid from pg_catalog.pg_range m where m.rngmultitypid = t.oid)"
    } else {
        "null::pg_catalog.oid"
    };
    // The types are looked up through an array: how many rows a recursive query has is estimated so far off that the
    // server would compile the rest, which takes seconds.
    format!(
        "with recursive involved(oid) as ( \
           {of} \
           union \
           select v.oid from involved i join pg_catalog.pg_type t on t.oid = i.oid \
           cross join lateral ( \
             select t.typbasetype union all select t.typelem \
             union all select a.atttypid from pg_catalog.pg_attribute a \
               where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 \
               and not a.attisdropped \
             union all select r.rngsubtype from pg_catalog.pg_range r where r.rngtypid = t.oid \
             {multiranges}) v(oid) where v.oid <> 0) \
         select t.oid, n.nspname::pg_catalog.text as nspname, t.typname::pg_catalog.text as typname, \
           t.typtype::pg_catalog.text as typtype, t.typbasetype, t.typtypmod, t.typelem, \
           exists (select from pg_catalog.pg_type e where e.oid = t.typelem and e.typarray = t.oid) \
             as is_array, \
           t.typtype = 'd' and t.typnotnull as not_null, \
           t.typtype = 'd' and t.typdefault is not null as has_default, \
           coalesce(r.rngsubtype, {multirange_of}) as bounds, \
           (select cn.nspname || '.' || c.collname from pg_catalog.pg_collation c \
             join pg_catalog.pg_namespace cn on cn.oid = c.collnamespace \
             where c.oid = r.rngcollation) as range_collation, \
           (select kn.nspname || '.' || k.opcname from pg_catalog.pg_opclass k \
             join pg_catalog.pg_namespace kn on kn.oid = k.opcnamespace \
             where k.oid = r.rngsubopc) as range_class, \
           (select pn.nspname || '.' || p.proname from pg_catalog.pg_proc p \
             join pg_catalog.pg_namespace pn on pn.oid = p.pronamespace \
             where p.oid = r.rngcanonical) as range_canonical, \
           part.name as part, part.type as part_type, part.modifier as part_modifier \
         from pg_catalog.pg_type t \
         join pg_catalog.pg_namespace n on n.oid = t.typnamespace \
         left join pg_catalog.pg_range r on r.rngtypid = t.oid \
         left join lateral ( \
           select a.attnum::pg_catalog.float8 as place, a.attname::pg_catalog.text as name, \
             a.atttypid as type, a.atttypmod as modifier from pg_catalog.pg_attribute a \
             where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped \
           union all \
           select e.enumsortorder, e.enumlabel::pg_catalog.text, 0, -1 \
             from pg_catalog.pg_enum e where e.enumtypid = t.oid) part on true \
         where t.oid = any (array(select i.oid from involved i)) \
         order by t.oid, part.place"
    )
}

/// One row of [`types_sql`], in its columns' order.
#[derive(Clone, Debug)]
pub struct TypeLine<'a> {
    /// `oid`.
    pub oid: u32,
    /// `nspname` and `typname`.
    pub name: QualifiedName,
    /// `typtype`.
    pub kind: &'a str,
    /// `typbasetype`.
    pub base: u32,
    /// `typtypmod`.
    pub modifier: i32,
    /// `typelem`.
    pub element: u32,
    /// `is_array`.
    pub is_array: bool,
    /// `not_null`.
    pub not_null: bool,
    /// `has_default`.
    pub has_default: bool,
    /// `bounds`: the subtype of a range, the range of a multirange.
    pub bounds: Option<u32>,
    /// `range_collation`, `range_class`, `range_canonical`.
    pub order: [Option<&'a str>; 3],
    /// `part`, `part_type`, `part_modifier`.
    pub part: Option<(&'a str, u32, i32)>,
}

/// One type, its rows put together.
#[derive(Clone, Debug)]
struct TypeRow {
    name: QualifiedName,
    kind: TypeKind,
    base: u32,
    modifier: i32,
    element: Option<u32>,
    not_null: bool,
    has_default: bool,
    bounds: Option<u32>,
    order: [Option<String>; 3],
    parts: Vec<(String, u32, i32)>,
}

/// What a domain adds to the columns of its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DomainFacts {
    /// Some domain on the way is NOT NULL.
    pub not_null: bool,
    /// Some domain on the way has a default.
    pub has_default: bool,
}

/// Every type that some columns lead to.
#[derive(Debug, Default)]
pub struct Types(HashMap<u32, TypeRow>);

impl Types {
    /// Takes a row of the query; those of one type in the query's order.
    ///
    /// # Errors
    /// `protocol_violation` for what no catalog holds.
    pub fn add(&mut self, line: &TypeLine<'_>) -> Result<(), Error> {
        let kind = kind(line.kind).ok_or_else(broken)?;
        let row = self.0.entry(line.oid).or_insert_with(|| TypeRow {
            name: line.name.clone(),
            kind,
            base: line.base,
            modifier: line.modifier,
            element: line.is_array.then_some(line.element),
            not_null: line.not_null,
            has_default: line.has_default,
            bounds: line.bounds,
            order: line.order.map(|name| name.map(str::to_owned)),
            parts: Vec::new(),
        });
        row.parts.extend(
            line.part
                .map(|(name, ty, modifier)| (name.to_owned(), ty, modifier)),
        );
        Ok(())
    }

    /// The type of a column declared with this object id and modifier.
    ///
    /// # Errors
    /// `protocol_violation` when the rows do not lead to it, `invalid_identifier` for an attribute's name.
    pub fn resolve(&self, oid: u32, modifier: i32) -> Result<PgType, Error> {
        self.nested(oid, modifier, NESTING_MAX)
    }

    /// What the domains between a type and its base demand and offer.
    ///
    /// # Errors
    /// `protocol_violation` when the rows do not lead to it.
    pub fn domain(&self, oid: u32) -> Result<DomainFacts, Error> {
        let mut facts = DomainFacts::default();
        let mut oid = oid;
        for _ in 0..NESTING_MAX {
            let row = self.row(oid)?;
            facts.not_null |= row.not_null;
            facts.has_default |= row.has_default;
            if row.kind != TypeKind::Domain {
                return Ok(facts);
            }
            oid = row.base;
        }
        Err(broken())
    }

    fn nested(&self, oid: u32, modifier: i32, depth: usize) -> Result<PgType, Error> {
        let declared = self.row(oid)?;
        let (base_oid, base, modifier) = self.base_of(oid, modifier)?;
        Ok(PgType {
            oid,
            name: declared.name.clone(),
            kind: declared.kind,
            base_oid,
            base_name: base.name.clone(),
            base_kind: base.kind,
            inside: self.inside(base, modifier, depth)?,
            modifier,
        })
    }

    fn inside(&self, base: &TypeRow, modifier: i32, depth: usize) -> Result<Inside, Error> {
        let depth = depth.checked_sub(1).ok_or_else(broken)?;
        Ok(match (base.kind, base.element, base.bounds) {
            // An array's modifier is that of its elements.
            (TypeKind::Base, Some(element), _) => {
                Inside::Elements(Box::new(self.nested(element, modifier, depth)?))
            }
            (TypeKind::Composite, ..) => {
                let attribute = |(name, oid, modifier): &(String, u32, i32)| {
                    let name = Ident::new(name).map_err(|not| {
                        let site = Site::none().fact(format!("while reading types: {not}"));
                        Error::new(Reason::InvalidIdentifier, site)
                    })?;
                    Ok((name, self.nested(*oid, *modifier, depth)?))
                };
                Inside::Attributes(
                    base.parts
                        .iter()
                        .map(attribute)
                        .collect::<Result<_, Error>>()?,
                )
            }
            (TypeKind::Range, _, Some(subtype)) => Inside::Bounds(Box::new(Bounds {
                subtype: self.nested(subtype, -1, depth)?,
                order: base.order.clone(),
            })),
            (TypeKind::Multirange, _, Some(range)) => self.inside(self.row(range)?, -1, depth)?,
            (TypeKind::Enum, ..) => {
                Inside::Labels(base.parts.iter().map(|(label, ..)| label.clone()).collect())
            }
            _ => Inside::Nothing,
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
        Err(broken())
    }

    fn row(&self, oid: u32) -> Result<&TypeRow, Error> {
        self.0.get(&oid).ok_or_else(broken)
    }
}

fn kind(letter: &str) -> Option<TypeKind> {
    Some(match letter {
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

fn broken() -> Error {
    let site = Site::none().fact("unexpected answer while reading types");
    Error::new(Reason::ProtocolViolation, site)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMERIC_10_2: i32 = 655_366;

    fn line(oid: u32, name: &str, kind: &'static str, base: u32) -> TypeLine<'static> {
        TypeLine {
            oid,
            name: QualifiedName::new("s", name).unwrap(),
            kind,
            base,
            modifier: -1,
            element: 0,
            is_array: false,
            not_null: false,
            has_default: false,
            bounds: None,
            order: [None; 3],
            part: None,
        }
    }

    fn types() -> Types {
        let array = |oid, name: &str, element| TypeLine {
            element,
            is_array: true,
            ..line(oid, name, "b", 0)
        };
        let part = |part| TypeLine {
            part: Some(part),
            ..line(16_390, "pair", "c", 0)
        };
        let lines = [
            line(1700, "numeric", "b", 0),
            TypeLine {
                modifier: NUMERIC_10_2,
                not_null: true,
                ..line(16_386, "d1", "d", 1700)
            },
            TypeLine {
                has_default: true,
                ..line(16_388, "d2", "d", 16_386)
            },
            array(16_385, "_d2", 16_388),
            array(1231, "_numeric", 1700),
            part(("a", 1700, NUMERIC_10_2)),
            part(("b", 16_385, -1)),
            TypeLine {
                element: 701,
                ..line(600, "point", "b", 0)
            },
            line(9, "loop", "d", 9),
            TypeLine {
                part: Some(("self", 8, -1)),
                ..line(8, "self", "c", 0)
            },
        ];
        let mut types = Types::default();
        for line in &lines {
            types.add(line).unwrap();
        }
        types
    }

    #[test]
    fn a_domain_over_a_domain_has_the_base_type_and_the_inner_modifier() {
        let ty = types().resolve(16_388, -1).unwrap();
        assert_eq!(
            (ty.oid, ty.base_oid, ty.modifier),
            (16_388, 1700, NUMERIC_10_2)
        );
        assert_eq!((ty.kind, ty.base_kind), (TypeKind::Domain, TypeKind::Base));
        assert!(ty.is_built_in());
        let facts = types().domain(16_388).unwrap();
        assert!(facts.not_null && facts.has_default);
    }

    #[test]
    fn an_array_of_domains_has_elements_with_the_domains_modifier() {
        let array = types().resolve(16_385, -1).unwrap();
        let element = array.element().unwrap();
        assert_eq!((element.base_oid, element.modifier), (1700, NUMERIC_10_2));
        let plain = types().resolve(1231, NUMERIC_10_2).unwrap();
        assert_eq!(plain.element().unwrap().modifier, NUMERIC_10_2);
        assert_eq!(plain.with_modifier(-1).element().unwrap().modifier, -1);
        assert_eq!(types().resolve(600, -1).unwrap().inside, Inside::Nothing);
    }

    #[test]
    fn a_composite_has_its_attributes_in_order() {
        let Inside::Attributes(attributes) = types().resolve(16_390, -1).unwrap().inside else {
            panic!("no attributes");
        };
        let names: Vec<_> = attributes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(attributes[1].1.element().unwrap().modifier, NUMERIC_10_2);
    }

    #[test]
    fn a_broken_catalog_is_an_error_and_not_a_loop() {
        assert!(types().resolve(9, -1).is_err());
        assert!(types().resolve(8, -1).is_err());
        assert!(types().resolve(1, -1).is_err());
        assert!(types().domain(9).is_err());
        assert!(Types::default().add(&line(1, "t", "?", 0)).is_err());
    }
}
