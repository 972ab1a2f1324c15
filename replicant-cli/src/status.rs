//! How is a pipeline's state printed? The few lines an engineer on call needs first, or one object.

use replicant_sink::doctor::{State, Status};
use serde_json::Value;

use crate::arguments::Format;
use crate::exit::Exit;
use crate::screen::{Ink, Screen};

pub(crate) fn print(status: &Status, format: Format, screen: &mut Screen<'_>) -> Exit {
    match format {
        Format::Text => text(status, screen),
        Format::Json => match object(status) {
            Some(object) => {
                screen.json(&object);
            }
            None => return Exit::NotAsked,
        },
    }
    Exit::of_code(status.exit_code)
}

/// The whole status; what the owner wrote is an object in it and not a text.
fn object(status: &Status) -> Option<Value> {
    let mut object = serde_json::to_value(status).ok()?;
    let reported = status.reported.as_deref();
    let reported = reported.and_then(|text| serde_json::from_str(text).ok());
    object
        .as_object_mut()?
        .insert("reported".to_owned(), reported.unwrap_or(Value::Null));
    Some(object)
}

fn text(status: &Status, screen: &mut Screen<'_>) {
    let state = screen.painted(ink(status), word(status.state));
    let name = screen.bold(&status.pipeline);
    screen.line(&format!("{name}: {state}"));
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            screen.line(&format!("  {name:<10} {value}"));
        }
    };
    fact(
        "halted",
        status.halted.as_ref().map(|halt| {
            format!(
                "{} ({}) at {}; `explain {}` says what to do",
                halt.reason, halt.class, halt.at, halt.reason
            )
        }),
    );
    fact(
        "owner",
        status.lease.as_ref().map(|lease| {
            let owner = lease.owner.as_deref().unwrap_or("nobody");
            let mut line = format!("{owner}, lease {}", lease.state);
            if let Some(since) = &lease.since {
                line.push_str(&format!(", since {since}"));
            }
            if let Some(age) = lease.heartbeat_age_ms {
                let (seconds, tenths) = (age / 1000, age % 1000 / 100);
                line.push_str(&format!(", last heartbeat {seconds}.{tenths} s ago"));
            }
            if lease.state == "live" && lease.lock == "free" {
                line.push_str(", but its connection is gone");
            }
            line
        }),
    );
    fact("source", status.source.clone());
    fact("watermark", status.watermark.clone());
    fact("acked end", status.acked_end.clone());
    fact(
        "lag",
        status
            .lag_bytes
            .zip(status.source_wal_end.as_ref())
            .map(|(bytes, end)| {
                format!("{bytes} bytes behind the source, whose WAL ends at {end}")
            }),
    );
    fact("slot", Some(slot(status)));
    for code in notices(status) {
        fact(
            "notice",
            Some(format!("{code}; `explain {code}` says what it means")),
        );
    }
    fact("reported", status.reported.clone());
}

/// Codes of what the owner noticed when it was admitted.
fn notices(status: &Status) -> Vec<String> {
    let reported = status.reported.as_deref().unwrap_or_default();
    let reported: Value = serde_json::from_str(reported).unwrap_or_default();
    let codes = reported.get("notices").and_then(Value::as_array);
    let codes = codes.into_iter().flatten().filter_map(Value::as_str);
    codes.map(str::to_owned).collect()
}

fn slot(status: &Status) -> String {
    let name = &status.slot;
    if let Some(code) = status.source_unasked {
        return format!("{name}, unknown: the source could not be asked ({code})");
    }
    let Some(now) = &status.slot_now else {
        return format!("{name}, which does not exist");
    };
    let reader = if now.active { "active" } else { "inactive" };
    let mut line = format!("{name}, {reader}, WAL {}", now.wal_status);
    if let Some(bytes) = now.retained_bytes {
        line.push_str(&format!(", {bytes} bytes retained"));
    }
    if let Some(bytes) = now.safe_bytes {
        line.push_str(&format!(", {bytes} until at risk"));
    }
    if let Some(code) = now.unusable {
        line.push_str(&format!(", unusable ({code})"));
    }
    line
}

const fn ink(status: &Status) -> Ink {
    match status.exit_code {
        0 => Ink::Green,
        2 => Ink::Yellow,
        _ => Ink::Red,
    }
}

const fn word(state: State) -> &'static str {
    match state {
        State::Starting => "starting",
        State::CatchingUp => "catching up",
        State::Streaming => "streaming",
        State::Retrying => "retrying",
        State::Stopping => "stopping",
        State::NotStarted => "not started",
        State::OwnerLost => "its owner is lost",
        State::Halted => "halted",
    }
}
