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
    /// The value of a field; `None` when the resource has no such field.
    fn get(&self, field: &str) -> Option<Cell<'_>>;
    /// Replaces the value of a field by this text; `None` is NULL.
    fn set(&mut self, field: &'static str, text: Option<String>);
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
        let text = match self.cell(column)? {
            Cell::Null => None,
            Cell::Text(bytes) => {
                Some(std::str::from_utf8(bytes).map_err(|_| HookError::new("value_not_text"))?)
            }
            Cell::Binary(_) => return Err(HookError::new("value_not_text")),
            Cell::Unchanged => return Err(HookError::new("value_unchanged")),
        };
        T::read(text).ok_or(HookError::new("value_outside_type"))
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
    /// When the row is of another resource.
    pub fn set<R: Resource, T: TextForm, P: Settable>(
        &mut self,
        column: ColumnRef<R, T, P>,
        value: T,
    ) -> Result<(), HookError> {
        self.cell(column)?;
        self.row.set(column.field(), value.write());
        Ok(())
    }

    fn cell<R: Resource, T, P>(&self, column: ColumnRef<R, T, P>) -> Result<Cell<'_>, HookError> {
        let ours = self.is_of::<R>();
        let cell = ours.then(|| self.row.get(column.field())).flatten();
        cell.ok_or(HookError::new("column_of_another_resource"))
    }
}

impl fmt::Debug for Changeset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Changeset({})", self.row.resource())
    }
}

/// Runs exactly the actions a hook lists in `PARTICIPANTS`, inside the delivery transaction.
pub struct Actions<'a> {
    runner: &'a mut dyn Runner,
}

/// What delivery does for a hook.
pub trait Runner: Send {
    /// Runs an action with these values of its fields.
    fn run<'a>(
        &'a mut self,
        action: ActionRef,
        values: Values,
    ) -> Pin<Box<dyn Future<Output = Result<(), HookError>> + Send + 'a>>;
}

impl<'a> Actions<'a> {
    /// A handle for one call of one hook.
    pub fn new(runner: &'a mut dyn Runner) -> Self {
        Self { runner }
    }

    /// Runs a declared action: `Receipt::ACTIONS.record`.
    ///
    /// Its operation key holds the change it belongs to, so that it takes effect once however often it is delivered.
    ///
    /// # Errors
    /// When the action is not among the hook's participants, or fails; either rolls the delivery back.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the transaction to be rolled back.
    pub async fn run(&mut self, action: ActionRef, values: Values) -> Result<(), HookError> {
        self.runner.run(action, values).await
    }
}

impl fmt::Debug for Actions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Actions(..)")
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
