//! What delivery may rely on: the admitted facts, arranged as a generation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use replicant_checkpoint::contract::resource::Protection;
use replicant_transport::ident::{Ident, QualifiedName};
use replicant_transport::sink::ValueFormat;
use replicant_transport::source::{Generated, Session, TableKind};

use super::builtin::{BinaryForm, binary_form, oid};
use super::columns::AdmittedColumn;
use super::coverage::{Mapped, Mapping, ignored};
use super::destination::Admitted;
use super::facts::Facts;
use super::pairs::Pair;
use super::{DestinationConstraints, Request, Values, held, hooks, order, render};
use crate::generation::{
    Column, Constraints, Conversion, CopyBinary, DeleteAndReinsert, Folding, Generation, KeyColumn,
    Notice, RowMatch, Table, Travel, UpsertMeets,
};
use crate::scope::Scope;
use crate::seal::Seals;

/// First version whose stream can carry binary values.
const BINARY_SINCE: u32 = 140_000;

/// Arranges what passed. Called only when nothing was refused.
pub(super) fn generation(
    request: &Request<'_>,
    session: &Session,
    (mapping, admitted): (&Mapping<'_>, Vec<Admitted<'_>>),
    auxiliaries: Vec<Table>,
    facts: &Facts,
) -> Generation {
    let scopes = mapping
        .tables
        .iter()
        .filter_map(|mapped| mapped.scope.as_ref());
    let needs_text = scopes.into_iter().any(Scope::needs_text);
    let format = match request.values {
        Values::Fastest if !needs_text && !hooks::any(request.spec) => {
            value_format(session, &admitted, facts)
        }
        // Hooks see the server's text, and so do functions that tell tenants.
        Values::Fastest | Values::Text => ValueFormat::Text,
    };
    let targets: Vec<_> = admitted.iter().map(|table| &table.mapped.target).collect();
    let of_many = mapping.tables.iter();
    let of_many = of_many.filter(|mapped| mapped.template().is_some());
    let tables: Vec<Table> = order::parents_first(&targets, &facts.foreign_keys)
        .into_iter()
        .filter_map(|index| admitted.get(index))
        .map(|admitted| table(admitted, format, session, facts))
        .chain(of_many.map(|mapped| stand_in(mapped, session)))
        .collect();
    let by_source: HashMap<QualifiedName, usize> = tables
        .iter()
        .enumerate()
        .map(|(index, table)| (table.source.clone(), index))
        .collect();
    Generation {
        admitted_at: session.identity.wal_end,
        format,
        hooks: hooks::hooks(request, session, &tables, auxiliaries),
        tables,
        by_source,
        by_tenant: HashMap::new(),
        ignored: ignored(request.spec),
        constraints: constraints(request.constraints, &admitted, facts),
        notices: notices(mapping),
        groups: Default::default(),
    }
}

/// What is lawful and still worth a warning, in declaration order.
fn notices(mapping: &Mapping<'_>) -> Vec<Notice> {
    let of_table = |mapped: &Mapped<'_>| {
        let (source, stale) = (mapped.source, &mapped.stale_skips);
        let table = &source.name;
        let partitions =
            (source.kind == TableKind::Partitioned).then(|| Notice::PartitionsUnseen {
                table: table.clone(),
            });
        let stale = stale.iter().map(|column| Notice::SkipStale {
            table: table.clone(),
            column: column.clone(),
        });
        partitions.into_iter().chain(stale).collect::<Vec<_>>()
    };
    mapping.tables.iter().flat_map(of_table).collect()
}

/// One switch for the whole stream: binary only when every mapped value has a binary form that is exact.
fn value_format(session: &Session, tables: &[Admitted<'_>], facts: &Facts) -> ValueFormat {
    let all_binary = tables
        .iter()
        .flat_map(|table| &table.columns)
        .all(|column| binary_travel(column, facts).is_some());
    if session.server.version_num >= BINARY_SINCE && all_binary {
        ValueFormat::Binary
    } else {
        ValueFormat::Text
    }
}

/// One admitted table.
pub(super) fn table(
    admitted: &Admitted<'_>,
    format: ValueFormat,
    session: &Session,
    facts: &Facts,
) -> Table {
    let mapped = admitted.mapped;
    let columns: Vec<Column> = admitted
        .columns
        .iter()
        .map(|admitted| column(admitted, format, facts))
        .collect();
    let specs: Vec<_> = columns.iter().map(|column| column.spec).collect();
    Table {
        spec: mapped.spec,
        source: mapped.source.name.clone(),
        source_oid: mapped.source.oid,
        target: mapped.target.clone(),
        shown: mapped.target.clone(),
        scope: mapped.scope.clone(),
        constraints: admitted.facts.constraints.clone(),
        across_tenants: across_tenants(admitted),
        deferred: Vec::new(),
        overriding_system_value: columns.iter().any(|column| column.target_identity),
        columns,
        row_match: admitted.matched.row_match.clone(),
        folding: admitted.matched.folding,
        upsert_meets: admitted.matched.upsert_meets,
        delete_and_reinsert: delete_and_reinsert(admitted, facts),
        held: held::held(mapped, session),
        seals: Arc::new(Seals::of(mapped.spec, &specs, mapped.scope.as_ref())),
    }
}

/// What stands for the tables of tenants that have schemas of their own: what the source says of their rows. Nothing is
/// ever written into it.
fn stand_in(mapped: &Mapped<'_>, session: &Session) -> Table {
    let columns: Vec<Column> = mapped
        .columns
        .iter()
        .map(|column| Column {
            spec: column.spec,
            source: column.source.name.clone(),
            formerly: Vec::new(),
            source_attnum: column.source.attnum,
            source_type: column.source.ty.clone(),
            target: column.target.clone(),
            target_type: column.source.ty.clone(),
            target_identity: false,
            image: column.image,
            travel: match column.spec.protection {
                Protection::Sealed => Travel::Sealed,
                Protection::Plain => Travel::Text {
                    cast: Conversion::Cast(render::base_type(&column.source.ty)),
                },
            },
        })
        .collect();
    let specs: Vec<_> = columns.iter().map(|column| column.spec).collect();
    let keys = mapped.key().into_iter().map(|column| KeyColumn {
        column,
        equals: String::new(),
    });
    let keys: Vec<KeyColumn> = keys.collect();
    Table {
        spec: mapped.spec,
        source: mapped.source.name.clone(),
        source_oid: mapped.source.oid,
        target: mapped.target.clone(),
        shown: mapped.target.clone(),
        scope: mapped.scope.clone(),
        constraints: Vec::new(),
        across_tenants: Vec::new(),
        deferred: Vec::new(),
        overriding_system_value: false,
        row_match: match keys.is_empty() {
            true => RowMatch::WholeRow,
            false => RowMatch::Key(keys),
        },
        folding: Folding::RowOrder,
        upsert_meets: UpsertMeets::Own,
        delete_and_reinsert: DeleteAndReinsert::Forbidden,
        held: held::held(mapped, session),
        seals: Arc::new(Seals::of(mapped.spec, &specs, mapped.scope.as_ref())),
        columns,
    }
}

/// Unique indexes that another tenant's row can stand in the way of.
fn across_tenants(admitted: &Admitted<'_>) -> Vec<Ident> {
    let mapped = admitted.mapped;
    let Some(tenant) = mapped
        .tenant()
        .and_then(|tenant| mapped.columns.get(tenant))
    else {
        return Vec::new();
    };
    admitted.facts.without(&tenant.target)
}

fn column(admitted: &AdmittedColumn<'_>, format: ValueFormat, facts: &Facts) -> Column {
    let target = &admitted.target.column;
    let cast = || Conversion::Cast(render::base_type(&target.ty));
    let travel = match (admitted.mapped.spec.protection, format) {
        (Protection::Sealed, _) => Some(Travel::Sealed),
        (Protection::Plain, ValueFormat::Binary) => binary_travel(admitted, facts),
        (Protection::Plain, ValueFormat::Text) => None,
    };
    Column {
        spec: admitted.mapped.spec,
        source: admitted.mapped.source.name.clone(),
        formerly: Vec::new(),
        source_attnum: admitted.mapped.source.attnum,
        source_type: admitted.mapped.source.ty.clone(),
        target: target.name.clone(),
        target_type: target.ty.clone(),
        target_identity: target.generated == Generated::IdentityAlways,
        image: admitted.mapped.image,
        travel: travel.unwrap_or_else(|| Travel::Text {
            cast: facts.read_text(&target.ty).unwrap_or_else(cast),
        }),
    }
}

fn binary_travel(column: &AdmittedColumn<'_>, facts: &Facts) -> Option<Travel> {
    // What is sealed is the value's text, whatever becomes of its binary form.
    if column.mapped.spec.protection == Protection::Sealed {
        return None;
    }
    let BinaryForm { element, array } = binary_form(&column.mapped.source.ty)?;
    let target = column.target.ty();
    let copy = match column.pair? {
        Pair::Same | Pair::SameBytes => CopyBinary::Same,
        Pair::Widening => CopyBinary::NeedsCast,
        Pair::TextOnly => return None,
    };
    let cast = match element {
        oid::TEXT | oid::VARCHAR => facts.read_text(target)?,
        _ => Conversion::Cast(render::base_type(target)),
    };
    Some(Travel::Binary {
        element_oid: element,
        array_oid: array,
        cast: (target.base_oid != element).then_some(cast),
        copy,
    })
}

fn constraints(
    mode: DestinationConstraints,
    tables: &[Admitted<'_>],
    facts: &Facts,
) -> Constraints {
    match mode {
        DestinationConstraints::Trusted => Constraints::Trusted,
        DestinationConstraints::Deferred => Constraints::Deferred {
            foreign_keys: distinct(facts.foreign_keys.iter().map(|key| &key.name)),
            unique: distinct(
                tables
                    .iter()
                    .flat_map(|table| &table.facts.unique)
                    .filter_map(|index| index.deferrable.as_ref()),
            ),
        },
    }
}

/// SET CONSTRAINTS acts on every constraint of a name at once.
fn distinct<'a>(names: impl Iterator<Item = &'a QualifiedName>) -> Vec<QualifiedName> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(*name)).cloned().collect()
}

fn delete_and_reinsert(admitted: &Admitted<'_>, facts: &Facts) -> DeleteAndReinsert {
    let target = &admitted.mapped.target;
    // What an expression computes is computed again.
    let keeps = admitted.facts.columns.iter().any(|column| {
        column.column.generated != Generated::Expression
            && admitted
                .columns
                .iter()
                .all(|written| written.target.name() != column.name())
    });
    let observed = facts
        .foreign_keys
        .iter()
        .any(|key| key.to.table.as_ref() == Some(target) && !(key.deferrable && key.no_action));
    if observed || keeps {
        DeleteAndReinsert::Forbidden
    } else {
        DeleteAndReinsert::Allowed
    }
}
