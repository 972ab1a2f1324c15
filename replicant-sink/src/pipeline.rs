//! One mirror, described and run: an inert [`Pipeline`], and the [`Handle`] of a started one.
//!
//! Building a pipeline opens nothing and reads no environment, so commands can inspect exactly what would run.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use replicant_checkpoint::contract::sink::SinkSpec;
use replicant_transport::connect::{ConnectOptions, ProcessEnvironment, SecretString};
use replicant_transport::error::Site;
use replicant_transport::ident::{Ident, SlotName};
use replicant_transport::pipeline::{self as transport, Phase, SourceOptions};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::admission;
use crate::config;
use crate::delivery::progress::Progress;
use crate::delivery::queue::GroupLimits;
use crate::delivery::run::{Run, owner};
use crate::delivery::sink::MirrorOptions;
use crate::error::Error;
use crate::hooks::Code;
use crate::options::{Connection, DestinationConstraints, Options, StartMode, Takeover};
use crate::reason::Reason;
use crate::resource::SinkDeclaration;
use crate::seal::{FileVault, Vault};

/// A mirror described: what is declared, where source and destination are, how to start.
///
/// ```no_run
/// # use replicant_sink::prelude::*;
/// # async fn run<ShopSink: SinkDeclaration>() -> Result<(), replicant_sink::Error> {
/// let handle = Pipeline::of::<ShopSink>()
///     .source("host=db.internal dbname=shop user=replicant")
///     .destination("host=mirror.internal dbname=mirror user=replicant")
///     .publication("shop")
///     .source_identity("7431250023019842563/shop")
///     .go_forward()
///     .start()
///     .await?;
/// handle.join().await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    spec: &'static SinkSpec,
    code: &'static [&'static [&'static Code]],
    name: String,
    options: Options,
    /// Where its keys come from; instead of `key_file`.
    vault: Option<Arc<dyn Vault>>,
    /// The first unusable argument; reported by whatever is asked of the pipeline.
    mistake: Option<Error>,
}

impl Pipeline {
    /// The pipeline of a declared sink. Its name, under which it is configured, is its slot's name.
    pub fn of<S: SinkDeclaration>() -> Self {
        Self {
            code: S::CODE,
            ..Self::of_spec(const { &S::SPEC })
        }
    }

    /// The pipeline of a specification made by a program instead of `#[replicant_sink]`.
    ///
    /// What the compiler would have refused, admission refuses: it runs every rule again.
    pub fn of_spec(spec: &'static SinkSpec) -> Self {
        Self {
            spec,
            code: &[],
            name: spec.slot_name.to_owned(),
            options: Options::default(),
            vault: None,
            mistake: None,
        }
    }

    /// The functions that a specification made by a program names, domain by domain and resource by resource as in
    /// the specification. What they do not agree with, admission refuses.
    #[must_use]
    pub fn with_code(mut self, code: &'static [&'static [&'static Code]]) -> Self {
        self.code = code;
        self
    }

    /// Gives it another name, under which commands and configuration find it.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Where the source is: a URI or `key=value` connection string.
    #[must_use]
    pub fn source(mut self, conninfo: impl Into<String>) -> Self {
        self.options.source.get_or_insert_default().conninfo = conninfo.into();
        self
    }

    /// Where the destination is: a URI or `key=value` connection string.
    #[must_use]
    pub fn destination(mut self, conninfo: impl Into<String>) -> Self {
        self.options.destination.get_or_insert_default().conninfo = conninfo.into();
        self
    }

    /// A publication to read; call it once for each.
    #[must_use]
    pub fn publication(mut self, name: &str) -> Self {
        match Ident::new(name) {
            Ok(name) => self.options.publications.push(name),
            Err(why) => self.mistaken("publication", why.to_string()),
        }
        self
    }

    /// Which source it must be: `<system identifier>/<database>`.
    #[must_use]
    pub fn source_identity(mut self, source: &str) -> Self {
        match source.parse() {
            Ok(source) => self.options.source_identity = Some(source),
            Err(why) => self.mistaken("source_identity", why.to_string()),
        }
        self
    }

    /// Starts a new mirror from now on; rows that exist already are not copied.
    #[must_use]
    pub fn go_forward(mut self) -> Self {
        self.options.start = Some(StartMode::GoForward);
        self
    }

    /// Where the keys of sealed columns come from.
    #[must_use]
    pub fn vault(mut self, vault: impl Vault + 'static) -> Self {
        self.vault = Some(Arc::new(vault));
        self
    }

    /// What happens when another process runs this pipeline.
    #[must_use]
    pub fn takeover(mut self, takeover: Takeover) -> Self {
        self.options.takeover = takeover;
        self
    }

    /// How foreign keys, triggers and checks of the destination are handled.
    #[must_use]
    pub fn destination_constraints(mut self, constraints: DestinationConstraints) -> Self {
        self.options.destination_constraints = constraints;
        self
    }

    /// Bytes that may be received and not yet handed to delivery before reading from the source pauses.
    ///
    /// Delivery holds what it was handed until it is durable, bounded by the size of its groups, so the process holds
    /// at most about the sum of both.
    #[must_use]
    pub fn max_inflight_lag(mut self, bytes: usize) -> Self {
        self.options.max_inflight_bytes = Some(bytes);
        self
    }

    /// Applies the pipeline's table of a TOML text.
    ///
    /// # Errors
    /// `config_invalid` naming the key, `option_not_available`.
    pub fn configured_by_toml(mut self, text: &str) -> Result<Self, Error> {
        config::from_toml(&mut self.options, &self.name, text)?;
        Ok(self)
    }

    /// Applies the `REPLICANT_<NAME>_<KEY>` variables of a process that has no other pipeline: every variable that
    /// begins like its own has to name an option.
    ///
    /// # Errors
    /// `config_invalid` naming what is wrong, `option_not_available`.
    pub fn configured_by_environment(self) -> Result<Self, Error> {
        self.configured_beside(&[])
    }

    /// Applies the variables of the process to all its pipelines: those of `shop_events` are no mistake in one called
    /// `shop`.
    ///
    /// # Errors
    /// As [`configured_by_environment`](Self::configured_by_environment), and `config_invalid` naming two pipelines that
    /// the same variables would configure.
    pub fn all_configured_by_environment(
        pipelines: impl IntoIterator<Item = Self>,
    ) -> Result<Vec<Self>, Error> {
        let pipelines: Vec<Self> = pipelines.into_iter().collect();
        config::check_prefixes(pipelines.iter().map(Self::name))?;
        let names: Vec<String> = pipelines.iter().map(|one| one.name.clone()).collect();
        let configured = pipelines.into_iter().map(|pipeline| {
            let others = names.iter().map(String::as_str);
            let others: Vec<&str> = others.filter(|name| *name != pipeline.name).collect();
            pipeline.configured_beside(&others)
        });
        configured.collect()
    }

    fn configured_beside(mut self, others: &[&str]) -> Result<Self, Error> {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        config::from_environment(&mut self.options, &self.name, others, variables)?;
        Ok(self)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it mirrors.
    pub fn spec(&self) -> &'static SinkSpec {
        self.spec
    }

    /// The functions its declaration names, domain by domain and resource by resource as in [`spec`](Self::spec).
    /// Nothing for a specification that a program made.
    pub fn code(&self) -> &'static [&'static [&'static Code]] {
        self.code
    }

    /// What it was told.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Starts it. Returns as soon as the options are found usable; [`Handle::ready`] waits for the stream.
    ///
    /// # Errors
    /// `config_invalid`, `option_not_available` naming what the declaration asks for, `source_identity_required`,
    /// `start_mode_required`, `slot_already_active`, and the connection layer's reasons for an unusable connection string.
    ///
    /// # Cancel safety
    /// Dropping the future starts nothing.
    pub async fn start(&self) -> Result<Handle, Error> {
        let Parts { source, mirror } = self.parts()?;
        let claim = ActiveSlot::claim(&source.slot)?;
        let (progress_sender, progress) = watch::channel(Progress::default());
        let (status_sender, status) = watch::channel(transport::Status::default());
        let stop = CancellationToken::new();
        let run = Run {
            source,
            mirror,
            takeover: self.options.takeover,
            status: status_sender,
            progress: progress_sender,
            stop: stop.clone(),
        };
        let task = tokio::spawn(async move {
            let outcome = run.run().await;
            drop(claim);
            outcome
        });
        Ok(Handle {
            name: self.name.clone(),
            status,
            progress,
            cancel: stop.clone(),
            _stop: stop.drop_guard(),
            task,
            ended: None,
        })
    }

    /// Where both ends are, checked; enough to ask them without starting.
    ///
    /// # Errors
    /// `config_invalid` naming what is missing or unusable.
    pub(crate) fn ends(&self) -> Result<Ends, Error> {
        if let Some(mistake) = &self.mistake {
            return Err(mistake.clone());
        }
        let missing: Vec<String> = self
            .options
            .missing()
            .iter()
            .map(|key| format!("{key} (or {})", config::variable(&self.name, key)))
            .collect();
        if !missing.is_empty() {
            let fact = format!("missing: {}", missing.join(", "));
            return Err(Error::new(Reason::ConfigInvalid, Site::none().fact(fact)));
        }
        let (source, destination) = self.options.connections()?;
        let slot = SlotName::new(self.spec.slot_name).map_err(|why| {
            Error::new(
                Reason::DeclarationInvalid,
                Site::none().fact(why.to_string()),
            )
        })?;
        let application = format!("replicant {slot}");
        Ok(Ends {
            source: connect_options(source, "source_password_file")?
                .with_application_name(&application)
                .for_source(),
            destination: connect_options(destination, "destination_password_file")?
                .with_application_name(&application)
                .for_destination(),
            slot,
        })
    }

    fn parts(&self) -> Result<Parts, Error> {
        let ends = self.ends()?;
        let unavailable = admission::unavailable_options(self.spec).into_iter();
        let mut refused = admission::idle_declaration(self.spec)
            .into_iter()
            .chain(unavailable);
        if let Some(error) = refused.next() {
            return Err(error);
        }
        let complete = self.options.complete()?;
        // `go_forward` is the only mode there is; naming it here makes a new one a compile error.
        let StartMode::GoForward = complete.start;
        let mut limits = transport::Limits::default();
        if let Some(bytes) = self.options.max_inflight_bytes {
            limits.max_inflight = bytes;
        }
        Ok(Parts {
            source: SourceOptions {
                connect: ends.source,
                slot: ends.slot,
                publications: self.options.publications.clone(),
                expected: complete.source_identity.clone(),
                limits,
                retry: transport::Retry::default(),
            },
            mirror: MirrorOptions {
                spec: self.spec,
                code: self.code,
                destination: ends.destination,
                vault: self.keys(),
                constraints: self.options.destination_constraints,
                owner: owner(),
                limits: GroupLimits::default(),
            },
        })
    }

    /// Where its keys come from: its vault, or the configured file.
    pub(crate) fn keys(&self) -> Option<Arc<dyn Vault>> {
        let file = self.options.key_file.as_ref();
        let file = file.map(|path| Arc::new(FileVault::new(path)) as Arc<dyn Vault>);
        self.vault.clone().or(file)
    }

    fn mistaken(&mut self, option: &'static str, why: String) {
        if self.mistake.is_none() {
            self.mistake = Some(Error::new(
                Reason::ConfigInvalid,
                Site::option(option).fact(why),
            ));
        }
    }
}

/// Both ends and the slot between them.
pub(crate) struct Ends {
    pub(crate) source: ConnectOptions,
    pub(crate) destination: ConnectOptions,
    pub(crate) slot: SlotName,
}

/// Checked options, ready to run.
struct Parts {
    source: SourceOptions,
    mirror: MirrorOptions,
}

fn connect_options(connection: &Connection, key: &'static str) -> Result<ConnectOptions, Error> {
    let options = ConnectOptions::parse(&connection.conninfo, &ProcessEnvironment)?;
    match &connection.password_file {
        None => Ok(options),
        Some(path) => Ok(options.with_password(&first_line(path, key)?)),
    }
}

fn first_line(path: &Path, key: &'static str) -> Result<SecretString, Error> {
    let text = std::fs::read_to_string(path).map_err(|_| {
        Error::new(
            Reason::ConfigInvalid,
            Site::option(key).fact("the file cannot be read"),
        )
    })?;
    Ok(SecretString::from(text.lines().next().unwrap_or_default()))
}

/// A running pipeline. Dropping the handle asks it to stop.
#[derive(Debug)]
pub struct Handle {
    name: String,
    status: watch::Receiver<transport::Status>,
    progress: watch::Receiver<Progress>,
    cancel: CancellationToken,
    /// Cancels the token when the handle is dropped.
    _stop: DropGuard,
    task: JoinHandle<Result<(), Error>>,
    /// How it ended, once somebody waited for that.
    ended: Option<Result<(), Error>>,
}

impl Handle {
    /// The pipeline's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the transport is doing and how far it has come.
    pub fn status(&self) -> transport::Status {
        *self.status.borrow()
    }

    /// A line that wakes on every change of status.
    pub fn status_changes(&self) -> watch::Receiver<transport::Status> {
        self.status.clone()
    }

    /// How far delivery has come.
    pub fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    /// A line that wakes on every committed group.
    pub fn progress_changes(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// Waits until the stream has started.
    ///
    /// # Errors
    /// Why it stopped instead.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub async fn ready(&mut self) -> Result<(), Error> {
        loop {
            let phase = self.status.borrow_and_update().phase;
            if let Some(ended) = &self.ended {
                return ended.clone();
            }
            if matches!(phase, Phase::CatchingUp | Phase::Streaming) {
                return Ok(());
            }
            tokio::select! {
                changed = self.status.changed() => {
                    if changed.is_err() {
                        return self.outcome().await;
                    }
                }
                outcome = &mut self.task => {
                    let outcome = joined(outcome);
                    self.ended = Some(outcome.clone());
                    return outcome;
                }
            }
        }
    }

    /// Asks it to stop: what is committed on the source and delivered becomes durable, the rest comes again at the
    /// next start. Returns at once; [`join`](Self::join) waits.
    pub fn request_stop(&self) {
        self.cancel.cancel();
    }

    /// Stops it and waits until everything delivered is durable.
    ///
    /// # Errors
    /// Why it had stopped already, or could not finish.
    pub async fn stop(self) -> Result<(), Error> {
        self.request_stop();
        self.join().await
    }

    /// Waits until it stops by itself or by request.
    ///
    /// # Errors
    /// Why it stopped.
    pub async fn join(mut self) -> Result<(), Error> {
        self.outcome().await
    }

    async fn outcome(&mut self) -> Result<(), Error> {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let outcome = joined((&mut self.task).await);
        self.ended = Some(outcome.clone());
        outcome
    }
}

fn joined(outcome: Result<Result<(), Error>, tokio::task::JoinError>) -> Result<(), Error> {
    outcome.unwrap_or_else(|_| Err(Reason::DeliveryInterrupted.into()))
}

static ACTIVE: Mutex<Option<HashSet<SlotName>>> = Mutex::new(None);

/// One live pipeline per slot in this process; the claim ends with the pipeline's task.
struct ActiveSlot(SlotName);

impl ActiveSlot {
    fn claim(slot: &SlotName) -> Result<Arc<Self>, Error> {
        let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
        if !active.get_or_insert_default().insert(slot.clone()) {
            let site = Site::none().fact(format!("slot {slot}"));
            return Err(Error::new(Reason::SlotAlreadyActive, site));
        }
        Ok(Arc::new(Self(slot.clone())))
    }
}

impl Drop for ActiveSlot {
    fn drop(&mut self) {
        let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(active) = active.as_mut() {
            active.remove(&self.0);
        }
    }
}
