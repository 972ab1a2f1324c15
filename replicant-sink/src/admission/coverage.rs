//! Is every published table mapped or ignored, and every published column mapped or skipped?

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use replicant_checkpoint::contract::resource::{
    ColumnSpec, Origin, ResourceSpec, Role, Shape, TableName, TenantSource,
};
use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::pg_type::{Inside, PgType, TypeKind};
use replicant_transport::source::{Generated, Session, SourceTable, TableColumn, TableKind};

use super::builtin::oid;
use super::scope;
use crate::error::Error;
use crate::generation::Image;
use crate::hooks::Code;
use crate::reason::Reason;
use crate::resource::code_of;
use crate::scope::{SchemaTemplate, Scope};

/// Declaration and source, matched by name.
pub(super) struct Mapping<'a> {
    /// Resources whose source table is published, in declaration order.
    pub(super) tables: Vec<Mapped<'a>>,
}

/// One resource and the published table it mirrors.
#[derive(Clone)]
pub(super) struct Mapped<'a> {
    pub(super) spec: &'static ResourceSpec,
    pub(super) source: &'a SourceTable,
    pub(super) target: QualifiedName,
    /// Fields that exist on the source, in declaration order.
    pub(super) columns: Vec<MappedColumn<'a>>,
    /// Fields of a history or a log that the sink fills, in declaration order.
    pub(super) stamps: Vec<MappedStamp>,
    /// Destination columns of fields that the destination fills itself.
    pub(super) destination_made: Vec<Ident>,
    /// Names in `skip(...)` that the source table does not have.
    pub(super) stale_skips: Vec<Ident>,
    /// How its rows belong to tenants. Where each has a schema, `target` has the declared name of it.
    pub(super) scope: Option<Scope>,
}

/// One field, its source column and its destination column.
#[derive(Clone)]
pub(super) struct MappedColumn<'a> {
    pub(super) spec: &'static ColumnSpec,
    pub(super) source: &'a TableColumn,
    pub(super) target: Ident,
    /// Which image of a change fills it.
    pub(super) image: Image,
}

/// One field that the sink fills and its destination column.
#[derive(Clone)]
pub(super) struct MappedStamp {
    pub(super) role: Role,
    pub(super) spec: &'static ColumnSpec,
    pub(super) target: Ident,
}

impl Mapping<'_> {
    /// Resources that have one destination table, in declaration order.
    pub(super) fn fixed(&self) -> Vec<&Mapped<'_>> {
        let tables = self.tables.iter();
        tables
            .filter(|mapped| mapped.template().is_none())
            .collect()
    }

    /// Their destination tables.
    pub(super) fn fixed_targets(&self) -> Vec<&QualifiedName> {
        let tables = self.tables.iter();
        tables
            .filter(|mapped| mapped.template().is_none())
            .map(|mapped| &mapped.target)
            .collect()
    }

    /// Is it one of them?
    pub(super) fn is_fixed(&self, target: &QualifiedName) -> bool {
        self.fixed_targets().contains(&target)
    }
}

impl Mapped<'_> {
    /// What the schemas of tenants are called, where each tenant has a destination table of its own.
    pub(super) fn template(&self) -> Option<SchemaTemplate> {
        self.scope.as_ref().and_then(Scope::template).copied()
    }

    /// Indexes into `columns` of what rows are found by, versions by their business key: the tenant, if a column holds
    /// it, and the fields of the key. Empty for a table matched by whole rows and for a log, whose events are never looked
    /// for.
    pub(super) fn key(&self) -> Vec<usize> {
        let own = self.own_key();
        let tenant = self.tenant().filter(|tenant| !own.contains(tenant));
        match own.is_empty() {
            true => own,
            false => tenant.into_iter().chain(own).collect(),
        }
    }

    /// The same without the tenant, unless the fields of the key name it.
    pub(super) fn own_key(&self) -> Vec<usize> {
        self.key_fields()
            .iter()
            .filter_map(|field| {
                self.columns
                    .iter()
                    .position(|column| column.spec.field == *field && column.image != Image::Before)
            })
            .collect()
    }

    /// Index into `columns` of the one that holds the tenant.
    pub(super) fn tenant(&self) -> Option<usize> {
        self.scope.as_ref().and_then(Scope::column)
    }

    /// The fields rows are found by, without the tenant.
    pub(super) fn key_fields(&self) -> &'static [&'static str] {
        match self.spec.shape {
            Shape::Mirror => self.spec.key_fields(),
            Shape::History(history) => history.business_key,
            Shape::AppendLog(_) | Shape::Auxiliary => &[],
        }
    }

    /// The destination column that holds this.
    pub(super) fn stamp(&self, role: Role) -> Option<&Ident> {
        let stamp = self.stamps.iter().find(|stamp| stamp.role == role);
        stamp.map(|stamp| &stamp.target)
    }
}

/// First version that can send generated columns; before it no column list helps.
const GENERATED_SINCE: u32 = 180_000;

/// Will the stream carry this column? Without a column list, everything that the source does not compute.
fn is_published(session: &Session, table: &SourceTable, column: &TableColumn) -> bool {
    let computed = column.generated == Generated::Expression;
    if computed && session.server.version_num < GENERATED_SINCE {
        return false;
    }
    match &table.column_list {
        Some(listed) => listed.contains(&column.name),
        None => !computed,
    }
}

/// Matches resources with published tables and reports everything that has no counterpart.
pub(super) fn map<'a>(
    (spec, code): (&SinkSpec, &[&[&'static Code]]),
    session: &'a Session,
    violations: &mut Vec<Error>,
) -> Mapping<'a> {
    let published: HashMap<&QualifiedName, &SourceTable> = session
        .tables
        .iter()
        .map(|table| (&table.name, table))
        .collect();
    let ignored = ignored(spec);
    let mut sources = HashSet::new();
    let mut tables = Vec::new();
    for resource in spec.mapped() {
        let Some((source, target)) = qualified(resource.source).zip(qualified(resource.target))
        else {
            violations.push(not_a_name());
            continue;
        };
        match published.get(&source) {
            None => violations.push(missing(&source, session)),
            Some(table) => {
                let mut mapped = columns(resource, session, table, target, violations);
                mapped.scope = scope::of(&mapped, code_of(spec, code, resource), violations);
                if let Some(template) = mapped.template()
                    && let Ok(schema) = Ident::new(template.as_str())
                {
                    mapped.target.schema = schema;
                }
                tables.push(mapped);
            }
        }
        sources.insert(source);
    }
    for table in &session.tables {
        if !sources.contains(&table.name) && !ignored.contains(&table.name) {
            violations.push(Error::new(
                Reason::SourceTableUnmapped,
                Site::table(&table.name),
            ));
        }
    }
    Mapping { tables }
}

/// The names of `ignored_sources`.
pub(super) fn ignored(spec: &SinkSpec) -> HashSet<QualifiedName> {
    spec.ignored_sources
        .iter()
        .copied()
        .filter_map(qualified)
        .collect()
}

fn missing(source: &QualifiedName, session: &Session) -> Error {
    let fact = match session.publications.as_slice() {
        [one] if !one.all_tables => format!(
            "alter publication {} add table {}",
            one.name.quoted(),
            source.quoted()
        ),
        // An unlogged table, a view or a missing table: no publication can hold it.
        _ => "no publication of this sink contains it; it may not exist, or be unlogged".to_owned(),
    };
    Error::new(Reason::SourceTableMissing, Site::table(source).fact(fact))
}

fn columns<'a>(
    resource: &'static ResourceSpec,
    session: &Session,
    source: &'a SourceTable,
    target: QualifiedName,
    violations: &mut Vec<Error>,
) -> Mapped<'a> {
    check_kind(source, violations);
    let mut mapped = Mapped {
        spec: resource,
        source,
        target,
        columns: Vec::new(),
        stamps: Vec::new(),
        destination_made: Vec::new(),
        stale_skips: Vec::new(),
        scope: None,
    };
    let roles = resource.roles();
    for column in resource.columns {
        let Ok(target) = Ident::new(column.target) else {
            violations.push(not_a_name());
            continue;
        };
        let (name, image) = match column.origin {
            Origin::Source(name) => (name, Image::Row),
            Origin::Before(name) => (name, Image::Before),
            Origin::Destination | Origin::Action => {
                mapped.destination_made.push(target);
                continue;
            }
            Origin::Stamp => {
                match roles.iter().find(|(_, field)| *field == column.field) {
                    Some((role, _)) => mapped.stamps.push(MappedStamp {
                        role: *role,
                        spec: column,
                        target,
                    }),
                    None if holds_a_computed_tenant(resource, column) => {
                        mapped.columns.push(MappedColumn {
                            spec: column,
                            source: &COMPUTED_TENANT,
                            target,
                            image: Image::Tenant,
                        });
                    }
                    None => mapped.destination_made.push(target),
                }
                continue;
            }
        };
        if let Some(found) = source_column(session, source, name, violations) {
            mapped.columns.push(MappedColumn {
                spec: column,
                source: found,
                target,
                image,
            });
        }
    }
    check_skips(&mut mapped, session, violations);
    mapped
}

fn holds_a_computed_tenant(resource: &ResourceSpec, column: &ColumnSpec) -> bool {
    let told: Option<TenantSource> = resource.tenancy.source();
    resource.tenancy.attribute() == Some(column.field) && told.is_some()
}

/// What the source would send if it had a column for a tenant that is computed.
static COMPUTED_TENANT: LazyLock<TableColumn> = LazyLock::new(|| {
    let ident = |name| Ident::new(name).unwrap_or_else(|_| unreachable!("a constant name"));
    let text = QualifiedName {
        schema: ident("pg_catalog"),
        name: ident("text"),
    };
    TableColumn {
        attnum: 0,
        name: ident("tenant"),
        ty: PgType {
            oid: oid::TEXT,
            name: text.clone(),
            kind: TypeKind::Base,
            base_oid: oid::TEXT,
            base_name: text,
            base_kind: TypeKind::Base,
            inside: Inside::Nothing,
            modifier: -1,
        },
        not_null: true,
        generated: Generated::No,
    }
});

fn check_kind(source: &SourceTable, violations: &mut Vec<Error>) {
    let fact = match (source.kind, source.unlogged) {
        (TableKind::Other, _) => "it is a view, a foreign table or the like".to_owned(),
        (_, true) => format!("alter table {} set logged", source.name.quoted()),
        _ => return,
    };
    let site = Site::table(&source.name).fact(fact);
    violations.push(Error::new(Reason::SourceTableKind, site));
}

fn source_column<'a>(
    session: &Session,
    source: &'a SourceTable,
    name: &str,
    violations: &mut Vec<Error>,
) -> Option<&'a TableColumn> {
    let Ok(name) = Ident::new(name) else {
        violations.push(not_a_name());
        return None;
    };
    let site = Site::table(&source.name).column(&name);
    let Some(found) = source.columns.iter().find(|column| column.name == name) else {
        violations.push(Error::new(Reason::SourceColumnMissing, site));
        return None;
    };
    if is_published(session, source, found) {
        return Some(found);
    }
    let fact = match found.generated {
        Generated::Expression => "the source computes it and the publication does not send it",
        _ => "the publication's column list leaves it out",
    };
    violations.push(Error::new(Reason::SourceColumnUnpublished, site.fact(fact)));
    None
}

fn check_skips(mapped: &mut Mapped<'_>, session: &Session, violations: &mut Vec<Error>) {
    let source = mapped.source;
    for skip in mapped.spec.skips {
        let Ok(name) = Ident::new(skip) else {
            violations.push(not_a_name());
            continue;
        };
        if !source.columns.iter().any(|column| column.name == name) {
            mapped.stale_skips.push(name);
        }
    }
    for column in &source.columns {
        let name = column.name.as_str();
        let accounted = mapped.spec.skips.contains(&name) || declares(mapped.spec, name);
        if !accounted && is_published(session, source, column) {
            violations.push(Error::new(
                Reason::SourceColumnUnmapped,
                Site::table(&source.name).column(&column.name),
            ));
        }
    }
}

fn declares(resource: &ResourceSpec, source_column: &str) -> bool {
    resource
        .columns
        .iter()
        .any(|column| matches!(column.origin, Origin::Source(name) | Origin::Before(name) if name == source_column))
}

fn qualified(name: TableName) -> Option<QualifiedName> {
    QualifiedName::new(name.schema, name.table).ok()
}

/// Names were checked with the declaration; a name that is none must not pass in silence even so.
fn not_a_name() -> Error {
    let fact = "a declared name is not a PostgreSQL identifier";
    Error::new(Reason::DeclarationInvalid, Site::none().fact(fact))
}
