//! How a compiled specification would have been written, so that admission runs the rules the macros ran.

use super::{
    DeclaredAccept, DeclaredAction, DeclaredAppend, DeclaredCheckpoint, DeclaredColumn,
    DeclaredHistory, DeclaredIdentity, DeclaredMessage, DeclaredMultitenancy, DeclaredOrigin,
    DeclaredProvenance, DeclaredResource, DeclaredRoute, DeclaredShape, DeclaredSink,
    DeclaredStrategy, DeclaredTenancy, DeclaredTenantFn, Written,
};
use crate::contract::action::{Accept, ActionSpec};
use crate::contract::column::{ColumnSpec, Origin};
use crate::contract::identity::IdentitySpec;
use crate::contract::resource::{OnSchemaChange, OnTruncate, ResourceSpec, Shape};
use crate::contract::sink::{CheckpointSpec, MessageRoute, SinkSpec};
use crate::contract::tenancy::{Tenancy, TenancyStrategy, TenantSource};

impl From<&ResourceSpec> for DeclaredResource {
    fn from(spec: &ResourceSpec) -> Self {
        let ResourceSpec {
            rust_name,
            rust_path: _,
            source: from,
            target,
            shape,
            tenancy,
            columns,
            skips,
            sensitive,
            primary_key,
            identities,
            upsert_identity,
            provenance,
            on_truncate,
            on_schema_change,
            actions,
            broken: _,
        } = spec;
        let mapped = spec.is_mapped();
        let source = |name: &str| (mapped || !name.is_empty()).then(|| name.to_owned());
        let (shapes, history, append) = shape_of(shape);
        Self {
            rust_name: (*rust_name).to_owned(),
            source_schema: source(from.schema),
            source_table: source(from.table),
            schema: Some(target.schema.to_owned()),
            table: Some(target.table.to_owned()),
            shapes,
            history,
            append,
            provenance: provenance.map_or_else(DeclaredProvenance::default, |provenance| {
                DeclaredProvenance {
                    opted_in: Written::Yes,
                    mark_action: Some(provenance.mark_action.to_owned()),
                    retire_action: Some(provenance.retire_action.to_owned()),
                    scopes: provenance.scopes.map(str::to_owned),
                }
            }),
            roles: spec
                .roles()
                .into_iter()
                .filter(|(role, _)| role.option().is_some())
                .map(|(role, field)| (role, field.to_owned()))
                .collect(),
            tenancy: tenancy_of(tenancy),
            columns: columns.iter().map(DeclaredColumn::from).collect(),
            skips: owned(skips),
            sensitive: owned(sensitive),
            primary_key: owned(primary_key),
            identities: identities.iter().map(DeclaredIdentity::from).collect(),
            upsert_identity: upsert_identity.map(str::to_owned),
            // An auxiliary resource cannot leave a policy out, and has none.
            on_truncate: (mapped || *on_truncate != OnTruncate::Halt).then_some(*on_truncate),
            on_schema_change: (mapped || *on_schema_change != OnSchemaChange::HaltDestructive)
                .then_some(*on_schema_change),
            actions: Some(actions.iter().map(DeclaredAction::from).collect()),
        }
    }
}

fn shape_of(shape: &Shape) -> (Vec<DeclaredShape>, DeclaredHistory, DeclaredAppend) {
    let mut history = DeclaredHistory::default();
    let mut append = DeclaredAppend::default();
    let shapes = match shape {
        Shape::Mirror => Vec::new(),
        Shape::History(spec) => {
            history.business_key = Some(owned(spec.business_key));
            history.close_action = Some(spec.close_action.to_owned());
            vec![DeclaredShape::History]
        }
        Shape::AppendLog(spec) => {
            append.action = Some(spec.action.to_owned());
            append.identity = Some(spec.identity.to_owned());
            vec![DeclaredShape::AppendLog]
        }
        Shape::Auxiliary => vec![DeclaredShape::Auxiliary],
    };
    (shapes, history, append)
}

fn tenancy_of(tenancy: &Tenancy) -> DeclaredTenancy {
    let Tenancy::Tenanted {
        strategy,
        reach,
        source,
    } = tenancy
    else {
        return DeclaredTenancy::default();
    };
    let mut block = DeclaredMultitenancy {
        reach: *reach,
        ..DeclaredMultitenancy::default()
    };
    match strategy {
        TenancyStrategy::Attribute(field) => {
            block.strategy = Some(DeclaredStrategy::Attribute);
            block.attribute = Some((*field).to_owned());
        }
        TenancyStrategy::Context { schema } => {
            block.strategy = Some(DeclaredStrategy::Context);
            block.schema = Some((*schema).to_owned());
        }
    }
    let (attribute, function) = match source {
        None => (None, None),
        Some(TenantSource::Attribute(field)) => (Some((*field).to_owned()), None),
        Some(TenantSource::Function { path, args }) => {
            let function = DeclaredTenantFn {
                path: (*path).to_owned(),
                args: owned(args),
            };
            (None, Some(function))
        }
    };
    DeclaredTenancy {
        block: Some(block),
        attribute,
        function,
    }
}

impl From<&ColumnSpec> for DeclaredColumn {
    fn from(spec: &ColumnSpec) -> Self {
        let ColumnSpec {
            field,
            origin,
            target,
            storage: _,
            nullability: _,
            fidelity: _,
            protection,
            wrapping: _,
            visibility,
            sql_type,
        } = *spec;
        Self {
            field: field.to_owned(),
            origin: match origin {
                Origin::Source(name) => DeclaredOrigin::Source(name.to_owned()),
                Origin::Before(name) => DeclaredOrigin::Before(name.to_owned()),
                Origin::Destination => DeclaredOrigin::Destination,
                Origin::Stamp => DeclaredOrigin::Stamp,
                Origin::Action => DeclaredOrigin::Action,
            },
            target: target.to_owned(),
            protection,
            visibility,
            sql_type: sql_type.map(str::to_owned),
        }
    }
}

impl From<&IdentitySpec> for DeclaredIdentity {
    fn from(spec: &IdentitySpec) -> Self {
        let IdentitySpec {
            name,
            keys,
            reach,
            predicate,
        } = *spec;
        Self {
            name: name.to_owned(),
            keys: Some(owned(keys)),
            reach,
            predicate: predicate.map(str::to_owned),
        }
    }
}

impl From<&ActionSpec> for DeclaredAction {
    fn from(spec: &ActionSpec) -> Self {
        let ActionSpec {
            kind,
            name,
            accept,
            visibility,
            tenancy,
            marking,
            changes,
            validations,
            touches,
            message,
        } = *spec;
        Self {
            kind,
            name: name.map(str::to_owned),
            accept: match accept {
                Accept::All => DeclaredAccept::All,
                Accept::Fields(fields) => DeclaredAccept::Fields(owned(fields)),
            },
            visibility,
            tenancy,
            marking,
            changes: changes.iter().map(|hook| hook.name.to_owned()).collect(),
            validations: owned(validations),
            touches: owned(touches),
            message: message.map(|message| DeclaredMessage {
                retention: Some(message.retention.to_string()),
                effect: message.effect.map(str::to_owned),
            }),
        }
    }
}

impl From<&CheckpointSpec> for DeclaredCheckpoint {
    fn from(spec: &CheckpointSpec) -> Self {
        let CheckpointSpec {
            schema,
            select_grant,
        } = *spec;
        Self {
            schema: Some(schema.to_owned()),
            select_grant: select_grant.map(str::to_owned),
        }
    }
}

impl From<&SinkSpec> for DeclaredSink {
    fn from(spec: &SinkSpec) -> Self {
        let SinkSpec {
            rust_name: _,
            slot_name,
            kind,
            initial_state,
            domains: _,
            ignored_sources,
            message_routes,
            ignored_message_prefixes,
            recovery_horizon,
            checkpoint: _,
        } = *spec;
        Self {
            slot_name: Some(slot_name.to_owned()),
            kind: Some(kind),
            initial_state,
            ignored_sources: ignored_sources
                .iter()
                .map(|name| format!("{}.{}", name.schema, name.table))
                .collect(),
            message_routes: message_routes.iter().map(DeclaredRoute::from).collect(),
            ignored_message_prefixes: owned(ignored_message_prefixes),
            recovery_horizon: recovery_horizon.map(|period| period.to_string()),
        }
    }
}

impl From<&MessageRoute> for DeclaredRoute {
    fn from(spec: &MessageRoute) -> Self {
        let MessageRoute {
            prefix,
            resource,
            action,
        } = *spec;
        Self {
            prefix: prefix.to_owned(),
            resource: resource.to_owned(),
            action: action.to_owned(),
        }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
