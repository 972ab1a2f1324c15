//! Does a value leave through what we say? A text that is planted in every value, and everywhere it must not be.

use replicant_sink::Error;

use crate::World;
use crate::listen::Heard;

/// In upper and lower case, in hexadecimal (bytea) and as digits, since any of them would be a leak.
const CANARIES: &[&str] = &["KoToRi", "4b6f546f5269", "270415926535"];
/// The canary as text.
pub const TEXT: &str = "KoToRi";
/// The canary as digits.
pub const DIGITS: &str = "270415926535";

/// Nothing of this text has a canary.
///
/// # Panics
/// When a line has one.
pub fn assert_silent(text: &str, when: &str) {
    for line in text.lines() {
        for canary in CANARIES {
            // The line itself is the leak; a test may say it, since the canary is no secret.
            let leaked = line.to_lowercase().contains(&canary.to_lowercase());
            let short: String = line.chars().take(2000).collect();
            assert!(!leaked, "{when}: {short}");
        }
    }
}

/// Everything an error can be made to say.
pub fn note(heard: &Heard, error: &Error) {
    heard.note(&format!("{error} {error:?} {error:#?}"));
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        heard.note(&format!("{error} {error:?}"));
        cause = error.source();
    }
}

/// What others can see of us: our sessions on the server and our own tables.
///
/// # Panics
/// When the destination refuses to tell.
pub async fn note_visible(heard: &Heard, world: &World) {
    let sessions = "select coalesce(string_agg(application_name || ' ' || query, E'\\n'), '') \
                    from pg_stat_activity where application_name like 'replicant%'";
    heard.note(&world.destination_text(sessions).await);
    for table in [
        "watermarks",
        "contracts",
        "leases",
        "tables",
        "targets",
        "decisions",
    ] {
        let rows = format!(
            "select coalesce(string_agg(to_jsonb(r)::text, E'\\n'), '') from replicant.replicant_{table} r"
        );
        heard.note(&world.destination_text(&rows).await);
    }
}

/// The positive control: each way of saying something is heard.
///
/// # Panics
/// When one is not.
pub fn heard_is_listening(heard: &Heard) {
    tracing::trace!(value = "control one", "said");
    log::trace!("{}", "control two");
    metrics::counter!("control", "label" => "control three").increment(1);
    let text = heard.text();
    for control in ["control one", "control two", "control three"] {
        assert!(text.contains(control), "{control} was not heard");
    }
}
