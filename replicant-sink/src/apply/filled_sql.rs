//! What the statements of histories and logs say: SQL text and the parameters it takes.
//!
//! Names are quoted, types and operators schema-qualified; no value is ever part of the text.

use replicant_checkpoint::contract::resource::Role;

use super::copy::CopyFormat;
use super::filled::{FilledParameter, Slot};
use super::sql::{List, cast, chosen, compared_in, is_key, sent_as};
use super::stamp::{Elements, NUMBERS, element_cast, elements};
use crate::generation::{AXES, AppendLog, Folding, History, KeyColumn, Table};
use crate::plan::{Carrier, ColumnSet, Window};

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

    /// The open version is the one that the index of open versions has. It must not be looked for by its opening LSN:
    /// a key with many versions would be read from its beginning, so that LSN is compared as an expression.
    fn close(&mut self, history: &History) -> String {
        let matched = self.matched("t", self.table.row_match.key(), Slot::Own);
        let (from, to) = (history.from_lsn.quoted(), history.to_lsn.quoted());
        let mut set = List::new(", ");
        set.push(format_args!("{to} = {}", self.role(Role::ValidToLsn)));
        if let Some(time) = &history.to_time {
            let value = self.role(Role::ValidTo);
            set.push(format_args!("{} = {value}", time.quoted()));
        }
        if let Some(current) = &history.current {
            set.push(format_args!("{} = false", current.quoted()));
        }
        let reach = self.take(Slot::Reach, NUMBERS);
        format!(
            "update {} as t set {set} from {} where {matched} and t.{to} is null \
             and t.{from} OPERATOR(pg_catalog.+) 0 OPERATOR(pg_catalog.<=) {reach}",
            self.table.target.quoted(),
            self.unnested(""),
        )
    }

    /// A version that is replaced is open, or its transaction opened it, or closed it in an earlier batch.
    fn lost(&mut self, history: &History) -> String {
        let before = self.before(history, Slot::Own, Slot::Role(Role::ValidToLsn));
        let (from, to) = (history.from_lsn.quoted(), history.to_lsn.quoted());
        let at = before.at;
        format!(
            "select u.n from {} where not exists (select from ({}) as p where p.{to} is null \
             or p.{to} OPERATOR(pg_catalog.=) {at} or p.{from} OPERATOR(pg_catalog.=) {at})",
            self.unnested(" with ordinality"),
            before.query,
        )
    }

    /// A version that the closing transaction opened itself is another row's, or comes and goes with it.
    fn unclosed(&mut self, history: &History) -> String {
        let matched = self.matched("t", self.table.row_match.key(), Slot::Own);
        let at = self.role(Role::ValidToLsn);
        let (from, to) = (history.from_lsn.quoted(), history.to_lsn.quoted());
        format!(
            "select from {} inner join {} as t on {matched} and t.{to} is null \
             and t.{from} OPERATOR(pg_catalog.+) 0 OPERATOR(pg_catalog.<) {at} limit 1",
            self.unnested(""),
            self.table.target.quoted(),
        )
    }

    /// One row tells that the versions are this source's.
    fn recorded(&mut self, history: &History) -> String {
        let matched = self.matched("t", self.table.row_match.key(), Slot::Own);
        let opened = self.role(Role::ValidFromLsn);
        format!(
            "select from {} inner join {} as t on {matched} and t.{} OPERATOR(pg_catalog.=) {opened} \
             limit 1",
            self.unnested(""),
            self.table.target.quoted(),
            history.from_lsn.quoted(),
        )
    }

    fn version(
        &mut self,
        history: &History,
        columns: &ColumnSet,
        (carried, needed): (&ColumnSet, Carrier),
        window: Window,
        exists: Exists,
    ) -> String {
        let (from, to) = (history.from_lsn.quoted(), history.to_lsn.quoted());
        let mut names = List::new(", ");
        let mut values = List::new(", ");
        for (index, column) in chosen(self.table, columns) {
            names.push(column.target.quoted());
            let value = self.own(index);
            values.push(cast(column, format_args!("{value}")));
        }
        for (_, column) in chosen(self.table, carried) {
            let name = column.target.quoted();
            names.push(name);
            values.push(format_args!("p.{name}"));
        }
        let opened = self.role(Role::ValidFromLsn);
        names.push(from);
        values.push(&opened);
        if let Some(time) = &history.from_time {
            names.push(time.quoted());
            let value = self.role(Role::ValidFrom);
            values.push(value);
        }
        names.push(to);
        values.push(match window {
            Window::Closed => self.role(Role::ValidToLsn),
            Window::Open => "cast(null as pg_catalog.int8)".to_owned(),
        });
        if let Some(time) = &history.to_time {
            names.push(time.quoted());
            values.push(match window {
                Window::Closed => self.role(Role::ValidTo),
                Window::Open => "cast(null as pg_catalog.timestamptz)".to_owned(),
            });
        }
        if let Some(current) = &history.current {
            names.push(current.quoted());
            values.push(match window {
                Window::Closed => "false",
                Window::Open => "true",
            });
        }
        let mut carrier = String::new();
        if !carried.is_empty() {
            let version = self.carrier(history);
            carrier = match needed {
                Carrier::Needed => format!(" cross join lateral ({version}) as p"),
                Carrier::Welcome => format!(" left join lateral ({version}) as p on true"),
            };
        }
        let overriding = if self.table.overriding_system_value {
            " overriding system value"
        } else {
            ""
        };
        let insert = format!(
            "insert into {} as t ({names}){overriding} select {values} from {}{carrier}",
            self.table.target.quoted(),
            self.unnested(""),
        );
        match exists {
            Exists::Conflict => insert,
            Exists::GoesOn => insert + &self.goes_on(history, columns, carried),
        }
    }

    /// The same transaction opened the version in an earlier batch. If it closed it there, another row has the key now.
    fn goes_on(&self, history: &History, columns: &ColumnSet, carried: &ColumnSet) -> String {
        let (from, to) = (history.from_lsn.quoted(), history.to_lsn.quoted());
        let keys = self.table.row_match.key();
        let mut target = List::new(", ");
        for key in keys {
            if let Some(column) = self.table.columns.get(key.column) {
                target.push(column.target.quoted());
            }
        }
        target.push(from);
        let mut set = List::new(", ");
        for (index, column) in chosen(self.table, columns) {
            // Where equality is coarser than the text, the key's spelling is a value like any other.
            let kept = is_key(keys, index) && self.table.folding == Folding::PerKey;
            if !kept && !column.target_identity {
                let name = column.target.quoted();
                set.push(format_args!("{name} = excluded.{name}"));
            }
        }
        for (_, column) in chosen(self.table, carried).filter(|(_, column)| !column.target_identity)
        {
            let name = column.target.quoted();
            set.push(format_args!(
                "{name} = case when t.{to} is null then t.{name} else excluded.{name} end"
            ));
        }
        let times = [&history.to_time, &history.current];
        for name in times.into_iter().flatten().chain([&history.to_lsn]) {
            let name = name.quoted();
            set.push(format_args!("{name} = excluded.{name}"));
        }
        format!(" on conflict ({target}) do update set {set}")
    }

    /// The version whose values are carried over: the one that the transaction opened, else the one it closed.
    fn carrier(&mut self, history: &History) -> String {
        let Before { query, at } = self.before(history, Slot::Carrier, Slot::CarrierLsn);
        let (from, to) = (history.from_lsn.quoted(), history.to_lsn.quoted());
        format!(
            "select w.* from ({query}) as w where w.{to} OPERATOR(pg_catalog.=) {at} \
             or w.{from} OPERATOR(pg_catalog.=) {at}"
        )
    }

    /// The last version of a key that was opened at or before an LSN.
    fn before(&mut self, history: &History, key: impl Fn(usize) -> Slot, lsn: Slot) -> Before {
        let matched = self.matched("x", self.table.row_match.key(), key);
        let at = self.take(lsn, NUMBERS);
        let from = history.from_lsn.quoted();
        let query = format!(
            "select x.* from {} as x where {matched} and x.{from} OPERATOR(pg_catalog.<=) {at} \
             order by x.{from} desc limit 1",
            self.table.target.quoted()
        );
        Before { query, at }
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

/// A lookup, and the LSN it looks before.
struct Before {
    query: String,
    at: String,
}
