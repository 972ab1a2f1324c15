//! The row that an action of an auxiliary resource is about to write: what a hook gave it, as far as it accepts that.

use replicant_checkpoint::contract::action::ActionKind;
use replicant_checkpoint::contract::message::OPERATION_KEY_FIELD;
use replicant_checkpoint::contract::resource::{
    Accept, ActionSpec, Origin, ResourceSpec, Visibility,
};
use replicant_transport::cell::Cell;

use super::calls::{is_settable, tells_tenant};
use super::row::{Guarded, as_cell};
use crate::changeset::{Row, Values};
use crate::effects::OperationKey;
use crate::generation::Table;
use crate::hooks::HookError;
use crate::tenant::Tenant;

/// Why an action does not take the values.
pub(super) struct Untaken(pub(super) String);

/// Values of an auxiliary row, by column of its table.
pub(super) struct Given<'g> {
    table: &'g Table,
    action: &'static ActionSpec,
    /// `None` is not given, `Some(None)` is NULL.
    values: Vec<Option<Option<String>>>,
    tenant: Option<Tenant>,
    refused: Option<&'static str>,
}

impl<'g> Given<'g> {
    /// What an action that writes takes of these values.
    ///
    /// # Errors
    /// When it does not take one of them, or lacks the key by which it finds its row.
    pub(super) fn new(
        table: &'g Table,
        action: &'static ActionSpec,
        values: &Values,
        tenant: Option<&Tenant>,
    ) -> Result<Self, Untaken> {
        let mut given = Self {
            table,
            action,
            values: vec![None; table.columns.len()],
            tenant: tenant.cloned(),
            refused: None,
        };
        let finds = action.kind != ActionKind::Create;
        let keys = table.spec.key_fields();
        for (resource, field, text) in values.iter() {
            let is_key = finds && keys.contains(&field);
            let takes =
                resource == table.spec.rust_path && (is_key || accepts(table.spec, action, field));
            if !takes {
                return Err(Untaken(format!("it does not take {field}")));
            }
            // Whose row it is does not depend on what a hook says.
            if let Some(tenant) = tenant
                && tells_tenant(table.spec, field)
            {
                if text != Some(tenant.as_str()) {
                    return Err(Untaken(format!("{field} names another tenant")));
                }
                continue;
            }
            given.put(field, text.map(str::to_owned))?;
        }
        given.scope()?;
        if finds {
            given.require_key(keys)?;
        }
        Ok(given)
    }

    /// The key of a row that is read.
    ///
    /// # Errors
    /// When it is not exactly that.
    pub(super) fn key(
        table: &'g Table,
        action: &'static ActionSpec,
        values: &Values,
        tenant: Option<&Tenant>,
    ) -> Result<Self, Untaken> {
        // A read accepts no field, so that only its key is taken.
        Self::new(table, action, values, tenant)
    }

    /// Notes the key under which the action runs, where the resource has a private field for it.
    pub(super) fn note(&mut self, key: &OperationKey) -> Result<(), Untaken> {
        let kept = self.table.spec.column(OPERATION_KEY_FIELD);
        if kept.is_some_and(|column| column.visibility == Visibility::Private) {
            self.put(OPERATION_KEY_FIELD, Some(key.as_str().to_owned()))?;
        }
        Ok(())
    }

    /// One cell for each column of the table.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.values.iter().map(|value| match value {
            None => Cell::Unchanged,
            Some(text) => as_cell(text.as_deref()),
        })
    }

    /// Makes it a row of the change's tenant.
    fn scope(&mut self) -> Result<(), Untaken> {
        let table = self.table;
        for column in &table.columns {
            let field = column.spec.field;
            if !tells_tenant(table.spec, field) {
                continue;
            }
            match &self.tenant {
                Some(tenant) => {
                    let text = tenant.as_str().to_owned();
                    self.put(field, Some(text))?;
                }
                // A row of nobody is found like one of nobody, which no key does.
                None if self.action.kind != ActionKind::Create => {
                    return Err(Untaken(format!("it needs the tenant of {field}")));
                }
                None => {}
            }
        }
        Ok(())
    }

    fn require_key(&self, keys: &[&str]) -> Result<(), Untaken> {
        if keys.is_empty() {
            return Err(Untaken(
                "its resource has no key to find a row by".to_owned(),
            ));
        }
        let mut missing = keys.iter().filter(|key| {
            let value = self.column(key).and_then(|column| self.values.get(column));
            !matches!(value, Some(Some(Some(_))))
        });
        match missing.next() {
            None => Ok(()),
            Some(key) => Err(Untaken(format!("it needs a value of {key}"))),
        }
    }

    fn put(&mut self, field: &str, text: Option<String>) -> Result<(), Untaken> {
        let column = self.column(field);
        let place = column.and_then(|column| self.values.get_mut(column));
        match place {
            Some(place @ None) => {
                *place = Some(text);
                Ok(())
            }
            Some(Some(_)) => Err(Untaken(format!("{field} is given twice"))),
            None => Err(Untaken(format!("it does not take {field}"))),
        }
    }

    fn column(&self, field: &str) -> Option<usize> {
        let mut columns = self.table.columns.iter();
        columns.position(|column| column.spec.field == field)
    }
}

/// Does an action take values of a field?
fn accepts(spec: &ResourceSpec, action: &ActionSpec, field: &str) -> bool {
    let Some(column) = spec.column(field) else {
        return false;
    };
    let open = column.visibility == Visibility::Public && column.origin != Origin::Destination;
    open && match action.accept {
        Accept::All => true,
        Accept::Fields(fields) => fields.contains(&field),
    }
}

impl Row for Given<'_> {
    fn resource(&self) -> &'static str {
        self.table.spec.rust_path
    }

    fn tenant(&self) -> Option<&Tenant> {
        self.tenant.as_ref()
    }

    fn get(&self, field: &str) -> Result<Cell<'_>, HookError> {
        let column = self.column(field);
        let column = column.ok_or(HookError::new("column_of_another_resource"))?;
        match self.values.get(column) {
            Some(Some(text)) => Ok(as_cell(text.as_deref())),
            _ => Ok(Cell::Unchanged),
        }
    }

    fn set(&mut self, field: &'static str, text: Option<String>) -> Result<(), HookError> {
        let spec = self.table.spec;
        let may = is_settable(spec, field) && accepts(spec, self.action, field);
        let column = self.column(field).filter(|_| may);
        let Some(place) = column.and_then(|column| self.values.get_mut(column)) else {
            self.refused.get_or_insert(field);
            return Err(HookError::new("column_protected"));
        };
        *place = Some(text);
        Ok(())
    }
}

impl Guarded for Given<'_> {
    fn refused(&self) -> Option<&'static str> {
        self.refused
    }
}
