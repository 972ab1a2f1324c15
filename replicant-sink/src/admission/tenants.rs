//! Which tenants have schemas of their own, and do their tables take the rows that go there?
//!
//! A tenant's tables are judged like any others, but seen under the declared name of their schema, `tenant_{}`: neither
//! what is wrong nor what is shown to be run tells a tenant. Those that exist are admitted at the start, so that a
//! truncate and the look through a history reach all of them; one that comes later is admitted when its first row does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_checkpoint::store::Fault;
use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::sink::ValueFormat;
use replicant_transport::source::Session;
use tokio_postgres::Client;

use super::coverage::{self, Mapped, Mapping};
use super::facts::Facts;
use super::veil::Veil;
use super::{
    DestinationConstraints, assemble, auxiliary, catalog, constraints, ddl, destination, order,
};
use crate::error::Error;
use crate::generation::{Constraints, Generation, Held, Table};
use crate::hooks::Code;
use crate::plan::{Tenants, Unseen};
use crate::reason::Reason;
use crate::refusal::unanswered;
use crate::scope::{KeptBy, SchemaTemplate, Scope, is_made_of};
use crate::seal::Seals;
use crate::tenant::Tenant;

/// A table in a tenant's schema, and the resource whose rows go there.
pub(super) struct Place {
    /// Index of the resource among the mapped ones.
    resource: usize,
    tenant: Tenant,
    pub(super) target: QualifiedName,
}

/// A table of one tenant as it is admitted.
pub(super) struct OfTenant {
    pub(super) tenant: Tenant,
    pub(super) table: Table,
}

const EXISTING: &str = "select n.nspname::pg_catalog.text from pg_catalog.pg_namespace n \
    join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = $1 \
    and c.relkind not in ('i', 'I', 'S', 'c', 't') \
    where pg_catalog.starts_with(n.nspname::pg_catalog.text, $2) \
    and pg_catalog.right(n.nspname::pg_catalog.text, pg_catalog.length($3)) = $3 \
    order by n.nspname::pg_catalog.text collate pg_catalog.\"C\"";

/// Every table of this name in the schema of a tenant.
pub(crate) async fn existing_tables(
    client: &Client,
    spec: &SinkSpec,
    template: SchemaTemplate,
    table: &Ident,
) -> Result<Vec<(Tenant, QualifiedName)>, Error> {
    let (before, after) = template.ends();
    let asked: [&(dyn postgres_types::ToSql + Sync); 3] = [&table.as_str(), &before, &after];
    let failed = |error: tokio_postgres::Error| {
        let site = Site::none().fact("the destination's catalog could not be read");
        unanswered(Fault::of(&error), site)
    };
    let rows = client.query(EXISTING, &asked).await.map_err(failed)?;
    let mut tables = Vec::with_capacity(rows.len());
    for row in &rows {
        let Ok(schema) = Ident::new(row.try_get(0).map_err(failed)?) else {
            continue;
        };
        if let Some(tenant) = template.tenant_of(&schema)
            && !is_reserved(spec, &schema)
        {
            let name = table.clone();
            tables.push((tenant, QualifiedName { schema, name }));
        }
    }
    Ok(tables)
}

/// Schemas that are no tenant's, whatever a row says: the checkpoint's, the server's, and the one that everybody shares.
fn is_reserved(spec: &SinkSpec, schema: &Ident) -> bool {
    let schema = schema.as_str();
    schema == spec.checkpoint.schema
        || matches!(schema, "public" | "information_schema")
        || schema.starts_with("pg_")
}

/// The tables of tenants that exist.
pub(super) async fn existing(
    client: &Client,
    spec: &SinkSpec,
    mapping: &Mapping<'_>,
) -> Result<Vec<Place>, Error> {
    let mut places = Vec::new();
    for (resource, mapped) in mapping.tables.iter().enumerate() {
        let Some(template) = mapped.template() else {
            continue;
        };
        let tables = existing_tables(client, spec, template, &mapped.target.name).await?;
        places.extend(
            tables
                .into_iter()
                .filter(|(_, target)| !mapping.is_fixed(target))
                .map(|(tenant, target)| Place {
                    resource,
                    tenant,
                    target,
                }),
        );
    }
    Ok(places)
}

/// What messages call a schema that may be a tenant's, whether it has a table that is mirrored into or not.
pub(super) fn shown_as(mapping: &Mapping<'_>, spec: &SinkSpec, schema: &Ident) -> Option<Ident> {
    let is_shared = |schema: &Ident| {
        let mut fixed = mapping.fixed_targets().into_iter();
        is_reserved(spec, schema) || fixed.any(|target| target.schema == *schema)
    };
    let mut tables = mapping.tables.iter();
    tables.find_map(|mapped| {
        let is_tenants = mapped.template()?.tenant_of(schema).is_some() && !is_shared(schema);
        is_tenants.then(|| mapped.target.schema.clone())
    })
}

/// Judges the tables of tenants; returns those that passed, tenant by tenant.
pub(super) fn judge(
    mode: DestinationConstraints,
    session: &Session,
    (spec, mapping): (&SinkSpec, &Mapping<'_>),
    places: Vec<Place>,
    facts: &Facts,
    violations: &mut Vec<Error>,
) -> Vec<OfTenant> {
    let mut by_schema: BTreeMap<Ident, Vec<Place>> = BTreeMap::new();
    for place in places {
        let schema = place.target.schema.clone();
        by_schema.entry(schema).or_default().push(place);
    }
    let mut admitted = Vec::new();
    for (schema, places) in by_schema {
        let own = facts.of_schema(&schema);
        admitted.extend(judge_schema(
            mode,
            session,
            (spec, mapping),
            &places,
            &own,
            violations,
        ));
    }
    admitted
}

/// The same for one schema.
fn judge_schema(
    mode: DestinationConstraints,
    session: &Session,
    (spec, mapping): (&SinkSpec, &Mapping<'_>),
    places: &[Place],
    facts: &Facts,
    violations: &mut Vec<Error>,
) -> Vec<OfTenant> {
    let resources: Vec<(&Place, &Mapped<'_>)> = places
        .iter()
        .filter_map(|place| Some((place, mapping.tables.get(place.resource)?)))
        .collect();
    let declared: Vec<&Mapped<'_>> = resources.iter().map(|(_, mapped)| *mapped).collect();
    let other = |schema: &Ident| shown_as(mapping, spec, schema);
    let veil = Veil::over(
        resources
            .iter()
            .map(|(place, mapped)| (&place.target.schema, &mapped.target.schema)),
        &other,
    );
    let seen = veil.facts(facts);
    let before = violations.len();
    for mapped in &declared {
        destination::table(mapped, &seen, violations);
    }
    let names: Vec<&QualifiedName> = declared.iter().map(|mapped| &mapped.target).collect();
    constraints::check_tables(mode, &names, &seen, violations);
    if violations.len() > before {
        return Vec::new();
    }
    let own: Vec<Mapped<'_>> = resources
        .iter()
        .map(|(place, mapped)| Mapped {
            target: place.target.clone(),
            scope: mapped.scope.as_ref().map(|scope| Scope {
                told_by: scope.told_by,
                kept_by: KeptBy::Schema(place.tenant.clone()),
            }),
            ..Mapped::clone(mapped)
        })
        .collect();
    let targets: Vec<&QualifiedName> = own.iter().map(|mapped| &mapped.target).collect();
    let mut admitted = Vec::with_capacity(own.len());
    for index in order::parents_first(&targets, &facts.foreign_keys) {
        let (Some(mapped), Some((place, shown))) = (own.get(index), resources.get(index)) else {
            continue;
        };
        // The same facts under their own names, of which nothing was found wrong under the declared ones.
        let mut other = Vec::new();
        let table = destination::table(mapped, facts, &mut other);
        let Some(table) = table.filter(|_| other.is_empty()) else {
            let site = Site::table(&shown.target).fact("it is not what it was a moment ago");
            violations.push(Error::new(Reason::TenantScopeUnknown, site));
            continue;
        };
        let mut table = assemble::table(&table, ValueFormat::Text, session, facts);
        let columns = table.columns.iter().map(|column| &column.target);
        table
            .constraints
            .retain(|name| is_made_of(name, &table.target.name, columns.clone()));
        admitted.push(OfTenant {
            tenant: place.tenant.clone(),
            table: Table {
                shown: shown.target.clone(),
                deferred: deferred(mode, facts, mapped),
                ..table
            },
        });
    }
    admitted
}

/// The deferrable constraints that touch a table.
fn deferred(
    mode: DestinationConstraints,
    facts: &Facts,
    mapped: &Mapped<'_>,
) -> Vec<QualifiedName> {
    if mode == DestinationConstraints::Trusted {
        return Vec::new();
    }
    let target = &mapped.target;
    let keys = facts.foreign_keys.iter();
    let keys = keys.filter(|key| {
        [&key.from, &key.to]
            .iter()
            .any(|end| end.table.as_ref() == Some(target))
    });
    let unique = facts
        .table(target)
        .into_iter()
        .flat_map(|table| &table.unique);
    let mut names: Vec<QualifiedName> = keys
        .map(|key| &key.name)
        .chain(unique.filter_map(|index| index.deferrable.as_ref()))
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Admits the tables of tenants that come after the start.
pub struct LateTenants {
    spec: &'static SinkSpec,
    code: &'static [&'static [&'static Code]],
    mode: DestinationConstraints,
    session: Session,
}

impl LateTenants {
    /// For a session that was admitted with these.
    pub(crate) fn new(
        spec: &'static SinkSpec,
        code: &'static [&'static [&'static Code]],
        mode: DestinationConstraints,
        session: Session,
    ) -> Self {
        Self {
            spec,
            code,
            mode,
            session,
        }
    }

    /// The generation with the tables that these changes need, and those that their hooks may look at, behind those that
    /// it has. `None` when it has all that there are.
    ///
    /// # Errors
    /// `tenant_scope_unknown` when a tenant has no such table or makes no name of a schema; what admission says of a table
    /// that takes no rows; whatever keeps the destination from being asked.
    ///
    /// # Cancel safety
    /// Only catalogs are read.
    pub(crate) async fn admit(
        &self,
        client: &Client,
        generation: &Generation,
        tenants: &Tenants,
    ) -> Result<Option<Generation>, Error> {
        let mut violations = Vec::new();
        let mapping = coverage::map((self.spec, self.code), &self.session, &mut violations);
        let unseen = tenants.unseen();
        let mut places = Vec::new();
        for unseen in unseen {
            places.push(self.place(generation, &mapping, unseen)?);
        }
        let wanted = places.len();
        if !tenants.emptied().is_empty() {
            for place in existing(client, self.spec, &mapping).await? {
                let known = places.iter().any(|other| other.target == place.target)
                    || generation.holds(&place.target);
                if !known {
                    places.push(place);
                }
            }
        }
        // Hooks may look at the tenants' other tables too, those that exist.
        let others = self.others(generation, &mapping, tenants);
        let asked: Vec<&Place> = places.iter().chain(&others).collect();
        let facts = self.facts(client, &mapping, &asked).await?;
        for (place, unseen) in places.iter().take(wanted).zip(unseen) {
            if facts.table(&place.target).is_none() {
                let mapped = mapping.tables.get(place.resource);
                return Err(at(unseen, missing(mapped)));
            }
        }
        for other in others {
            let known = places.iter().any(|place| place.target == other.target);
            if !known && facts.table(&other.target).is_some() {
                places.push(other);
            }
        }
        if places.is_empty() {
            return Ok(None);
        }
        let (mode, session) = (self.mode, &self.session);
        let declared = (self.spec, &mapping);
        let admitted = judge(mode, session, declared, places, &facts, &mut violations);
        if let Some(error) = violations.into_iter().next() {
            return Err(match unseen.first() {
                Some(unseen) => at(unseen, error),
                None => error,
            });
        }
        let mut extended = generation.clone();
        // One that touches a table that all tenants share has to wait whichever of them is written.
        if let Constraints::Deferred { foreign_keys, .. } = &mut extended.constraints {
            let auxiliaries = auxiliary::declared(self.spec);
            let mut shared = mapping.fixed_targets();
            shared.extend(auxiliaries.iter().map(|auxiliary| &auxiliary.target));
            let shared = facts.of_tables(&shared).foreign_keys;
            for key in shared {
                if !foreign_keys.contains(&key.name) {
                    foreign_keys.push(key.name);
                }
            }
        }
        for of_tenant in admitted {
            let source = of_tenant.table.source.clone();
            if let Some(&stands_for) = generation.by_source.get(&source)
                && let Some(known) = generation.tables.get(stands_for)
            {
                let table = like(of_tenant.table, known);
                extended.add(stands_for, of_tenant.tenant, table);
            }
        }
        Ok(Some(extended))
    }

    /// Where the tables would be that hooks may look at, and the other ones of the tenants that are new, as far as the
    /// generation does not have them.
    fn others(
        &self,
        generation: &Generation,
        mapping: &Mapping<'_>,
        tenants: &Tenants,
    ) -> Vec<Place> {
        let unseen = tenants.unseen().iter().map(|unseen| &unseen.tenant);
        let new: BTreeSet<&Tenant> = unseen.collect();
        let looked_at = |mapped: &Mapped<'_>| {
            let of_it = tenants.looked_at().iter().filter(|(table, _)| {
                let table = generation.tables.get(*table);
                table.is_some_and(|table| table.source == mapped.source.name)
            });
            of_it.map(|(_, tenant)| tenant).collect::<BTreeSet<_>>()
        };
        let mut places = Vec::new();
        for (resource, mapped) in mapping.tables.iter().enumerate() {
            let Some(template) = mapped.template() else {
                continue;
            };
            for tenant in new.union(&looked_at(mapped)) {
                let Some(schema) = template.schema_of(tenant) else {
                    continue;
                };
                let name = mapped.target.name.clone();
                let target = QualifiedName { schema, name };
                let known = generation.holds(&target)
                    || mapping.is_fixed(&target)
                    || is_reserved(self.spec, &target.schema);
                if !known {
                    places.push(Place {
                        resource,
                        tenant: Tenant::clone(tenant),
                        target,
                    });
                }
            }
        }
        places
    }

    /// What the catalog says of these tables, of those that all tenants share, and of the tenants' other ones: foreign keys
    /// between them are told as what they are.
    async fn facts(
        &self,
        client: &Client,
        mapping: &Mapping<'_>,
        places: &[&Place],
    ) -> Result<Facts, Error> {
        let others: Vec<QualifiedName> = places
            .iter()
            .flat_map(|place| {
                let of_tenants = mapping.tables.iter();
                let of_tenants = of_tenants.filter(|mapped| mapped.template().is_some());
                of_tenants.map(|mapped| QualifiedName {
                    schema: place.target.schema.clone(),
                    name: mapped.target.name.clone(),
                })
            })
            .collect();
        let auxiliaries = auxiliary::declared(self.spec);
        let mut targets = mapping.fixed_targets();
        targets.extend(auxiliaries.iter().map(|auxiliary| &auxiliary.target));
        targets.extend(&others);
        targets.sort_unstable();
        targets.dedup();
        catalog::read(client, &targets).await
    }

    fn place(
        &self,
        generation: &Generation,
        mapping: &Mapping<'_>,
        unseen: &Unseen,
    ) -> Result<Place, Error> {
        let table = generation.tables.get(unseen.table);
        let found = table.and_then(|table| {
            let mut tables = mapping.tables.iter();
            let resource = tables.position(|mapped| mapped.source.name == table.source)?;
            Some((resource, mapping.tables.get(resource)?))
        });
        let Some((resource, mapped)) = found else {
            return Err(at(unseen, missing(None)));
        };
        let refuse = |fact: &str| {
            let site = Site::table(&mapped.target).fact(fact);
            at(unseen, Error::new(Reason::TenantScopeUnknown, site))
        };
        let template = mapped.template();
        let schema = template.and_then(|template| template.schema_of(&unseen.tenant));
        let schema = schema.ok_or_else(|| {
            refuse("a tenant makes no name of a schema: it is too long, or has control characters")
        })?;
        let target = QualifiedName {
            schema,
            name: mapped.target.name.clone(),
        };
        if is_reserved(self.spec, &target.schema) || mapping.is_fixed(&target) {
            return Err(refuse("a tenant's schema is one that belongs to no tenant"));
        }
        Ok(Place {
            resource,
            tenant: unseen.tenant.clone(),
            target,
        })
    }
}

impl fmt::Debug for LateTenants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateTenants(..)")
    }
}

/// What the session learnt of the table that stands for it holds for a tenant's table too.
fn like(mut table: Table, known: &Table) -> Table {
    for (column, known) in table.columns.iter_mut().zip(&known.columns) {
        column.formerly.clone_from(&known.formerly);
    }
    if let (Held::History(history), Held::History(known)) = (&mut table.held, &known.held) {
        history.recorded_until = known.recorded_until;
    }
    let seals = Arc::unwrap_or_clone(std::mem::take(&mut table.seals));
    table.seals = Arc::new(Seals::unlocked_like(seals, &known.seals));
    table
}

fn missing(mapped: Option<&Mapped<'_>>) -> Error {
    let mut site = Site::none();
    if let Some(mapped) = mapped {
        site = Site::table(&mapped.target);
        let schema = mapped.target.schema.quoted();
        let table = ddl::create_table(mapped).map(|table| format!("; {table}"));
        site.fact = Some(format!(
            "create schema if not exists {schema}{}",
            table.unwrap_or_default()
        ));
    }
    Error::new(Reason::TenantScopeUnknown, site)
}

/// Where in the source's WAL the tenant comes from, so that an operator can find it.
fn at(unseen: &Unseen, error: Error) -> Error {
    match (error, unseen.at) {
        (Error::Sink { reason, site }, Some(commit)) => Error::new(reason, site.lsn(commit.lsn())),
        (error, _) => error,
    }
}

/// The declared names of the schemas of these tenants.
pub(super) fn veil_of<'v>(
    mapping: &Mapping<'_>,
    places: &[Place],
    other: &'v dyn Fn(&Ident) -> Option<Ident>,
) -> Veil<'v> {
    let names: HashMap<&Ident, &Ident> = places
        .iter()
        .filter_map(|place| {
            let mapped = mapping.tables.get(place.resource)?;
            Some((&place.target.schema, &mapped.target.schema))
        })
        .collect();
    Veil::over(names, other)
}
