//! What the statements of histories say: versions are closed, looked for, inserted and sealed anew.

use replicant_checkpoint::contract::resource::Role;

use super::super::filled::Slot;
use super::super::sql::{List, cast, chosen, is_key};
use super::super::stamp::NUMBERS;
use super::{Exists, Writer};
use crate::generation::{Folding, History};
use crate::plan::{Carrier, ColumnSet, Window};
use crate::seal::Head;

impl Writer<'_> {
    /// The open version is the one that the index of open versions has. It must not be looked for by its opening LSN:
    /// a key with many versions would be read from its beginning, so that LSN is compared as an expression.
    pub(super) fn close(&mut self, history: &History) -> String {
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
    pub(super) fn lost(&mut self, history: &History) -> String {
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
    pub(super) fn unclosed(&mut self, history: &History) -> String {
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
    pub(super) fn recorded(&mut self, history: &History) -> String {
        format!("select from {} limit 1", self.joined(history, ""))
    }

    pub(super) fn version(
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

    /// The versions that carry a value which begins like this, and how many bytes their values have.
    pub(super) fn carried(
        &mut self,
        history: &History,
        columns: &ColumnSet,
        heads: &[Head],
    ) -> String {
        let mut bytes = List::new(" OPERATOR(pg_catalog.+) ");
        let mut any = List::new(" or ");
        for (_, column) in chosen(self.table, columns) {
            let name = column.target.quoted();
            bytes.push(format_args!(
                "coalesce(pg_catalog.octet_length(t.{name}), 0)::pg_catalog.int8"
            ));
            for head in heads {
                any.push(format_args!(
                    "pg_catalog.substr(t.{name}, 1, {}) OPERATOR(pg_catalog.=) {}",
                    head.len(),
                    head.literal()
                ));
            }
        }
        let versions = self.joined(history, " with ordinality");
        format!("select u.n, {bytes} from {versions} where {any}")
    }

    /// These columns of versions.
    pub(super) fn values(&mut self, history: &History, columns: &ColumnSet) -> String {
        let mut names = List::new(", ");
        for (_, column) in chosen(self.table, columns) {
            names.push(format_args!("t.{}", column.target.quoted()));
        }
        let versions = self.joined(history, " with ordinality");
        format!("select u.n, {names} from {versions}")
    }

    /// The versions of these keys that were opened at these LSNs, as `t`.
    fn joined(&mut self, history: &History, ordinality: &str) -> String {
        let matched = self.matched("t", self.table.row_match.key(), Slot::Own);
        let opened = self.role(Role::ValidFromLsn);
        format!(
            "{} inner join {} as t on {matched} and t.{} OPERATOR(pg_catalog.=) {opened}",
            self.unnested(ordinality),
            self.table.target.quoted(),
            history.from_lsn.quoted(),
        )
    }

    /// Gives versions other envelopes of the values they have.
    pub(super) fn reseal(&mut self, history: &History, columns: &ColumnSet) -> String {
        let matched = self.matched("t", self.table.row_match.key(), Slot::Own);
        let opened = self.role(Role::ValidFromLsn);
        let mut set = List::new(", ");
        for (index, column) in chosen(self.table, columns) {
            let value = self.own(index);
            set.push(format_args!("{} = {value}", column.target.quoted()));
        }
        format!(
            "update {} as t set {set} from {} where {matched} \
             and t.{} OPERATOR(pg_catalog.=) {opened}",
            self.table.target.quoted(),
            self.unnested(""),
            history.from_lsn.quoted(),
        )
    }
}

/// A lookup, and the LSN it looks before.
struct Before {
    query: String,
    at: String,
}
