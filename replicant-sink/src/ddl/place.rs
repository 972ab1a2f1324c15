//! Where does a migration run? Once in the destination, or once for each tenant in the schema of that tenant.
//!
//! Statements for the schema of a tenant name their tables without a schema, so one file serves every tenant, those that
//! come later included. Whoever runs it says which tenant is meant by `search_path`; [`Place::guard`] stops a run that
//! says none.

use replicant_transport::ident::{Ident, Literal, QualifiedName};
use serde::{Deserialize, Serialize};

use super::model::Table;

/// Where is a table?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Home {
    /// In the schema of its name.
    #[default]
    Fixed,
    /// In the schema of each tenant; that of its name has `{}` for the tenant.
    EachTenant,
}

impl Home {
    pub(super) fn is_fixed(&self) -> bool {
        *self == Self::Fixed
    }
}

/// Where a change is made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// In the destination, once.
    Destination,
    /// In the schema of each tenant, which is called so, with `{}` for the tenant.
    EachTenant(Ident),
}

impl Place {
    pub(super) fn of(table: &Table) -> Self {
        match table.home {
            Home::Fixed => Self::Destination,
            Home::EachTenant => Self::EachTenant(table.name.schema.clone()),
        }
    }

    /// The statement that stops a migration unless `search_path` is the schema of one tenant and nothing else: the
    /// tables of another schema must not be taken for the tenant's.
    pub fn guard(&self) -> Option<String> {
        let Self::EachTenant(template) = self else {
            return None;
        };
        let (before, after) = template.as_str().split_once("{}")?;
        let [first, last] = [before, after].map(|text| text.chars().count());
        let mut conditions = vec![
            "pg_catalog.cardinality(pg_catalog.current_schemas(false)) = 1".to_owned(),
            "found <> 'public'".to_owned(),
            format!("pg_catalog.length(found) > {}", first + last),
        ];
        for (side, length, text) in [("left", first, before), ("right", last, after)] {
            if !text.is_empty() {
                let text = Literal(text);
                conditions.push(format!("pg_catalog.{side}(found, {length}) = {text}"));
            }
        }
        let message = format!(
            "search_path has to be the schema of one tenant, {}, and nothing else",
            template.quoted()
        );
        let body = format!(
            "declare found pg_catalog.text := pg_catalog.current_schema();\n\
             begin\n    \
             if not coalesce({}, false) then\n        \
             raise exception using message = {};\n    \
             end if;\n\
             end",
            conditions.join("\n        and "),
            Literal(&message),
        );
        let mut quote = "$tenant$".to_owned();
        while body.contains(&quote) {
            quote = quote.replace("tenant", "tenant_");
        }
        Some(format!("do {quote}\n{body} {quote}"))
    }
}

/// Something that statements are about.
pub(crate) trait Placed {
    /// Its name and schema.
    fn name(&self) -> &QualifiedName;

    /// Is its schema left to `search_path`?
    fn home(&self) -> Home;

    /// As a statement names it.
    fn written(&self) -> String {
        self.beside(&self.name().name)
    }

    /// As a statement names something else in its schema.
    fn beside(&self, name: &Ident) -> String {
        match self.home() {
            Home::Fixed => format!("{}.{}", self.name().schema.quoted(), name.quoted()),
            Home::EachTenant => name.quoted().to_string(),
        }
    }
}

impl Placed for QualifiedName {
    fn name(&self) -> &QualifiedName {
        self
    }

    fn home(&self) -> Home {
        Home::Fixed
    }
}

impl Placed for Table {
    fn name(&self) -> &QualifiedName {
        &self.name
    }

    fn home(&self) -> Home {
        self.home
    }
}
