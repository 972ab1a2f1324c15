//! What does this process say? Every tracing event, every `log` record of a dependency, every metric, at every level.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};

/// Everything heard so far.
#[derive(Clone, Debug, Default)]
pub struct Heard(Arc<Mutex<String>>);

static HEARD: OnceLock<Heard> = OnceLock::new();

tokio::task_local! {
    static UNHEARD: ();
}

/// Runs a test's own statements, whose text the client library logs as it would log ours. What the future spawns is
/// heard, and so is every tracing event.
pub async fn unheard<T>(own: impl Future<Output = T>) -> T {
    UNHEARD.scope((), own).await
}

impl Heard {
    /// Listens from now on, for the whole process; the second call returns what the first one hears.
    ///
    /// # Panics
    /// When something else listens already.
    pub fn everything() -> Self {
        HEARD
            .get_or_init(|| {
                let heard = Self::default();
                let writer = heard.clone();
                let subscriber = tracing_subscriber::fmt()
                    .with_max_level(tracing::Level::TRACE)
                    .with_ansi(false)
                    .with_writer(move || writer.clone())
                    .finish();
                tracing::subscriber::set_global_default(subscriber).unwrap();
                log::set_boxed_logger(Box::new(heard.clone())).unwrap();
                log::set_max_level(log::LevelFilter::Trace);
                metrics::set_global_recorder(heard.clone()).unwrap();
                heard
            })
            .clone()
    }

    /// All of it.
    pub fn text(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Adds a line that was said another way, for example an error's text.
    pub fn note(&self, line: &str) {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(text, "{line}");
    }
}

impl io::Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl log::Log for Heard {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if UNHEARD.try_with(|()| ()).is_ok() {
            return;
        }
        self.note(&format!(
            "log {} {} {}",
            record.level(),
            record.target(),
            record.args()
        ));
    }

    fn flush(&self) {}
}

/// One metric whose every use is heard.
struct Voice {
    heard: Heard,
    line: String,
}

impl Heard {
    fn voice(&self, kind: &str, key: &Key) -> Arc<Voice> {
        let labels: Vec<String> = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        Arc::new(Voice {
            heard: self.clone(),
            line: format!("metric {kind} {} {}", key.name(), labels.join(" ")),
        })
    }
}

impl CounterFn for Voice {
    fn increment(&self, value: u64) {
        self.heard.note(&format!("{} +{value}", self.line));
    }

    fn absolute(&self, value: u64) {
        self.heard.note(&format!("{} ={value}", self.line));
    }
}

impl GaugeFn for Voice {
    fn increment(&self, value: f64) {
        self.heard.note(&format!("{} +{value}", self.line));
    }

    fn decrement(&self, value: f64) {
        self.heard.note(&format!("{} -{value}", self.line));
    }

    fn set(&self, value: f64) {
        self.heard.note(&format!("{} ={value}", self.line));
    }
}

impl HistogramFn for Voice {
    fn record(&self, value: f64) {
        self.heard.note(&format!("{} {value}", self.line));
    }
}

impl Recorder for Heard {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.voice("counter", key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.voice("gauge", key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.voice("histogram", key))
    }
}
