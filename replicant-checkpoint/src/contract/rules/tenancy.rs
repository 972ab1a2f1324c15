//! Has every row a tenant that can be told, compared and kept apart?

use std::collections::BTreeSet;

use replicant_transport::ident::check_ident;

use super::list::Rule;
use super::violation::{Part, Violation};
use super::wording::{field_meant, shown};
use crate::contract::column::Protection;
use crate::contract::declared::{
    DeclaredMultitenancy, DeclaredOrigin, DeclaredResource, DeclaredShape, DeclaredStrategy,
    DeclaredTenancy,
};
use crate::contract::tenancy::TenancyReach;

pub(super) fn check(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    source(declared, found);
    if let Some(block) = &declared.tenancy.block {
        strategy(declared, block, found);
    }
    fields(declared, found);
}

// tenant_attribute = org_id without multitenancy(...), both sources, or none
fn source(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let DeclaredTenancy {
        block,
        attribute,
        function,
    } = &declared.tenancy;
    let written = [
        attribute
            .as_ref()
            .map(|_| (Part::TenantAttribute, "tenant_attribute")),
        function
            .as_ref()
            .map(|_| (Part::TenantFunction, "tenant_fn")),
    ];
    let written: Vec<(Part, &str)> = written.into_iter().flatten().collect();
    // An auxiliary row has the tenant of the change that made it.
    if declared.shape() == DeclaredShape::Auxiliary {
        return;
    }
    match (block, written.as_slice()) {
        (_, [first, second]) => found.push(Violation::new(
            Rule::TenantSourceRepeated,
            [second.0, first.0],
            "a row's tenant would be told twice",
        )),
        (None, [(part, option)]) => found.push(Violation::new(
            Rule::TenantSourceWithoutTenancy,
            [*part],
            format!(
                "`{option}` tells a tenant, and nothing keeps the rows of `{}` apart",
                declared.rust_name
            ),
        )),
        (Some(block), []) if block.reach == TenancyReach::Scoped => found.push(Violation::new(
            Rule::TenantSourceMissing,
            [Part::Multitenancy],
            format!(
                "nothing tells the tenant of a row of `{}`",
                declared.rust_name
            ),
        )),
        _ => {}
    }
}

// multitenancy(strategy = attribute), (strategy = context, attribute = org_id, schema = "public")
fn strategy(declared: &DeclaredResource, block: &DeclaredMultitenancy, found: &mut Vec<Violation>) {
    let unused = |option: &str, part: Part, strategy: &str| {
        Violation::new(
            Rule::TenancyOptionUnused,
            [part],
            format!("`{option}` does not go with `strategy = {strategy}`"),
        )
    };
    match block.strategy {
        None => {}
        Some(DeclaredStrategy::Attribute) => {
            if block.attribute.is_none() {
                found.push(Violation::new(
                    Rule::TenancyAttributeMissing,
                    [Part::TenancyStrategy],
                    format!("no field of `{}` holds the tenant", declared.rust_name),
                ));
            }
            if block.schema.is_some() {
                found.push(unused("schema", Part::TenancySchema, "attribute"));
            }
        }
        Some(DeclaredStrategy::Context) => {
            if block.attribute.is_some() {
                found.push(unused("attribute", Part::TenancyAttribute, "context"));
            }
            match &block.schema {
                None => found.push(Violation::new(
                    Rule::TenancySchemaMissing,
                    [Part::TenancyStrategy],
                    "a tenant's schema has no name",
                )),
                Some(schema) => found.extend(schema_name(schema)),
            }
            let used = declared.tells_tenants() || declared.shape() == DeclaredShape::Auxiliary;
            // What is not written is `public`.
            if let Some(schema) = declared.schema.as_deref()
                && used
                && schema != "public"
            {
                found.push(Violation::new(
                    Rule::TargetSchemaUnused,
                    [Part::TargetSchema],
                    format!(
                        "`{}` is the schema of no table: each tenant's is in a schema of its own",
                        shown(schema)
                    ),
                ));
            }
        }
    }
}

/// A tenant must not be able to choose a schema that is not its own: what stands beside it keeps it apart.
fn schema_name(schema: &str) -> Option<Violation> {
    let why = match schema.split_once("{}") {
        None => "it has no `{}` for the tenant".to_owned(),
        Some((_, after)) if after.contains("{}") => "it has more than one `{}`".to_owned(),
        Some(("", _)) => "nothing stands before the tenant".to_owned(),
        Some((before, after)) => match check_ident(&format!("{before}x{after}")) {
            Err(why) => why.to_string(),
            Ok(()) if before.starts_with("pg_") || "pg_".starts_with(before) => {
                "it reaches schemas beginning with `pg_`, which belong to the server".to_owned()
            }
            Ok(()) if reaches(before, after, "information_schema") => {
                "it reaches `information_schema`, which belongs to the server".to_owned()
            }
            Ok(()) => return None,
        },
    };
    Some(Violation::new(
        Rule::TenancySchemaInvalid,
        [Part::TenancySchema],
        format!("`{}`: {why}", shown(schema)),
    ))
}

fn reaches(before: &str, after: &str, schema: &str) -> bool {
    schema
        .strip_prefix(before)
        .is_some_and(|rest| rest.len() > after.len() && rest.ends_with(after))
}

// tenant_attribute = no_such_field, or a generated, sealed or sensitive one
fn fields(declared: &DeclaredResource, found: &mut Vec<Violation>) {
    let attribute = declared.tenancy.attribute.as_deref();
    let named = [
        attribute.map(|field| (Part::TenantAttribute, field)),
        declared
            .tenant_field()
            .map(|field| (Part::TenancyAttribute, field)),
    ];
    let mut seen = BTreeSet::new();
    for (part, field) in named.into_iter().flatten() {
        // Both options usually name one field, and one mistake about it is enough.
        if !seen.insert(field) {
            continue;
        }
        let Some((column, spec)) = declared.column(field) else {
            found.push(Violation::new(
                Rule::TenantFieldUnknown,
                [part],
                format!("`{field}` is no field; {}", field_meant(declared, field)),
            ));
            continue;
        };
        let sensitive = spec
            .source()
            .is_some_and(|source| declared.sensitive.iter().any(|one| one == source));
        if sensitive || spec.protection == Protection::Sealed {
            found.push(Violation::new(
                Rule::TenantSensitive,
                [part, Part::Field(column)],
                format!("`{field}` is the tenant, and sensitive"),
            ));
        }
        let legal = match spec.origin {
            DeclaredOrigin::Source(_) => true,
            // The field that holds the tenant may be filled with a computed one; the field that tells it may not.
            DeclaredOrigin::Stamp => attribute != Some(field) && declared.role_of(field).is_none(),
            DeclaredOrigin::Action => declared.shape() == DeclaredShape::Auxiliary,
            DeclaredOrigin::Before(_) | DeclaredOrigin::Destination => false,
        };
        if !legal {
            found.push(Violation::new(
                Rule::TenantNotMapped,
                [part, Part::Field(column)],
                format!("no source column feeds the tenant `{field}`"),
            ));
        }
    }
}
