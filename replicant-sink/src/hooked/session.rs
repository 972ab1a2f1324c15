//! What a database hook may do: run the actions it declares, inside the delivery transaction, and nothing else.
//!
//! Whatever goes wrong stops the delivery, also when the hook does not look at it: a statement that failed has spoilt
//! the transaction, and an action that was given up halfway may or may not have happened.

use replicant_checkpoint::contract::resource::{ActionKind, ActionRef, ActionSpec};
use replicant_transport::cell::Cell;
use replicant_transport::error::Site;
use tokio_postgres::Client;

use super::calls::{Auxiliary, Calls, Hooks};
use super::given::{Given, Untaken};
use super::guard::{self, Caller};
use super::operation::{Operation, Participant};
use super::row::Guarded;
use crate::apply::{Failure, Statements, Written, find, write};
use crate::changeset::{Actions, Changeset, Doing, Found, Runner, Values};
use crate::effects::OperationKey;
use crate::error::Error;
use crate::generation::{Generation, Held, Table};
use crate::hooks::{ChangeCall, HookError};
use crate::reason::Reason;
use crate::tenant::Tenant;

/// What the hooks of one action may do for one change.
pub(super) struct Session<'s> {
    client: &'s Client,
    generation: &'s Generation,
    statements: &'s mut Statements,
    operation: Operation<'s>,
    tenant: Option<Tenant>,
    /// Of the hook that runs now.
    participants: &'static [ActionRef],
    /// Who it is, for errors.
    hook: &'static str,
    /// How often each action ran.
    runs: Vec<(ActionRef, u64)>,
    /// Actions that began and did not end.
    unfinished: u32,
    /// The first thing that went wrong.
    failed: Option<Failure>,
}

impl<'s> Session<'s> {
    pub(super) fn new(
        client: &'s Client,
        generation: &'s Generation,
        statements: &'s mut Statements,
        operation: Operation<'s>,
        tenant: Option<Tenant>,
    ) -> Self {
        Self {
            client,
            generation,
            statements,
            operation,
            tenant,
            participants: &[],
            hook: "",
            runs: Vec::new(),
            unfinished: 0,
            failed: None,
        }
    }

    /// Runs an action's changes on a row, in order, then its validations.
    ///
    /// # Errors
    /// The first thing that went wrong.
    pub(super) async fn call_all(
        &mut self,
        calls: &Calls,
        row: &mut impl Guarded,
        caller: Caller<'_>,
    ) -> Result<(), Failure> {
        for change in calls.changes {
            let name = (change.name)();
            match change.call {
                ChangeCall::Pure(hook) => {
                    guard::call(|| hook(&mut Changeset::new(row)))
                        .map_err(|ended| caller.error(Reason::HookFailed, name, ended))?;
                }
                ChangeCall::Database { participants, run } => {
                    let participants = std::mem::replace(&mut self.participants, participants);
                    let hook = std::mem::replace(&mut self.hook, name);
                    let unfinished = self.unfinished;
                    let ended = {
                        let mut changeset = Changeset::new(row);
                        let mut actions = Actions::new(self);
                        guard::run(|| run(&mut changeset, &mut actions)).await
                    };
                    self.require_sound(unfinished, caller)?;
                    ended.map_err(|ended| caller.error(Reason::HookFailed, name, ended))?;
                    (self.participants, self.hook) = (participants, hook);
                }
            }
            row.require_untouched(name, caller)?;
        }
        for validation in calls.validations {
            guard::validate(validation, &Changeset::new(row), caller)?;
        }
        Ok(())
    }

    /// Is nothing wrong that the hook kept to itself? So many actions were under way when it was called.
    fn require_sound(&mut self, unfinished: u32, caller: Caller<'_>) -> Result<(), Failure> {
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        if self.unfinished > unfinished {
            let fact = format!(
                "{} of {}: an action was given up halfway",
                self.hook, caller.action
            );
            let site = caller.site().fact(fact);
            return Err(Error::new(Reason::HookFailed, site).into());
        }
        Ok(())
    }

    async fn write(&mut self, action: ActionRef, values: &Values) -> Result<(), Failure> {
        let (index, auxiliary, spec) = self.writable(action)?;
        let table = &auxiliary.table;
        let untaken = |untaken: Untaken| untaken_by(table, spec, &untaken);
        let mut given = Given::new(table, spec, values, self.tenant.as_ref()).map_err(untaken)?;
        let key = self.operation_key(action);
        self.ran(action);
        if spec.kind == ActionKind::Create {
            given.note(&key).map_err(untaken)?;
        }
        let mut calls = auxiliary.calls.iter();
        if let Some(calls) = calls.find(|calls| calls.action == spec.called()) {
            let caller = Caller {
                table: &table.target,
                action: calls.action,
                commit_lsn: Some(self.operation.commit_lsn),
            };
            // An action of an action is as deep as the declaration: circles were refused.
            Box::pin(self.call_all(calls, &mut given, caller)).await?;
        }
        if given.cells().all(|cell| cell == Cell::Unchanged) {
            return Err(untaken(Untaken("no value is given".to_owned())).into());
        }
        let write = write(
            self.client,
            self.statements,
            (index, table),
            spec.kind,
            given.cells(),
        );
        match write.await? {
            Written::Done => Ok(()),
            Written::NoRow => {
                let fact = format!("{} of {}", spec.called(), table.spec.rust_name);
                let site = self.site(table).fact(fact);
                Err(Error::new(Reason::HookRowAbsent, site).into())
            }
        }
    }

    async fn read(&mut self, action: ActionRef, key: &Values) -> Result<Option<Found>, Failure> {
        let (index, table, spec) = self.readable(action)?;
        let untaken = |untaken: Untaken| untaken_by(table, spec, &untaken);
        let given = Given::key(table, spec, key, self.tenant.as_ref()).map_err(untaken)?;
        let found = find(self.client, self.statements, (index, table), given.cells()).await?;
        Ok(found.map(|values| Found::new(table.spec.rust_path, values)))
    }

    /// A declared action that writes, of an auxiliary table, with its number among all tables.
    fn writable(
        &self,
        action: ActionRef,
    ) -> Result<(usize, &'s Auxiliary, &'static ActionSpec), Error> {
        self.require_declared(action)?;
        let generation = self.generation;
        let found = generation.hooks.auxiliary(action.resource);
        let found = found.and_then(|(index, auxiliary)| {
            let spec = auxiliary.table.spec.action(action.action)?;
            let writes = spec.kind != ActionKind::Read;
            writes.then_some((Hooks::statement_number(index), auxiliary, spec))
        });
        found.ok_or_else(|| self.undeclared(action))
    }

    /// A declared read, of whatever table.
    fn readable(
        &self,
        action: ActionRef,
    ) -> Result<(usize, &'s Table, &'static ActionSpec), Error> {
        self.require_declared(action)?;
        let generation = self.generation;
        let auxiliaries = generation.hooks.auxiliaries.iter().enumerate();
        let auxiliaries = auxiliaries
            .map(|(index, auxiliary)| (Hooks::statement_number(index), &auxiliary.table));
        let mut tables = generation.tables.iter().enumerate().chain(auxiliaries);
        let found = tables.find(|(_, table)| table.spec.rust_path == action.resource);
        let found = found.and_then(|(index, table)| {
            let spec = table.spec.action(action.action)?;
            let reads = spec.kind == ActionKind::Read && table.held == Held::Mirror;
            reads.then_some((index, table, spec))
        });
        let (index, table, spec) = found.ok_or_else(|| self.undeclared(action))?;
        if !table.stands_for_many() {
            return Ok((index, table, spec));
        }
        // The rows of the change's own tenant, and of no other.
        let tenant = self.tenant.as_ref();
        let own = tenant.and_then(|tenant| generation.table_of(index, tenant));
        let table = own.and_then(|own| Some((own, generation.tables.get(own)?)));
        let (index, table) =
            table.ok_or_else(|| Error::new(Reason::TenantScopeUnknown, self.site_of(action)))?;
        Ok((index, table, spec))
    }

    fn require_declared(&self, action: ActionRef) -> Result<(), Error> {
        if self.participants.contains(&action) {
            Ok(())
        } else {
            Err(self.undeclared(action))
        }
    }

    fn undeclared(&self, action: ActionRef) -> Error {
        let ActionRef { resource, action } = action;
        let fact = format!("{} runs {resource}::{action}", self.hook);
        Error::new(Reason::HookActionUndeclared, self.lsn().fact(fact))
    }

    fn site(&self, table: &Table) -> Site {
        Site {
            table: Some(table.shown.clone()),
            ..self.lsn()
        }
    }

    fn site_of(&self, action: ActionRef) -> Site {
        let ActionRef { resource, action } = action;
        self.lsn()
            .fact(format!("{} runs {resource}::{action}", self.hook))
    }

    fn lsn(&self) -> Site {
        Site::none().lsn(self.operation.commit_lsn.lsn())
    }

    fn times(&self, action: ActionRef) -> u64 {
        let mut runs = self.runs.iter();
        runs.find(|(one, _)| *one == action)
            .map_or(0, |(_, times)| *times)
    }

    fn ran(&mut self, action: ActionRef) {
        match self.runs.iter_mut().find(|(one, _)| *one == action) {
            Some((_, times)) => *times += 1,
            None => self.runs.push((action, 1)),
        }
    }

    /// Keeps what went wrong, and tells the hook that something did.
    fn ended<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, HookError> {
        self.unfinished -= 1;
        outcome.map_err(|failure| {
            self.failed.get_or_insert(failure);
            HookError::new("action_failed")
        })
    }

    fn begin(&mut self) -> Result<(), HookError> {
        if self.failed.is_some() {
            return Err(HookError::new("action_failed"));
        }
        self.unfinished += 1;
        Ok(())
    }
}

impl Runner for Session<'_> {
    fn run(&mut self, action: ActionRef, values: Values) -> Doing<'_, ()> {
        Box::pin(async move {
            self.begin()?;
            let outcome = self.write(action, &values).await;
            self.ended(outcome)
        })
    }

    fn find(&mut self, action: ActionRef, key: Values) -> Doing<'_, Option<Found>> {
        Box::pin(async move {
            self.begin()?;
            let outcome = self.read(action, &key).await;
            self.ended(outcome)
        })
    }

    fn operation_key(&self, action: ActionRef) -> OperationKey {
        let auxiliary = self.generation.hooks.auxiliary(action.resource);
        match auxiliary {
            Some((_, auxiliary)) => {
                let participant = Participant {
                    table: &auxiliary.table.target,
                    action: action.action,
                };
                self.operation.key(participant, self.times(action))
            }
            // Nothing that could run has this key.
            None => OperationKey::new(""),
        }
    }
}

fn untaken_by(table: &Table, spec: &ActionSpec, untaken: &Untaken) -> Error {
    let fact = format!(
        "{} of {}: {}",
        spec.called(),
        table.spec.rust_name,
        untaken.0
    );
    let site = table.site().fact(fact);
    Error::new(Reason::HookValuesRefused, site)
}
