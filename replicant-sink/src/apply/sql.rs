//! What a statement says: SQL text and the parameters it takes, derived from the generation alone.
//!
//! Every set statement takes one array per column, as `$1, $2, ...`, and unnests them side by side. Names are
//! quoted, types and operators schema-qualified; no value is ever part of the text.

use std::fmt::{self, Write as _};

use replicant_transport::source::TypeKind;

use crate::admission::numeric_digits;
use crate::generation::{
    Column, Conversion, Folding, KeyColumn, RowMatch, Table, Travel, UpsertMeets,
};
use crate::plan::ColumnSet;

/// What a statement does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Action {
    /// Inserts; a conflict is an error.
    Insert,
    /// Inserts, or replaces the row of the same key.
    Upsert,
    /// Updates the rows found by key; the key stays.
    Update,
    /// Updates the rows found by the old image; the key is among the columns set.
    Move,
    /// Deletes the rows found by the old image.
    Delete,
    /// Answers the 1-based places of the keys that no row has.
    Absent,
    /// Answers the place and the stored columns of the keys that a row has.
    Stored,
    /// COPY of whole rows, in the format the cells are in.
    Copy,
}

/// Which image of an effect a parameter is taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// The image that finds the row.
    Old,
    /// The image that is written.
    New,
}

/// One parameter: an array of one column's cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parameter {
    pub(crate) side: Side,
    pub(crate) column: usize,
    /// Object id of the array's elements.
    pub(crate) element: u32,
    /// Object id of the array.
    pub(crate) array: u32,
}

/// A statement before it is prepared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sql {
    pub(crate) text: String,
    pub(crate) parameters: Vec<Parameter>,
}

const TEXT: u32 = 25;
const TEXT_ARRAY: u32 = 1009;
const BYTEA: u32 = 17;
const BYTEA_ARRAY: u32 = 1001;
const NUMERIC: u32 = 1700;

/// The statement that does this with these columns of the table.
pub(crate) fn sql(table: &Table, action: Action, columns: &ColumnSet) -> Sql {
    let mut writer = Writer {
        table,
        parameters: Vec::new(),
    };
    let text = match action {
        Action::Insert => writer.insert(columns),
        Action::Upsert => writer.upsert(columns),
        Action::Update => writer.update(columns),
        Action::Move => match &table.row_match {
            RowMatch::Key(keys) => writer.relocate(keys, columns),
            RowMatch::WholeRow => writer.relocate_one(columns),
        },
        Action::Delete => match &table.row_match {
            RowMatch::Key(keys) => writer.delete(keys),
            RowMatch::WholeRow => writer.delete_one(),
        },
        Action::Absent => writer.absent(),
        Action::Stored => writer.stored(),
        Action::Copy => copy(table, columns),
    };
    Sql {
        text,
        parameters: writer.parameters,
    }
}

/// Deletes every row of a table.
pub(super) fn empty(table: &Table) -> String {
    format!("delete from {}", table.target.quoted())
}

struct Writer<'t> {
    table: &'t Table,
    parameters: Vec<Parameter>,
}

impl<'t> Writer<'t> {
    fn insert(&mut self, columns: &ColumnSet) -> String {
        let mut text = String::new();
        let mut names = List::new(", ");
        let mut values = List::new(", ");
        for (index, column) in chosen(self.table, columns) {
            names.push(column.target.quoted());
            let place = self.take(Side::New, index, column);
            values.push(cast(column, format_args!("u.c{place}")));
        }
        let overriding = if self.table.overriding_system_value {
            " overriding system value"
        } else {
            ""
        };
        let alias = match self.table.upsert_meets {
            UpsertMeets::Own => "",
            UpsertMeets::AnyTenants(_) => " as t",
        };
        put(
            &mut text,
            format_args!(
                "insert into {}{alias} ({names}){overriding} select {values} from {}",
                self.table.target.quoted(),
                self.unnested(Ordinality::Without),
            ),
        );
        text
    }

    fn upsert(&mut self, columns: &ColumnSet) -> String {
        let mut text = self.insert(columns);
        let RowMatch::Key(keys) = &self.table.row_match else {
            return text;
        };
        let tenant = match self.table.upsert_meets {
            UpsertMeets::Own => None,
            UpsertMeets::AnyTenants(column) => keys.iter().find(|key| key.column == column),
        };
        let mut target = List::new(", ");
        for key in keys.iter().filter(|key| tenant != Some(*key)) {
            if let Some(column) = self.table.columns.get(key.column) {
                target.push(column.target.quoted());
            }
        }
        let mut set = List::new(", ");
        for (index, column) in chosen(self.table, columns) {
            // Where equality is coarser than the text, the key's spelling is a value like any other.
            let kept = is_key(keys, index) && self.table.folding == Folding::PerKey;
            if !kept && !column.target_identity {
                let name = column.target.quoted();
                set.push(format_args!("{name} = excluded.{name}"));
            }
        }
        if let Some((tenant, column)) =
            tenant.and_then(|key| Some((key, self.table.columns.get(key.column)?)))
        {
            // The row of another tenant is not touched, and the count tells; so every row must count.
            let name = column.target.quoted();
            if set.is_empty() {
                set.push(format_args!("{name} = excluded.{name}"));
            }
            put(
                &mut text,
                format_args!(
                    " on conflict ({target}) do update set {set} where t.{name} {} excluded.{name}",
                    tenant.equals
                ),
            );
            return text;
        }
        if set.is_empty() {
            put(
                &mut text,
                format_args!(" on conflict ({target}) do nothing"),
            );
        } else {
            put(
                &mut text,
                format_args!(" on conflict ({target}) do update set {set}"),
            );
        }
        text
    }

    fn update(&mut self, columns: &ColumnSet) -> String {
        let keys = self.table.row_match.key();
        let mut matched = self.matched(keys, Side::New);
        let mut set = List::new(", ");
        for (index, column) in chosen(self.table, columns) {
            if is_key(keys, index) {
                continue;
            }
            let place = self.take(Side::New, index, column);
            let value = cast(column, format_args!("u.c{place}"));
            let name = column.target.quoted();
            if column.target_identity {
                // An identity column cannot be set, so it must already have the value; a row that differs is not
                // found and the count tells.
                matched.push(format_args!("t.{name} OPERATOR(pg_catalog.=) {value}"));
            } else {
                set.push(format_args!("{name} = {value}"));
            }
        }
        self.update_text(&set, &matched)
    }

    fn relocate(&mut self, keys: &[KeyColumn], columns: &ColumnSet) -> String {
        let matched = self.matched(keys, Side::Old);
        let set = self.set(columns);
        self.update_text(&set, &matched)
    }

    fn set(&mut self, columns: &ColumnSet) -> List {
        let mut set = List::new(", ");
        for (index, column) in chosen(self.table, columns) {
            if !column.target_identity {
                let place = self.take(Side::New, index, column);
                let value = cast(column, format_args!("u.c{place}"));
                set.push(format_args!("{} = {value}", column.target.quoted()));
            }
        }
        set
    }

    fn update_text(&self, set: &List, matched: &List) -> String {
        format!(
            "update {} as t set {set} from {} where {matched}",
            self.table.target.quoted(),
            self.unnested(Ordinality::Without),
        )
    }

    fn delete(&mut self, keys: &[KeyColumn]) -> String {
        let matched = self.matched(keys, Side::Old);
        format!(
            "delete from {} as t using {} where {matched}",
            self.table.target.quoted(),
            self.unnested(Ordinality::Without),
        )
    }

    fn delete_one(&mut self) -> String {
        let one = self.one();
        format!(
            "{one} delete from {} as t where {ONE_MATCHES}",
            self.table.target.quoted()
        )
    }

    fn relocate_one(&mut self, columns: &ColumnSet) -> String {
        let one = self.one();
        let set = self.set(columns);
        format!(
            "{one} update {} as t set {set} from {} where {ONE_MATCHES}",
            self.table.target.quoted(),
            self.unnested(Ordinality::Without),
        )
    }

    /// A common table expression that holds the address of one row equal to the old image.
    ///
    /// Rows are compared by their image (`*=`): NULLs are equal, every type can be compared, and values that are
    /// equal but not the same (`1.0` and `1.00`) are told apart, as the source does. So the wanted value must have
    /// the image that storing it makes: a scale in the destination adds zeros (`1.5` is stored as `1.5000`).
    fn one(&mut self) -> String {
        let mut stored = List::new(", ");
        let mut wanted = List::new(", ");
        let table = self.table;
        for (index, column) in table.columns.iter().enumerate() {
            let place = self.take(Side::Old, index, column);
            let name = column.target.quoted();
            // Both sides have the base type; a domain and its base type would not compare.
            let base = column.target_type.base_name.quoted();
            stored.push(format_args!("cast(t.{name} as {base})"));
            let value = cast(column, format_args!("(${})[1]", place + 1));
            let scale = scale(column);
            wanted.push(format_args!("cast({value} as {base}{scale})"));
        }
        format!(
            "with one as materialized (select t.tableoid as part, t.ctid as place from {} as t \
             where cast(row({stored}) as pg_catalog.record) OPERATOR(pg_catalog.*=) \
             cast(row({wanted}) as pg_catalog.record) limit 1 for update)",
            self.table.target.quoted()
        )
    }

    fn absent(&mut self) -> String {
        let matched = self.matched(self.table.row_match.key(), Side::Old);
        format!(
            "select u.n from {} where not exists (select from {} as t where {matched})",
            self.unnested(Ordinality::With),
            self.table.target.quoted(),
        )
    }

    fn stored(&mut self) -> String {
        let matched = self.matched(self.table.row_match.key(), Side::Old);
        let mut columns = List::new(", ");
        for column in &self.table.columns {
            columns.push(stored_value(column));
        }
        format!(
            "select u.n, {columns} from {} inner join {} as t on {matched}",
            self.unnested(Ordinality::With),
            self.table.target.quoted(),
        )
    }

    /// `t.key OPERATOR(schema.=) value and ...`
    fn matched(&mut self, keys: &[KeyColumn], side: Side) -> List {
        let mut matched = List::new(" and ");
        for key in keys {
            if let Some(column) = self.table.columns.get(key.column) {
                let place = self.take(side, key.column, column);
                let value = cast(column, format_args!("u.c{place}"));
                let stored = compared(column);
                matched.push(format_args!("{stored} {} {value}", key.equals));
            }
        }
        matched
    }

    /// All parameters side by side. `unnest` with several arguments is special syntax of the unqualified name only.
    fn unnested(&self, ordinality: Ordinality) -> String {
        let mut functions = List::new(", ");
        let mut names = List::new(", ");
        for place in 0..self.parameters.len() {
            functions.push(format_args!("pg_catalog.unnest(${})", place + 1));
            names.push(format_args!("c{place}"));
        }
        match ordinality {
            Ordinality::Without => format!("rows from ({functions}) as u ({names})"),
            Ordinality::With => {
                format!("rows from ({functions}) with ordinality as u ({names}, n)")
            }
        }
    }

    fn take(&mut self, side: Side, column: usize, described: &Column) -> usize {
        let (element, array) = sent_as(described);
        self.parameters.push(Parameter {
            side,
            column,
            element,
            array,
        });
        self.parameters.len() - 1
    }
}

#[derive(Clone, Copy)]
enum Ordinality {
    With,
    Without,
}

const ONE_MATCHES: &str = "t.ctid OPERATOR(pg_catalog.=) (select one.place from one) \
    and t.tableoid OPERATOR(pg_catalog.=) (select one.part from one)";

/// `("a", "b")` of a COPY. Binary cells go as they are; text cells go in COPY's text format.
fn copy(table: &Table, columns: &ColumnSet) -> String {
    let mut names = List::new(", ");
    let mut binary = false;
    for (_, column) in chosen(table, columns) {
        names.push(column.target.quoted());
        binary |= matches!(column.travel, Travel::Binary { .. });
    }
    let format = if binary { "binary" } else { "text" };
    let target = table.target.quoted();
    format!("copy {target} ({names}) from stdin (format {format})")
}

pub(super) fn chosen<'t>(
    table: &'t Table,
    columns: &ColumnSet,
) -> impl Iterator<Item = (usize, &'t Column)> {
    table
        .columns
        .iter()
        .enumerate()
        .filter(|(index, _)| columns.contains(*index))
}

pub(super) fn is_key(keys: &[KeyColumn], column: usize) -> bool {
    keys.iter().any(|key| key.column == column)
}

/// The parameter's element as a value of the destination's base type.
pub(super) fn cast(column: &Column, value: fmt::Arguments<'_>) -> String {
    match &column.travel {
        Travel::Binary { cast: None, .. } | Travel::Sealed => value.to_string(),
        Travel::Binary {
            cast: Some(cast), ..
        }
        | Travel::Text { cast } => match cast {
            Conversion::Cast(ty) => format!("cast({value} as {ty})"),
            Conversion::ThroughArray(array) => {
                format!("(cast(cast(array[{value}] as pg_catalog.text) as {array}))[1]")
            }
            Conversion::Input { function, further } => {
                format!("{function}(pg_catalog.textout({value}){further})")
            }
        },
    }
}

/// The modifier of a numeric column or one of numeric arrays, as a cast writes it. Of the types that are not
/// refused for losing something, it is the only one whose modifier changes the image of a value that fits.
fn scale(column: &Column) -> String {
    let ty = &column.target_type;
    if ty.element().unwrap_or(ty).base_oid != NUMERIC {
        return String::new();
    }
    match numeric_digits(ty.modifier) {
        Some(digits) => format!("({}, {})", digits.precision, digits.scale),
        None => String::new(),
    }
}

/// The stored value as an operand beside [`cast`]: equality of enums, arrays and ranges wants both of one type.
fn compared(column: &Column) -> String {
    compared_in("t", column)
}

/// The same of the row that this alias means.
pub(super) fn compared_in(alias: &str, column: &Column) -> String {
    let name = column.target.quoted();
    match column.target_type.kind {
        TypeKind::Domain => {
            let base = column.target_type.base_name.quoted();
            format!("cast({alias}.{name} as {base})")
        }
        _ => format!("{alias}.{name}"),
    }
}

/// Object ids of the elements and of the array in which a column's cells are sent.
pub(super) fn sent_as(column: &Column) -> (u32, u32) {
    match &column.travel {
        Travel::Binary {
            element_oid,
            array_oid,
            ..
        } => (*element_oid, *array_oid),
        Travel::Text { .. } => (TEXT, TEXT_ARRAY),
        Travel::Sealed => (BYTEA, BYTEA_ARRAY),
    }
}

/// The stored value in the form its parameter would have: the way back of [`cast`].
fn stored_value(column: &Column) -> String {
    let name = column.target.quoted();
    match &column.travel {
        Travel::Binary { cast: None, .. } | Travel::Sealed => {
            // A domain is sent in its base type's form.
            format!("t.{name}")
        }
        Travel::Binary { element_oid, .. } => {
            let element = postgres_types::Type::from_oid(*element_oid);
            match element {
                Some(element) => format!("cast(t.{name} as pg_catalog.\"{}\")", element.name()),
                None => format!("t.{name}"),
            }
        }
        // `format('%s')` is the type's own output function, which a cast to text is not for every type.
        Travel::Text { .. } => format!(
            "case when pg_catalog.num_nulls(t.{name}) OPERATOR(pg_catalog.=) 1 then null \
             else pg_catalog.format('%s', t.{name}) end"
        ),
    }
}

/// A separated list under construction.
pub(super) struct List {
    separator: &'static str,
    text: String,
}

impl List {
    pub(super) fn new(separator: &'static str) -> Self {
        Self {
            separator,
            text: String::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn push(&mut self, item: impl fmt::Display) {
        if !self.text.is_empty() {
            self.text.push_str(self.separator);
        }
        put(&mut self.text, format_args!("{item}"));
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn put(text: &mut String, arguments: fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(arguments);
}
