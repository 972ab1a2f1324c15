//! What of a generation is printed? Declared names and numbers: what really lies in a tenant's schema would tell the tenant.

use std::fmt;

use super::{Constraints, Generation, Table};

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generation")
            .field("format", &self.format)
            .field("tables", &self.tables)
            .field("constraints", &self.constraints)
            .field("notices", &self.notices)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} into {})", self.source, self.shown)
    }
}

impl fmt::Debug for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trusted => f.write_str("Trusted"),
            Self::Deferred {
                foreign_keys,
                unique,
            } => f
                .debug_struct("Deferred")
                .field("foreign_keys", &foreign_keys.len())
                .field("unique", &unique.len())
                .finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use replicant_transport::ident::QualifiedName;

    use super::*;
    use crate::apply::Applier;
    use crate::fixture::{INT8, generation, plain_table};
    use crate::scope::{KeptBy, Scope, ToldBy};
    use crate::tenant::Tenant;

    #[test]
    fn nothing_that_is_printed_of_a_generation_tells_a_tenant() {
        let name = |name: &str| QualifiedName::parse(name).unwrap();
        let declared = plain_table("public.t", &[("id", "int8", INT8)], &[0]);
        let mut of_tenant = declared.clone();
        of_tenant.target = name("tenant_acme.t");
        of_tenant.deferred = vec![name("tenant_acme.t_fkey")];
        of_tenant.scope = Some(Scope {
            told_by: ToldBy::Column(0),
            kept_by: KeptBy::Schema(Tenant::new("acme").unwrap()),
        });
        for column in &mut of_tenant.columns {
            column.target_type.name = name("tenant_acme.mood");
        }
        let mut generation = generation(vec![declared]);
        generation.constraints = Constraints::Deferred {
            foreign_keys: vec![name("tenant_acme.t_fkey")],
            unique: Vec::new(),
        };
        generation.add(0, Tenant::new("acme").unwrap(), of_tenant);
        let generation = Arc::new(generation);
        let applier = Applier::new(Arc::clone(&generation), Arc::from([]));
        let said = format!("{generation:?} {:?} {applier:?}", generation.tables);
        assert!(!said.contains("acme"), "{said}");
        assert!(said.contains("Table("), "{said}");
    }
}
