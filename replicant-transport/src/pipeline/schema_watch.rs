//! Did the source's schema change in a way that the stream does not show?
//!
//! A column dropped and added again under the same name and type is described by identical bytes, while all its stored
//! values changed. A table that leaves a publication just falls silent. So the catalog is asked when a table is
//! described again, on every reconnect, and periodically. Catalog reads see now, rows describe then: what is found
//! here only ever stops the pipeline, it never decides how a row is read.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::connect::{ConnectOptions, SqlSession, classify, sql};
use crate::error::{Error, Site};
use crate::ident::{Ident, QualifiedName};
use crate::reason::Reason;
use crate::session::published_tables;
use crate::source::Session;
use crate::telemetry::Telemetry;

/// How long the stream waits for an answer about a table that was described again.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// Attribute numbers per table and column: what a session knew about the catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes(HashMap<u32, Table>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    name: QualifiedName,
    columns: HashMap<Ident, i16>,
}

impl Attributes {
    /// What this session knows about these tables. What nobody needs may be replaced.
    pub(crate) fn of(session: &Session, required: &HashSet<QualifiedName>) -> Self {
        let tables = session.tables.iter();
        let tables = tables.filter(|table| required.contains(&table.name));
        let tables = tables.map(|table| {
            let columns = table.columns.iter();
            let known = Table {
                name: table.name.clone(),
                columns: columns
                    .map(|column| (column.name.clone(), column.attnum))
                    .collect(),
            };
            (table.oid, known)
        });
        Self(tables.collect())
    }

    /// Compares with what is found later.
    ///
    /// # Errors
    /// `source_table_replaced` naming a table whose name belongs to another one now; `source_column_replaced` naming a
    /// column that exists under another attribute number.
    pub(crate) fn unchanged_in(&self, later: &Self) -> Result<(), Error> {
        let names: HashMap<_, _> = later.0.iter().map(|(oid, now)| (&now.name, oid)).collect();
        for (oid, before) in &self.0 {
            if names.get(&before.name).is_some_and(|now| *now != oid) {
                let site = Site::table(&before.name);
                return Err(Error::new(Reason::SourceTableReplaced, site));
            }
            let Some(after) = later.0.get(oid) else {
                continue;
            };
            for (column, attnum) in &before.columns {
                if after.columns.get(column).is_some_and(|now| now != attnum) {
                    let site = Site::table(&before.name).column(column);
                    return Err(Error::new(Reason::SourceColumnReplaced, site));
                }
            }
        }
        Ok(())
    }

    /// Replaces what is known with what was found, for tables that were found.
    fn learn(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}

/// Watches one session's tables from a task of its own.
#[derive(Debug)]
pub(super) struct SchemaWatch {
    described: HashSet<u32>,
    questions: mpsc::UnboundedSender<Question>,
    finding: oneshot::Receiver<Error>,
    task: JoinHandle<()>,
}

impl Drop for SchemaWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One table to look at, and where the answer goes.
#[derive(Debug)]
struct Question {
    oid: u32,
    answer: oneshot::Sender<Result<(), Error>>,
}

impl SchemaWatch {
    /// Starts watching. `required` are the tables that must stay published.
    pub(super) fn start(
        connect: ConnectOptions,
        session: &Session,
        required: HashSet<QualifiedName>,
        interval: Duration,
        telemetry: Telemetry,
    ) -> Self {
        let (questions, asked) = mpsc::unbounded_channel();
        let (found, finding) = oneshot::channel();
        let publications = session.publications.iter();
        let watcher = Watcher {
            connect,
            known: Attributes::of(session, &required),
            publications: publications.map(|found| found.name.clone()).collect(),
            interval,
            telemetry,
            session: None,
        };
        Self {
            described: HashSet::new(),
            questions,
            finding,
            task: tokio::spawn(watcher.run(asked, found)),
        }
    }

    /// A table is described by the stream. The first time in a session tells nothing new; later times do.
    ///
    /// # Errors
    /// `source_column_replaced`.
    pub(super) async fn described(&mut self, oid: u32) -> Result<(), Error> {
        if self.described.insert(oid) {
            return Ok(());
        }
        let (answer, answered) = oneshot::channel();
        if self.questions.send(Question { oid, answer }).is_err() {
            return Ok(());
        }
        // Best effort: a catalog that does not answer in time is asked again by the periodic check.
        match timeout(ANSWER_PATIENCE, answered).await {
            Ok(Ok(outcome)) => outcome,
            _ => Ok(()),
        }
    }

    /// Waits until the periodic check finds something.
    ///
    /// # Cancel safety
    /// Safe.
    pub(super) async fn finding(&mut self) -> Error {
        match (&mut self.finding).await {
            Ok(error) => error,
            Err(_) => std::future::pending().await,
        }
    }
}

struct Watcher {
    connect: ConnectOptions,
    known: Attributes,
    publications: Vec<Ident>,
    interval: Duration,
    telemetry: Telemetry,
    /// Opened when first needed, and again after it broke.
    session: Option<SqlSession>,
}

impl Watcher {
    async fn run(
        mut self,
        mut questions: mpsc::UnboundedReceiver<Question>,
        found: oneshot::Sender<Error>,
    ) {
        let mut next = Instant::now() + self.interval;
        loop {
            tokio::select! {
                question = questions.recv() => {
                    let Some(Question { oid, answer }) = question else { return };
                    let outcome = self.look_at(vec![oid]).await;
                    let verdict = self.verdict(outcome);
                    // The session may have ended meanwhile.
                    let _gone = answer.send(verdict);
                }
                () = sleep_until(next) => {
                    let outcome = self.look_around().await;
                    if let Err(error) = self.verdict(outcome) {
                        let _gone = found.send(error);
                        return;
                    }
                    next = Instant::now() + self.interval;
                }
            }
        }
    }

    /// A catalog that cannot be asked is no finding.
    fn verdict(&mut self, outcome: Result<Result<(), Error>, Error>) -> Result<(), Error> {
        outcome.unwrap_or_else(|unavailable| {
            self.session = None;
            self.telemetry
                .catalog_unavailable(unavailable.reason.code());
            Ok(())
        })
    }

    async fn look_around(&mut self) -> Result<Result<(), Error>, Error> {
        let membership = self.look_at_publications().await?;
        if membership.is_err() {
            return Ok(membership);
        }
        self.look_at(self.known.0.keys().copied().collect()).await
    }

    /// The outer result says whether the catalog could be asked, the inner one what it says.
    async fn look_at(&mut self, oids: Vec<u32>) -> Result<Result<(), Error>, Error> {
        const SQL: &str = "select a.attrelid, a.attname::pg_catalog.text, a.attnum \
             from pg_catalog.pg_attribute a \
             where a.attrelid = any ($1) and a.attnum > 0 and not a.attisdropped";
        let rows = self.session().await?.client.query(SQL, &[&oids]).await;
        let rows = rows.map_err(|error| Error::from(classify(&error)))?;
        let mut later = Attributes::default();
        for row in rows {
            let broken = |error| Error::from(classify(&error));
            let oid: u32 = row.try_get(0).map_err(broken)?;
            let column: &str = row.try_get(1).map_err(broken)?;
            let attnum: i16 = row.try_get(2).map_err(broken)?;
            let Some(known) = self.known.0.get(&oid) else {
                continue;
            };
            let table = later.0.entry(oid).or_insert_with(|| Table {
                name: known.name.clone(),
                columns: HashMap::new(),
            });
            if let Ok(column) = Ident::new(column) {
                table.columns.insert(column, attnum);
            }
        }
        let verdict = self.known.unchanged_in(&later);
        if verdict.is_ok() {
            self.known.learn(later);
        }
        Ok(verdict)
    }

    async fn look_at_publications(&mut self) -> Result<Result<(), Error>, Error> {
        let statement = published_tables(&self.publications);
        let rows = self.session().await?.client.query(&statement, &[]).await;
        let rows = rows.map_err(|error| Error::from(classify(&error)))?;
        let mut publications = HashSet::new();
        let mut tables = HashMap::new();
        for row in rows {
            let broken = |error| Error::from(classify(&error));
            let publication: &str = row.try_get(0).map_err(broken)?;
            publications.extend(Ident::new(publication));
            let oid: Option<u32> = row.try_get(1).map_err(broken)?;
            let schema: Option<&str> = row.try_get(2).map_err(broken)?;
            let table: Option<&str> = row.try_get(3).map_err(broken)?;
            if let (Some(oid), Some(schema), Some(table)) = (oid, schema, table)
                && let Ok(table) = QualifiedName::new(schema, table)
            {
                tables.insert(table, oid);
            }
        }
        Ok(self.membership(&publications, &tables))
    }

    fn membership(
        &self,
        publications: &HashSet<Ident>,
        tables: &HashMap<QualifiedName, u32>,
    ) -> Result<(), Error> {
        let gone = self
            .publications
            .iter()
            .find(|name| !publications.contains(*name));
        if let Some(gone) = gone {
            let fact = format!("publication {} does not exist any more", gone.quoted());
            let site = Site::option("publication").fact(fact);
            return Err(Error::new(Reason::PublicationChanged, site));
        }
        for (oid, known) in &self.known.0 {
            let site = Site::table(&known.name);
            return Err(match tables.get(&known.name) {
                Some(now) if now == oid => continue,
                Some(_) => Error::new(Reason::SourceTableReplaced, site),
                None => {
                    let fact = "the table is not published any more";
                    Error::new(Reason::PublicationChanged, site.fact(fact))
                }
            });
        }
        Ok(())
    }

    async fn session(&mut self) -> Result<&SqlSession, Error> {
        let session = match self.session.take() {
            Some(open) if !open.client.is_closed() => open,
            _ => sql(&self.connect).await?,
        };
        Ok(self.session.insert(session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(attnum: i16) -> Attributes {
        let table = Table {
            name: QualifiedName::new("public", "orders").unwrap(),
            columns: HashMap::from([
                (Ident::new("id").unwrap(), 1),
                (Ident::new("amount").unwrap(), attnum),
            ]),
        };
        Attributes(HashMap::from([(16_400, table)]))
    }

    #[test]
    fn a_column_under_another_attribute_number_was_replaced() {
        assert_eq!(attributes(2).unchanged_in(&attributes(2)), Ok(()));
        let error = attributes(2).unchanged_in(&attributes(5)).unwrap_err();
        assert_eq!(error.reason, Reason::SourceColumnReplaced);
        assert_eq!(error.site.column, Some(Ident::new("amount").unwrap()));
    }

    #[test]
    fn a_table_under_another_object_id_was_replaced() {
        let Attributes(tables) = attributes(2);
        let later = tables.into_iter().map(|(oid, table)| (oid + 1, table));
        let later = Attributes(later.collect());
        let error = attributes(2).unchanged_in(&later).unwrap_err();
        assert_eq!(error.reason, Reason::SourceTableReplaced);
        let name = QualifiedName::new("public", "orders").unwrap();
        assert_eq!(error.site.table, Some(name));
    }

    #[test]
    fn a_dropped_table_or_a_new_one_is_no_replaced_column() {
        assert_eq!(attributes(2).unchanged_in(&Attributes::default()), Ok(()));
        assert_eq!(Attributes::default().unchanged_in(&attributes(2)), Ok(()));
    }
}
