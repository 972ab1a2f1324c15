//! How is a destination described without telling whose schema is whose? Every schema of a tenant under its declared name.

use std::collections::HashMap;

use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::pg_type::{Bounds, Inside, PgType};

use super::facts::{Column, End, Facts, ForeignKey, Table};
use crate::scope::is_made_of;

/// What the schemas of tenants are called in messages.
pub(super) struct Veil<'v> {
    /// Those that are described, and what stands for them.
    names: HashMap<Ident, Ident>,
    /// What any other schema is called: a foreign key can come from wherever it likes.
    other: &'v dyn Fn(&Ident) -> Option<Ident>,
}

impl<'v> Veil<'v> {
    /// Schemas and what stands for them, and what stands for others at the far end of a foreign key.
    pub(super) fn over<'n>(
        names: impl IntoIterator<Item = (&'n Ident, &'n Ident)>,
        other: &'v dyn Fn(&Ident) -> Option<Ident>,
    ) -> Self {
        let names = names.into_iter();
        let names = names.map(|(schema, shown)| (schema.clone(), shown.clone()));
        Self {
            names: names.collect(),
            other,
        }
    }

    /// The facts with these names.
    pub(super) fn facts(&self, facts: &Facts) -> Facts {
        Facts {
            server: facts.server.clone(),
            tables: facts.tables.iter().map(|table| self.table(table)).collect(),
            inputs: facts.inputs.clone(),
            foreign_keys: facts
                .foreign_keys
                .iter()
                .map(|key| self.foreign_key(key))
                .collect(),
        }
    }

    fn name(&self, name: &QualifiedName) -> QualifiedName {
        match self.names.get(&name.schema) {
            None => name.clone(),
            Some(shown) => QualifiedName {
                schema: shown.clone(),
                name: name.name.clone(),
            },
        }
    }

    /// The same of a name that may lie in a schema that is not described.
    fn far(&self, name: &QualifiedName) -> QualifiedName {
        let near = self.names.contains_key(&name.schema);
        match (self.other)(&name.schema).filter(|_| !near) {
            None => self.name(name),
            Some(schema) => QualifiedName {
                schema,
                name: name.name.clone(),
            },
        }
    }

    fn table(&self, table: &Table) -> Table {
        let mut seen = table.clone();
        seen.name = self.name(&table.name);
        let is_tenants = self.names.contains_key(&table.name.schema);
        let own = |name: &Ident| {
            let columns = table.columns.iter().map(Column::name);
            match is_tenants {
                true => anonymous(name, &table.name.name, columns),
                false => name.clone(),
            }
        };
        let of_table = |name: &QualifiedName| QualifiedName {
            name: own(&name.name),
            ..self.name(name)
        };
        for column in &mut seen.columns {
            column.column.ty = self.ty(&column.column.ty);
        }
        for index in &mut seen.unique {
            index.on = of_table(&index.on);
            index.deferrable = index.deferrable.as_ref().map(of_table);
            index.name = own(&index.name);
            index.constraint = index.constraint.as_ref().map(own);
        }
        for trigger in &mut seen.triggers {
            trigger.on = of_table(&trigger.on);
            trigger.name = own(&trigger.name);
        }
        for rule in &mut seen.rules {
            rule.name = own(&rule.name);
        }
        seen
    }

    fn foreign_key(&self, key: &ForeignKey) -> ForeignKey {
        let end = |end: &End| End {
            relation: self.far(&end.relation),
            table: end.table.as_ref().map(|name| self.far(name)),
            columns: end.columns.clone(),
        };
        let mut name = self.far(&key.name);
        if name.schema != key.name.schema {
            let columns = key.from.columns.iter();
            name.name = anonymous(&key.name.name, &key.from.relation.name, columns);
        }
        ForeignKey {
            name,
            from: end(&key.from),
            to: end(&key.to),
            ..key.clone()
        }
    }

    fn ty(&self, ty: &PgType) -> PgType {
        PgType {
            name: self.name(&ty.name),
            base_name: self.name(&ty.base_name),
            inside: match &ty.inside {
                Inside::Elements(element) => Inside::Elements(Box::new(self.ty(element))),
                Inside::Attributes(attributes) => Inside::Attributes(
                    attributes
                        .iter()
                        .map(|(name, ty)| (name.clone(), self.ty(ty)))
                        .collect(),
                ),
                Inside::Bounds(bounds) => Inside::Bounds(Box::new(Bounds {
                    subtype: self.ty(&bounds.subtype),
                    order: bounds.order.clone(),
                })),
                inside @ (Inside::Nothing | Inside::Labels(_)) => inside.clone(),
            },
            ..ty.clone()
        }
    }
}

/// What a trigger, an index or a constraint in a tenant's schema is called: `{}`, unless its name is made of declared ones.
fn anonymous<'n>(
    name: &Ident,
    table: &'n Ident,
    columns: impl Iterator<Item = &'n Ident>,
) -> Ident {
    match is_made_of(name, table, columns) {
        true => name.clone(),
        false => Ident::new("{}").unwrap_or_else(|_| table.clone()),
    }
}

impl Facts {
    /// What is said about the tables of one schema, and about the foreign keys that touch them.
    pub(super) fn of_schema(&self, schema: &Ident) -> Self {
        self.touching(
            |table| table.name.schema == *schema,
            |end| end.relation.schema == *schema,
        )
    }

    /// What is said about these tables, and about the foreign keys that touch them.
    pub(super) fn of_tables(&self, names: &[&QualifiedName]) -> Self {
        self.touching(
            |table| names.contains(&&table.name),
            |end| end.table.as_ref().is_some_and(|name| names.contains(&name)),
        )
    }

    fn touching(&self, is_one: impl Fn(&Table) -> bool, touches: impl Fn(&End) -> bool) -> Self {
        let tables = self.tables.iter().filter(|table| is_one(table));
        let keys = self.foreign_keys.iter();
        Self {
            server: self.server.clone(),
            tables: tables.cloned().collect(),
            inputs: self.inputs.clone(),
            foreign_keys: keys
                .filter(|key| touches(&key.from) || touches(&key.to))
                .cloned()
                .collect(),
        }
    }
}
