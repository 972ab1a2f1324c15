//! Do the destination's indexes keep versions and events apart, and do they let every one of them in?
//!
//! A history needs two: one that tells versions apart (business key and opening LSN), and one over the business key of
//! open versions, by which the open one is found and of which there is at most one. A log needs one over the five parts of an
//! event's identity. Any other unique index has to tell versions or events apart, or it refuses the second one.

use replicant_checkpoint::contract::resource::Role;
use replicant_transport::error::Site;
use replicant_transport::ident::Ident;
use replicant_transport::source::Session;

use super::columns::AdmittedColumn;
use super::coverage::Mapped;
use super::ddl;
use super::facts::{Table, UniqueIndex};
use super::row_match::{self, Matched};
use crate::ddl::statement::add_primary_key;
use crate::error::Error;
use crate::generation::{
    AXES, AppendLog, Folding, Held, History, RowMatch, SourceNames, Stamp, UpsertMeets,
};
use crate::reason::Reason;

/// Finds how versions of one table are found.
pub(super) fn match_versions(
    mapped: &Mapped<'_>,
    table: &Table,
    columns: &[AdmittedColumn<'_>],
    violations: &mut Vec<Error>,
) -> Option<Matched> {
    let from = mapped.stamp(Role::ValidFromLsn)?;
    let to = mapped.stamp(Role::ValidToLsn)?;
    let key: Vec<&Ident> = mapped
        .key()
        .iter()
        .filter_map(|index| columns.get(*index))
        .map(|column| column.target.name())
        .collect();
    check_primary_key(mapped, table, violations);
    let version: Vec<&Ident> = key.iter().copied().chain([from]).collect();
    check_narrow(mapped, table, &[from], violations);
    let open = table
        .unique
        .iter()
        .any(|index| index.columns_are(&key) && index.holds_where_null(to));
    if !open {
        let predicate = format!("{} is null", to.quoted());
        let fact = ddl::create_index(mapped, &key, Some(&predicate));
        let site = Site::table(&mapped.target).fact(fact);
        violations.push(Error::new(Reason::DestinationUniqueMissing, site));
    }
    let found = table
        .unique
        .iter()
        .find(|index| index.findable && index.columns_are(&version));
    let Some(index) = found else {
        violations.push(row_match::missing(mapped, &version));
        return None;
    };
    Some(row_match::matched(index, columns, None))
}

/// Checks how events of one table are told apart.
pub(super) fn match_events(
    mapped: &Mapped<'_>,
    table: &Table,
    violations: &mut Vec<Error>,
) -> Option<Matched> {
    let axes: Vec<&Ident> = AXES.iter().filter_map(|axis| mapped.stamp(*axis)).collect();
    check_primary_key(mapped, table, violations);
    let told = [Role::CommitLsn, Role::Ordinal];
    let told: Vec<&Ident> = told.iter().filter_map(|role| mapped.stamp(*role)).collect();
    check_narrow(mapped, table, &told, violations);
    let found = table
        .unique
        .iter()
        .any(|index| index.findable && index.columns_are(&axes));
    if !found {
        violations.push(row_match::missing(mapped, &axes));
    }
    // No event is ever looked for.
    Some(Matched {
        row_match: RowMatch::WholeRow,
        folding: Folding::RowOrder,
        upsert_meets: UpsertMeets::Own,
    })
}

/// How the rows of an admitted table are held.
pub(super) fn held(mapped: &Mapped<'_>, session: &Session) -> Held {
    let column = |role| mapped.stamp(role).cloned();
    if let (Some(from_lsn), Some(to_lsn)) = (column(Role::ValidFromLsn), column(Role::ValidToLsn)) {
        return Held::History(History {
            from_lsn,
            to_lsn,
            from_time: column(Role::ValidFrom),
            to_time: column(Role::ValidTo),
            current: column(Role::Current),
            recorded_until: None,
        });
    }
    if mapped.stamp(Role::CommitLsn).is_none() {
        return Held::Mirror;
    }
    let stamps = mapped.stamps.iter();
    Held::AppendLog(AppendLog {
        stamps: stamps
            .map(|stamp| Stamp {
                role: stamp.role,
                target: stamp.target.clone(),
            })
            .collect(),
        source: SourceNames {
            system: session.identity.system.to_string(),
            database: session.identity.database.clone(),
            slot: session.slot.as_str().to_owned(),
        },
    })
}

/// Rows that share everything else need a key of their own.
fn check_primary_key(mapped: &Mapped<'_>, table: &Table, violations: &mut Vec<Error>) {
    let key: Vec<Ident> = mapped
        .spec
        .primary_key
        .iter()
        .filter_map(|field| Ident::new(mapped.spec.column(field)?.target).ok())
        .collect();
    let names: Vec<&Ident> = key.iter().collect();
    let found = table
        .unique
        .iter()
        .any(|index| index.findable && index.columns_are(&names));
    if !found && !key.is_empty() {
        let fact = add_primary_key(&mapped.target, &key);
        let site = Site::table(&mapped.target).fact(fact);
        violations.push(Error::new(Reason::DestinationUniqueMissing, site));
    }
}

/// Reports unique indexes that have nothing by which the next version or event differs.
fn check_narrow(
    mapped: &Mapped<'_>,
    table: &Table,
    telling: &[&Ident],
    violations: &mut Vec<Error>,
) {
    for index in &table.unique {
        let tells =
            |name: &Ident| telling.contains(&name) || mapped.destination_made.contains(name);
        let narrow = index.predicate.is_none()
            && !index.columns.is_empty()
            && !index.columns.iter().any(|part| tells(&part.column));
        if narrow {
            let columns = ddl::list(index.columns.iter().map(|part| &part.column));
            let fact = format!(
                "a unique index over ({columns}) refuses the second one of a row: {}",
                ddl::drop_index(index)
            );
            let site = Site::table(&mapped.target).fact(fact);
            violations.push(Error::new(Reason::DestinationUniqueTooNarrow, site));
        }
    }
}

impl UniqueIndex {
    /// Is it over exactly these columns?
    pub(super) fn columns_are(&self, names: &[&Ident]) -> bool {
        self.columns.len() == names.len()
            && names
                .iter()
                .all(|name| self.columns.iter().any(|part| part.column == **name))
    }

    /// Is it an immediate index of exactly the rows in which this column is NULL?
    fn holds_where_null(&self, column: &Ident) -> bool {
        let predicate = self.predicate.as_deref().unwrap_or_default();
        let quoted = column.quoted().to_string();
        let bare = column.as_str();
        self.immediate
            && [quoted.as_str(), bare]
                .iter()
                .any(|name| predicate == format!("({name} IS NULL)"))
    }
}
