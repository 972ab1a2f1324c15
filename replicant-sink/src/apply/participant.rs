//! How an action of a hook becomes a statement: one row of an auxiliary table, or a look at one of any table, typed and
//! sealed as rows of the stream are.

use futures_util::TryStreamExt as _;
use replicant_checkpoint::contract::resource::ActionKind;
use replicant_transport::cell::Cell;
use replicant_transport::error::Site;
use tokio_postgres::Client;

use super::fault::Failure;
use super::parameter::ArrayOf;
use super::pipeline::Pipeline;
use super::sql::Action;
use super::statements::Statements;
use crate::error::Error;
use crate::generation::{Table, Travel, UpsertMeets};
use crate::plan::{ColumnSet, Images, known_columns, sets_anything};
use crate::reason::Reason;

/// What became of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// It is as it should be.
    Done,
    /// There is none to update.
    NoRow,
}

/// Writes one row: its known cells, found by its key where it is not created.
///
/// # Errors
/// What the destination says; a create that finds its unique value taken is refused like any other.
/// `hook_values_refused` for an update that sets nothing.
pub(crate) async fn write<'a>(
    client: &Client,
    statements: &mut Statements,
    (index, table): (usize, &Table),
    kind: ActionKind,
    cells: impl Iterator<Item = Cell<'a>>,
) -> Result<Written, Failure> {
    let mut images = Images::new(table.columns.len());
    let row = images.push(cells);
    let mut columns = ColumnSet::default();
    let action = match kind {
        ActionKind::Create if table.spec.upsert_identity.is_some() => Action::Upsert,
        ActionKind::Create => Action::Insert,
        ActionKind::Update => Action::Update,
        ActionKind::Destroy => Action::Delete,
        ActionKind::Read => return Err(Failure::internal(&table.shown)),
    };
    if action != Action::Delete {
        known_columns(&images, row, &mut columns);
    }
    if action == Action::Update && !sets_anything(table, &columns) {
        let fact = format!("an update of {} sets nothing", table.spec.rust_name);
        let site = Site::table(&table.target).fact(fact);
        return Err(Error::new(Reason::HookValuesRefused, site).into());
    }
    let prepared = statements
        .get(client, (index, table), action, &columns)
        .await?;
    let rows = [row];
    let mut pipeline = Pipeline::narrow(client);
    pipeline.execute(&prepared, &images, &rows, &rows).await;
    let counts = pipeline.finish().await;
    let counts = counts.map_err(|error| Failure::of(&error, Some(table)))?;
    match counts.into_iter().sum::<u64>() {
        0 if action == Action::Update => Ok(Written::NoRow),
        // The row of another tenant was left alone.
        0 if action == Action::Upsert && table.upsert_meets != UpsertMeets::Own => {
            Err(Error::new(Reason::TenantConflict, table.site()).into())
        }
        _ => Ok(Written::Done),
    }
}

/// The stored values of the row with this key, by field; sealed ones are left out.
///
/// # Errors
/// What the destination says.
pub(crate) async fn find<'a>(
    client: &Client,
    statements: &mut Statements,
    (index, table): (usize, &Table),
    cells: impl Iterator<Item = Cell<'a>>,
) -> Result<Option<Vec<(&'static str, Option<String>)>>, Failure> {
    let mut images = Images::new(table.columns.len());
    let rows = [images.push(cells)];
    let none = ColumnSet::default();
    let prepared = statements
        .get(client, (index, table), Action::Stored, &none)
        .await?;
    let parameters = prepared.parameters.iter();
    let arrays: Vec<_> = parameters
        .map(|parameter| ArrayOf::new(&images, &rows, parameter, &prepared.seals))
        .collect();
    let fault = |error: &tokio_postgres::Error| Failure::of(error, Some(table));
    let answers = client.query_raw(&prepared.statement, arrays).await;
    let answers: Vec<_> = answers
        .map_err(|error| fault(&error))?
        .try_collect()
        .await
        .map_err(|error| fault(&error))?;
    let Some(answer) = answers.first() else {
        return Ok(None);
    };
    let mut values = Vec::with_capacity(table.columns.len());
    // The first answer is the place of the key.
    for (column, at) in table.columns.iter().zip(1..) {
        if matches!(column.travel, Travel::Text { .. }) {
            let text: Option<String> = answer.try_get(at).map_err(|error| fault(&error))?;
            values.push((column.spec.field, text));
        }
    }
    Ok(Some(values))
}
