//! How do the rows of an admitted table belong to tenants? What tells a row's tenant, and what keeps it apart.

use std::collections::HashSet;

use replicant_transport::ident::Ident;

use crate::tenant::{Tenant, TenantFn};

/// How the rows of a table belong to tenants. A table without one is written without regard to any.
#[derive(Clone, Debug)]
pub struct Scope {
    /// What tells a row's tenant.
    pub told_by: ToldBy,
    /// What keeps it apart from other tenants' rows.
    pub kept_by: KeptBy,
}

/// What tells a row's tenant.
#[derive(Clone, Copy, Debug)]
pub enum ToldBy {
    /// The source column of this mapped column.
    Column(usize),
    /// A function of the host.
    Function {
        /// The function.
        call: TenantFn,
        /// What it is called with beside the row.
        args: &'static [&'static str],
    },
}

/// What keeps a tenant's rows apart from those of others.
#[derive(Clone, Debug)]
pub enum KeptBy {
    /// This mapped column holds the tenant, and rows are found by it and their key.
    Column(usize),
    /// Each tenant has a schema. The table stands for those in all of them and is never written itself.
    Schemas(SchemaTemplate),
    /// The table lies in the schema of this tenant.
    Schema(Tenant),
}

impl Scope {
    /// The mapped column that holds the tenant.
    pub(crate) fn column(&self) -> Option<usize> {
        match &self.kept_by {
            KeptBy::Column(column) => Some(*column),
            KeptBy::Schemas(_) | KeptBy::Schema(_) => None,
        }
    }

    /// The mapped column that the tenant is written into, because the source does not have it there.
    pub(crate) fn filled(&self) -> Option<usize> {
        match (self.told_by, self.column()) {
            (ToldBy::Column(told), Some(held)) if told == held => None,
            (_, held) => held,
        }
    }

    /// Is the tenant's text needed, and not only the column that has it?
    pub(crate) fn needs_text(&self) -> bool {
        self.column().is_none() || self.filled().is_some()
    }

    /// How the schemas of tenants are called, where the table stands for those in all of them.
    pub(crate) fn template(&self) -> Option<&SchemaTemplate> {
        match &self.kept_by {
            KeptBy::Schemas(template) => Some(template),
            KeptBy::Column(_) | KeptBy::Schema(_) => None,
        }
    }
}

/// How the schemas of tenants are called: `tenant_{}`.
///
/// A tenant's text stands in the name as it is, so no two tenants have one schema and a schema tells its tenant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchemaTemplate {
    text: &'static str,
    before: &'static str,
    after: &'static str,
}

impl SchemaTemplate {
    /// Takes the declared name apart. `None` when it has no place for a tenant.
    pub(crate) fn parse(text: &'static str) -> Option<Self> {
        let (before, after) = text.split_once("{}")?;
        Some(Self {
            text,
            before,
            after,
        })
    }

    /// As declared: what messages call the schema of whatever tenant.
    pub(crate) fn as_str(self) -> &'static str {
        self.text
    }

    /// The schema of a tenant; `None` when its text makes no name of one.
    pub(crate) fn schema_of(self, tenant: &Tenant) -> Option<Ident> {
        let name = [self.before, tenant.as_str(), self.after].concat();
        Ident::new(&name).ok()
    }

    /// The tenant whose schema this is.
    pub(crate) fn tenant_of(self, schema: &Ident) -> Option<Tenant> {
        let rest = schema.as_str().strip_prefix(self.before)?;
        Tenant::new(rest.strip_suffix(self.after)?).ok()
    }

    /// What every name of such a schema begins and ends with.
    pub(crate) fn ends(self) -> (&'static str, &'static str) {
        (self.before, self.after)
    }
}

/// Is the name of something that hangs on a table made of the table's and its columns' names, as the server and the
/// migrations make them? Any other that is found in a tenant's schema may tell the tenant.
pub(crate) fn is_made_of<'n>(
    name: &Ident,
    table: &'n Ident,
    columns: impl Iterator<Item = &'n Ident>,
) -> bool {
    const KINDS: [&str; 6] = ["pkey", "key", "idx", "fkey", "check", "excl"];
    let declared = std::iter::once(table).chain(columns);
    let words: HashSet<&str> = declared.flat_map(|one| one.as_str().split('_')).collect();
    let mut parts = name.as_str().split('_');
    parts.all(|part| words.contains(part) || KINDS.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_made_of_declared_ones_may_tell_a_tenant() {
        let ident = |text: &str| Ident::new(text).unwrap();
        let (table, columns) = (ident("order_line"), [ident("id"), ident("e_mail")]);
        for (name, made) in [
            ("order_line_pkey", true),
            ("order_line_e_mail_key", true),
            ("order_line_e_mail_id_idx", true),
            ("acme_order_line_pkey", false),
            ("order_line_pkey1", false),
            ("order_line_7_id_idx", false),
            ("acme", false),
        ] {
            assert_eq!(
                is_made_of(&ident(name), &table, columns.iter()),
                made,
                "{name}"
            );
        }
    }

    #[test]
    fn a_schema_tells_its_tenant_and_only_names_are_schemas() {
        let template = SchemaTemplate::parse("tenant_{}_x").unwrap();
        let of = |text: &str| template.schema_of(&Tenant::new(text).unwrap());
        for text in [
            "acme",
            "ACME",
            "a\"; drop schema public; --",
            "../pg_catalog",
            "a.b",
            "{}",
            "é",
        ] {
            let schema = of(text).unwrap();
            assert_eq!(schema.as_str(), format!("tenant_{text}_x"));
            assert_eq!(
                template.tenant_of(&schema).unwrap(),
                Tenant::new(text).unwrap()
            );
        }
        assert_eq!(of("a\nb"), None);
        assert!(of(&"x".repeat(54)).is_some());
        assert_eq!(of(&"x".repeat(55)), None);
        // 27 letters of two bytes: a server would cut the name in silence.
        assert_eq!(of(&"é".repeat(28)), None);
        for schema in [
            "tenant__x",
            "tenant_x",
            "other_a_x",
            "tenant_a",
            "tenant_ _x",
        ] {
            assert_eq!(
                template.tenant_of(&Ident::new(schema).unwrap()),
                None,
                "{schema}"
            );
        }
        assert_eq!(SchemaTemplate::parse("tenant"), None);
    }
}
