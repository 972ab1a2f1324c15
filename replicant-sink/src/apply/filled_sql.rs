//! What the statements of histories and logs say: SQL text and the parameters it takes.
//!
//! Names are quoted, types and operators schema-qualified; no value is ever part of the text.

mod versions;

use replicant_checkpoint::contract::resource::Role;

use super::copy::CopyFormat;
use super::filled::{FilledParameter, Slot};
use super::sql::{List, cast, chosen, compared_in, sent_as};
use super::stamp::{Elements, element_cast, elements};
use crate::generation::{AXES, AppendLog, History, KeyColumn, Table};
use crate::plan::{Carrier, ColumnSet, Window};
use crate::seal::Head;

/// What a statement of a history or a log does.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub(crate) enum FilledAction {
    /// Closes the open versions of keys.
    Close,
    /// Answers the places of the keys whose version was never there.
    Lost,
    /// Answers a row when one of the keys has an open version that should have been closed.
    Unclosed,
    /// Answers a row when one of the versions is there.
    Recorded,
    /// Inserts versions.
    Version {
        window: Window,
        /// Columns looked up in the version before.
        carried: ColumnSet,
        carrier: Carrier,
        exists: Exists,
    },
    /// Inserts versions by COPY.
    CopyVersions(Window, CopyFormat),
    /// Answers the places of versions with a value of these columns that begins like this, and the bytes of their
    /// values.
    Carried(Vec<Head>),
    /// Answers the places of versions and their values of these columns.
    Values,
    /// Writes these columns of versions.
    Reseal,
    /// Inserts events; those that are there stay as they are.
    Events,
    /// Inserts events by COPY.
    CopyEvents(CopyFormat),
}

/// What a version that is there already means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Exists {
    /// A conflict.
    Conflict,
    /// Its transaction is written in several batches, and this one goes on with it.
    GoesOn,
}

/// A statement before it is prepared.
#[derive(Debug)]
pub(crate) struct FilledSql {
    pub(crate) text: String,
    pub(crate) parameters: Vec<FilledParameter>,
}

/// The statement of a history that does this with these columns of the table.
pub(super) fn of_history(
    table: &Table,
    history: &History,
    action: &FilledAction,
    columns: &ColumnSet,
) -> Option<FilledSql> {
    let mut writer = Writer::new(table);
    let text = match action {
        FilledAction::Close => writer.close(history),
        FilledAction::Lost => writer.lost(history),
        FilledAction::Unclosed => writer.unclosed(history),
        FilledAction::Recorded => writer.recorded(history),
        FilledAction::Version {
            window,
            carried,
            carrier,
            exists,
        } => writer.version(history, columns, (carried, *carrier), *window, *exists),
        FilledAction::Carried(heads) => writer.carried(history, columns, heads),
        FilledAction::Values => writer.values(history, columns),
        FilledAction::Reseal => writer.reseal(history, columns),
        FilledAction::CopyVersions(_, format) => copy(table, columns, &roles_of(history), *format),
        FilledAction::Events | FilledAction::CopyEvents(_) => return None,
    };
    Some(writer.finish(text))
}

/// The statement of a log that does this with these columns of the table.
pub(super) fn of_log(
    table: &Table,
    log: &AppendLog,
    action: &FilledAction,
    columns: &ColumnSet,
) -> Option<FilledSql> {
    let mut writer = Writer::new(table);
    let text = match action {
        FilledAction::Events => writer.events(log, columns),
        FilledAction::CopyEvents(format) => {
            let roles: Vec<_> = log
                .stamps
                .iter()
                .map(|stamp| (stamp.role, stamp.target.quoted().to_string()))
                .collect();
            copy(table, columns, &roles, *format)
        }
        _ => return None,
    };
    Some(writer.finish(text))
}

/// The filled columns of a version in the order in which a COPY has them.
pub(super) fn roles_of(history: &History) -> Vec<(Role, String)> {
    let History {
        from_lsn,
        to_lsn,
        from_time,
        to_time,
        current,
        recorded_until: _,
    } = history;
    [
        (Role::ValidFromLsn, Some(from_lsn)),
        (Role::ValidToLsn, Some(to_lsn)),
        (Role::ValidFrom, from_time.as_ref()),
        (Role::ValidTo, to_time.as_ref()),
        (Role::Current, current.as_ref()),
    ]
    .into_iter()
    .filter_map(|(role, column)| Some((role, column?.quoted().to_string())))
    .collect()
}

/// Closes every open version of a table that was opened at or before `$1`, at `$1` and, if it has a column for it,
/// the time `$2`.
pub(super) fn close_all(table: &Table, history: &History) -> String {
    let (from, to) = (history.from_lsn.quoted(), history.to_lsn.quoted());
    let mut set = List::new(", ");
    set.push(format_args!("{to} = $1"));
    if let Some(time) = &history.to_time {
        set.push(format_args!("{} = $2", time.quoted()));
    }
    if let Some(current) = &history.current {
        set.push(format_args!("{} = false", current.quoted()));
    }
    format!(
        "update {} as t set {set} where t.{to} is null and t.{from} OPERATOR(pg_catalog.<=) $1",
        table.target.quoted()
    )
}

fn copy(
    table: &Table,
    columns: &ColumnSet,
    roles: &[(Role, String)],
    format: CopyFormat,
) -> String {
    let mut names = List::new(", ");
    for (_, column) in chosen(table, columns) {
        names.push(column.target.quoted());
    }
    for (_, name) in roles {
        names.push(name);
    }
    let format = match format {
        CopyFormat::Binary => "binary",
        CopyFormat::Text => "text",
    };
    let target = table.target.quoted();
    format!("copy {target} ({names}) from stdin (format {format})")
}

struct Writer<'t> {
    table: &'t Table,
    parameters: Vec<FilledParameter>,
}

impl<'t> Writer<'t> {
    fn new(table: &'t Table) -> Self {
        Self {
            table,
            parameters: Vec::new(),
        }
    }

    fn finish(self, text: String) -> FilledSql {
        FilledSql {
            text,
            parameters: self.parameters,
        }
    }

    fn events(&mut self, log: &AppendLog, columns: &ColumnSet) -> String {
        let mut names = List::new(", ");
        let mut values = List::new(", ");
        for (index, column) in chosen(self.table, columns) {
            names.push(column.target.quoted());
            let value = self.own(index);
            values.push(cast(column, format_args!("{value}")));
        }
        for stamp in &log.stamps {
            names.push(stamp.target.quoted());
            let value = self.role(stamp.role);
            values.push(match element_cast(stamp.role) {
                Some(cast) => format!("cast({value} as {cast})"),
                None => value,
            });
        }
        let mut axes = List::new(", ");
        for axis in AXES.iter().filter_map(|axis| log.column(*axis)) {
            axes.push(axis.quoted());
        }
        format!(
            "insert into {} ({names}) select {values} from {} on conflict ({axes}) do nothing",
            self.table.target.quoted(),
            self.unnested(""),
        )
    }

    /// `alias.key OPERATOR(schema.=) value and ...`
    fn matched(&mut self, alias: &str, keys: &[KeyColumn], slot: impl Fn(usize) -> Slot) -> List {
        let mut matched = List::new(" and ");
        for key in keys {
            if let Some(column) = self.table.columns.get(key.column) {
                let (element, array) = sent_as(column);
                let value = self.take(slot(key.column), Elements { element, array });
                let value = cast(column, format_args!("{value}"));
                let stored = compared_in(alias, column);
                matched.push(format_args!("{stored} {} {value}", key.equals));
            }
        }
        matched
    }

    fn own(&mut self, index: usize) -> String {
        let sent = self.table.columns.get(index).map(sent_as);
        let (element, array) = sent.unwrap_or_default();
        self.take(Slot::Own(index), Elements { element, array })
    }

    fn role(&mut self, role: Role) -> String {
        self.take(Slot::Role(role), elements(role))
    }

    /// The name of a parameter's element; a parameter is sent once however often it is used.
    fn take(&mut self, slot: Slot, sent: Elements) -> String {
        let known = self
            .parameters
            .iter()
            .position(|parameter| parameter.slot == slot);
        let place = known.unwrap_or_else(|| {
            self.parameters.push(FilledParameter {
                slot,
                element: sent.element,
                array: sent.array,
            });
            self.parameters.len() - 1
        });
        format!("u.c{place}")
    }

    /// All parameters side by side. `unnest` with several arguments is special syntax of the unqualified name only.
    fn unnested(&self, ordinality: &str) -> String {
        let mut functions = List::new(", ");
        let mut names = List::new(", ");
        for place in 0..self.parameters.len() {
            functions.push(format_args!("pg_catalog.unnest(${})", place + 1));
            names.push(format_args!("c{place}"));
        }
        if !ordinality.is_empty() {
            names.push("n");
        }
        format!("rows from ({functions}){ordinality} as u ({names})")
    }
}
