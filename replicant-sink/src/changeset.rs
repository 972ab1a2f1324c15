//! What a hook holds: the row about to be written, and the handle that runs declared actions beside it.
//!
//! Both are doors to delivery, which keeps the row and the transaction: hooks neither see a connection nor a value
//! they did not ask for.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use replicant_checkpoint::contract::resource::ActionRef;
use replicant_transport::cell::Cell;

use crate::columns::{ColumnRef, Settable};
use crate::effects::OperationKey;
use crate::hooks::HookError;
use crate::resource::Resource;
use crate::tenant::Tenant;
use crate::text_form::TextForm;

/// The row an action is about to write.
pub struct Changeset<'a> {
    row: &'a mut dyn Row,
}

/// What delivery keeps of a row while hooks look at it.
pub trait Row: Send + Sync {
    /// The resource's [`PATH`](Resource::PATH).
    fn resource(&self) -> &'static str;
    /// The row's tenant, unless the resource has none.
    fn tenant(&self) -> Option<&Tenant>;
    /// The value of a field.
    ///
    /// # Errors
    /// When the resource has no such field, or it is filled only when the row is written.
    fn get(&self, field: &str) -> Result<Cell<'_>, HookError>;
    /// Replaces the value of a field by this text; `None` is NULL.
    ///
    /// # Errors
    /// When the field is protected, whatever its token said. The delivery stops then even if nobody looks.
    fn set(&mut self, field: &'static str, text: Option<String>) -> Result<(), HookError>;
}

impl<'a> Changeset<'a> {
    /// Looks at a row.
    pub fn new(row: &'a mut dyn Row) -> Self {
        Self { row }
    }

    /// The row's tenant, unless the resource has none. Nothing sets it.
    pub fn tenant(&self) -> Option<&Tenant> {
        self.row.tenant()
    }

    /// Is this a row of that resource? A hook may be named by several.
    pub fn is_of<R: Resource>(&self) -> bool {
        self.row.resource() == R::PATH
    }

    /// The value of a column.
    ///
    /// # Errors
    /// When the row is of another resource, when the value was not sent because the statement did not change it
    /// (see [`is_unchanged`](Self::is_unchanged)), or when the type cannot hold it.
    pub fn get<R: Resource, T: TextForm, P>(
        &self,
        column: ColumnRef<R, T, P>,
    ) -> Result<T, HookError> {
        read(self.cell(column)?)
    }

    /// Was the value left out because the statement did not change it?
    ///
    /// # Errors
    /// When the row is of another resource.
    pub fn is_unchanged<R: Resource, T, P>(
        &self,
        column: ColumnRef<R, T, P>,
    ) -> Result<bool, HookError> {
        Ok(self.cell(column)? == Cell::Unchanged)
    }

    /// Replaces the value of a column. Protected columns have no setter: the call does not compile for them.
    ///
    /// # Errors
    /// When the row is of another resource, or nothing of it can be set: a row that goes away, or one that is found by
    /// comparing all its columns.
    pub fn set<R: Resource, T: TextForm, P: Settable>(
        &mut self,
        column: ColumnRef<R, T, P>,
        value: T,
    ) -> Result<(), HookError> {
        self.cell(column)?;
        self.row.set(column.field(), value.write())
    }

    fn cell<R: Resource, T, P>(&self, column: ColumnRef<R, T, P>) -> Result<Cell<'_>, HookError> {
        if self.is_of::<R>() {
            self.row.get(column.field())
        } else {
            Err(HookError::new("column_of_another_resource"))
        }
    }
}

impl fmt::Debug for Changeset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Changeset({})", self.row.resource())
    }
}

/// The value of a cell.
fn read<T: TextForm>(cell: Cell<'_>) -> Result<T, HookError> {
    let text = match cell {
        Cell::Null => None,
        Cell::Text(bytes) => {
            Some(std::str::from_utf8(bytes).map_err(|_| HookError::new("value_not_text"))?)
        }
        Cell::Binary(_) => return Err(HookError::new("value_not_text")),
        Cell::Unchanged => return Err(HookError::new("value_unchanged")),
    };
    T::read(text).ok_or(HookError::new("value_outside_type"))
}

/// Runs exactly the actions a hook lists in `PARTICIPANTS`, inside the delivery transaction.
pub struct Actions<'a> {
    runner: &'a mut dyn Runner,
}

/// What an action does for a hook, running.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, HookError>> + Send + 'a>>;

/// What delivery does for a hook.
pub trait Runner: Send {
    /// Runs an action with these values of its fields.
    fn run(&mut self, action: ActionRef, values: Values) -> Doing<'_, ()>;
    /// Reads the row with these values of its key.
    fn find(&mut self, action: ActionRef, key: Values) -> Doing<'_, Option<Found>>;
    /// The key under which the action runs next.
    fn operation_key(&self, action: ActionRef) -> OperationKey;
}

impl<'a> Actions<'a> {
    /// A handle for one call of one hook.
    pub fn new(runner: &'a mut dyn Runner) -> Self {
        Self { runner }
    }

    /// Runs a declared action that writes: `Receipt::ACTIONS.record`.
    ///
    /// A create takes values of the fields it accepts. An update takes the resource's key, by which the row is found,
    /// and values of the fields it accepts; a destroy takes the key alone and is content when there is no row.
    ///
    /// # Errors
    /// When the action is not among the hook's participants, does not take the values, finds no row to update, or is
    /// refused by the destination. Each rolls the delivery back, also when the hook goes on.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the transaction to be rolled back.
    pub async fn run(&mut self, action: ActionRef, values: Values) -> Result<(), HookError> {
        self.runner.run(action, values).await
    }

    /// Reads the row that has these values of its resource's key: `Order::ACTIONS.read`. It is there as everything
    /// before the hook's change left it.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    ///
    /// # Cancel safety
    /// Dropping the future leaves the transaction to be rolled back.
    pub async fn find(
        &mut self,
        action: ActionRef,
        key: Values,
    ) -> Result<Option<Found>, HookError> {
        self.runner.find(action, key).await
    }

    /// What identifies the next run of this action wherever the change is delivered again: the source, the
    /// transaction, the change in it, what is done with its row, and the action.
    ///
    /// What a delivery writes is there once without it. It is for whoever acts on what was written.
    pub fn operation_key(&self, action: ActionRef) -> OperationKey {
        self.runner.operation_key(action)
    }
}

impl fmt::Debug for Actions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Actions(..)")
    }
}

/// A row that was read.
#[derive(Clone)]
pub struct Found {
    resource: &'static str,
    values: Vec<(&'static str, Option<String>)>,
}

impl Found {
    /// A row of this resource, by fields.
    pub fn new(resource: &'static str, values: Vec<(&'static str, Option<String>)>) -> Self {
        Self { resource, values }
    }

    /// The value of a column.
    ///
    /// # Errors
    /// When the row is of another resource, the column is sealed, or the type cannot hold its value.
    pub fn get<R: Resource, T: TextForm, P>(
        &self,
        column: ColumnRef<R, T, P>,
    ) -> Result<T, HookError> {
        if self.resource != R::PATH {
            return Err(HookError::new("column_of_another_resource"));
        }
        let mut values = self.values.iter();
        let (_, text) = values
            .find(|(field, _)| *field == column.field())
            .ok_or(HookError::new("value_not_read"))?;
        read(match text {
            None => Cell::Null,
            Some(text) => Cell::Text(text.as_bytes()),
        })
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Found({})", self.resource)
    }
}

/// What an action is given: values of fields.
#[derive(Clone, Default)]
pub struct Values(Vec<(&'static str, &'static str, Option<String>)>);

impl Values {
    /// No value yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds the value of a column. The action's accept list decides whether it may be given.
    #[must_use]
    pub fn with<R: Resource, T: TextForm, P>(
        mut self,
        column: ColumnRef<R, T, P>,
        value: &T,
    ) -> Self {
        self.0.push((R::PATH, column.field(), value.write()));
        self
    }

    /// Resource, field and text of each value; `None` is NULL.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str, Option<&str>)> {
        self.0
            .iter()
            .map(|(resource, field, text)| (*resource, *field, text.as_deref()))
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.0.iter().map(|(_, field, _)| field);
        f.debug_list().entries(fields).finish()
    }
}
