//! Which manifest does a declaration have?

use std::collections::BTreeSet;

use super::{
    Apart, Column, ColumnOrigin, Holding, Hook, Manifest, Provenance, Relation, Route, Stream,
    Table, Tenants, Told,
};
use crate::contract::column::{ColumnSpec, Origin};
use crate::contract::identity::IdentityReach;
use crate::contract::resource::{ResourceSpec, Shape, TableName};
use crate::contract::role::{Role, RoleOf};
use crate::contract::sink::{MessageRoute, SinkSpec};
use crate::contract::tenancy::{Tenancy, TenancyStrategy, TenantSource};

impl Manifest {
    /// The manifest of a sink that reads these publications. The order of declarations, fields and publications
    /// does not matter.
    pub fn new<P: AsRef<str>>(sink: &SinkSpec, publications: &[P]) -> Self {
        // The slot is half of the checkpoint's key already, and the checkpoint's place is where this is read from.
        // The horizon bounds how long claims are kept; it changes no row.
        let SinkSpec {
            rust_name: _,
            slot_name: _,
            kind,
            initial_state,
            domains: _,
            ignored_sources,
            message_routes,
            ignored_message_prefixes,
            recovery_horizon: _,
            checkpoint: _,
        } = *sink;
        let mut relations: Vec<Relation> = sink.mapped().map(Relation::new).collect();
        relations.sort_by(|a, b| (&a.source, &a.target).cmp(&(&b.source, &b.target)));
        let mut routes: Vec<Route> = message_routes
            .iter()
            .map(|route| Route::new(route, sink))
            .collect();
        routes.sort_by(|a, b| a.prefix.cmp(&b.prefix));
        Self {
            stream: Stream::Pgoutput {
                publications: sorted(publications.iter().map(|name| name.as_ref().to_owned())),
            },
            kind,
            initial_state,
            relations,
            ignores: sorted(ignored_sources.iter().map(Table::from)),
            routes,
            ignored_prefixes: texts(ignored_message_prefixes),
        }
    }
}

impl Route {
    /// A route to a resource that the sink does not hold is refused by the rules; it has no table here.
    fn new(spec: &MessageRoute, sink: &SinkSpec) -> Self {
        let MessageRoute {
            prefix,
            resource,
            action,
        } = *spec;
        let found = sink.resources().find(|one| one.rust_path == resource);
        let message = found
            .and_then(|found| found.action(action))
            .and_then(|action| action.message);
        Self {
            prefix: prefix.to_owned(),
            target: found.map_or_else(|| Table::from(&ResourceSpec::EMPTY.target), target),
            action: action.to_owned(),
            effect: message
                .and_then(|message| message.effect)
                .map(str::to_owned),
        }
    }
}

impl From<&TableName> for Table {
    fn from(name: &TableName) -> Self {
        let TableName { schema, table } = *name;
        Self {
            schema: schema.to_owned(),
            table: table.to_owned(),
        }
    }
}

/// The destination table; under a schema per tenant, with the pattern of the schemas.
fn target(spec: &ResourceSpec) -> Table {
    let table = Table::from(&spec.target);
    match spec.schema_of_tenants() {
        Some(schema) => Table {
            schema: schema.to_owned(),
            ..table
        },
        None => table,
    }
}

impl Relation {
    fn new(spec: &ResourceSpec) -> Self {
        // Rust names are not part of the contract, nor which columns are sensitive: what became of each is in the
        // columns and skips. An identity matters through the key rows are found by. Of actions, the hooks matter;
        // the rest is judged by the rules and decides who may write, not what a stored row means.
        let ResourceSpec {
            rust_name: _,
            rust_path: _,
            source,
            target: _,
            shape: _,
            tenancy,
            columns,
            skips,
            sensitive: _,
            primary_key: _,
            identities: _,
            upsert_identity: _,
            provenance,
            on_truncate,
            on_schema_change,
            actions,
            broken: _,
        } = spec;
        let mut columns: Vec<Column> = columns.iter().map(Column::new).collect();
        columns.sort_by(|a, b| (&a.target, &a.origin).cmp(&(&b.target, &b.origin)));
        let hooks = actions.iter().flat_map(|action| {
            let changes = action.changes.iter().map(|hook| hook.name);
            let hooks = changes.chain(action.validations.iter().copied());
            hooks.map(|name| Hook {
                kind: action.kind,
                action: action.called().to_owned(),
                name: name.to_owned(),
            })
        });
        let identity = spec.finding_identity().and_then(|name| spec.identity(name));
        Self {
            source: Table::from(source),
            target: target(spec),
            holding: holding(spec),
            tenants: tenants(spec, tenancy),
            columns,
            skips: texts(skips),
            key: targets(spec, spec.key_fields()),
            key_reach: match (tenancy.attribute(), identity) {
                (Some(_), Some(identity)) => identity.reach,
                // The primary key is never prefixed with the tenant.
                (Some(_), None) | (None, _) => IdentityReach::AllTenants,
            },
            provenance: match provenance {
                Some(_) => Provenance::Marked,
                None => Provenance::Unmarked,
            },
            hooks: sorted(hooks),
            on_truncate: *on_truncate,
            on_schema_change: *on_schema_change,
        }
    }
}

fn holding(spec: &ResourceSpec) -> Holding {
    let roles = || -> Vec<(Role, String)> {
        let roles = spec.roles().into_iter();
        let recorded = roles.filter(|(role, _)| role.of() != RoleOf::Provenance);
        sorted(
            recorded
                .filter_map(|(role, field)| Some((role, spec.column(field)?.target.to_owned()))),
        )
    };
    match &spec.shape {
        Shape::History(history) => Holding::History {
            business_key: targets(spec, history.business_key),
            roles: roles(),
        },
        Shape::AppendLog(_) => Holding::AppendLog { roles: roles() },
        Shape::Mirror | Shape::Auxiliary => Holding::Mirror,
    }
}

fn tenants(spec: &ResourceSpec, tenancy: &Tenancy) -> Tenants {
    let Tenancy::Tenanted {
        strategy,
        reach,
        source,
    } = *tenancy
    else {
        return Tenants::None;
    };
    let column = |field: &str| spec.column(field);
    Tenants::Some {
        apart: match strategy {
            TenancyStrategy::Attribute(field) => Apart::Column(
                column(field)
                    .map_or(field, |column| column.target)
                    .to_owned(),
            ),
            TenancyStrategy::Context { schema } => Apart::Schema(schema.to_owned()),
        },
        reach,
        told: match source {
            None => Told::Nothing,
            Some(TenantSource::Attribute(field)) => {
                let source = column(field).and_then(|column| column.origin.source());
                Told::Column(source.unwrap_or(field).to_owned())
            }
            Some(TenantSource::Function { path, args }) => Told::Function {
                path: path.to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            },
        },
    }
}

impl Column {
    fn new(spec: &ColumnSpec) -> Self {
        // Nullability bounds what admission accepts from the catalogs; a stored row means the same either way.
        // `accept`, how the Rust type spells a seal, and the type migrations write do not change a stored row's
        // meaning either.
        let ColumnSpec {
            field: _,
            origin,
            target,
            storage,
            nullability: _,
            fidelity,
            protection,
            wrapping: _,
            visibility: _,
            sql_type: _,
        } = *spec;
        Self {
            origin: match origin {
                Origin::Source(name) => ColumnOrigin::Source(name.to_owned()),
                Origin::Before(name) => ColumnOrigin::Before(name.to_owned()),
                Origin::Destination => ColumnOrigin::Destination,
                // Only auxiliary resources have input of their own, and they are in no manifest.
                Origin::Stamp | Origin::Action => ColumnOrigin::Stamp,
            },
            target: target.to_owned(),
            storage,
            fidelity,
            protection,
        }
    }
}

/// The destination columns of fields, sorted.
fn targets(spec: &ResourceSpec, fields: &[&str]) -> Vec<String> {
    let columns = fields.iter().filter_map(|field| spec.column(field));
    sorted(columns.map(|column| column.target.to_owned()))
}

fn texts(names: &[&str]) -> Vec<String> {
    sorted(names.iter().map(|name| (*name).to_owned()))
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.collect::<BTreeSet<T>>().into_iter().collect()
}
