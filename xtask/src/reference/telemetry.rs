//! What does a running pipeline report?

use replicant_sink::telemetry as sink;
use replicant_transport::telemetry as transport;

use super::{Page, Writer, code};

pub(super) fn page() -> Page {
    let mut page = Writer::titled(
        "Metrics and events",
        "Metrics go to the recorder that the host installed through the `metrics` facade; every one has the label `slot`.\n\
         Events are `tracing` events with the field `slot`.\n\
         Names are only ever added, and neither ever carries a value of a row.",
    );
    page.section("Metrics");
    page.table(
        ["metric", "kind", "meaning"],
        transport::METRICS
            .iter()
            .chain(sink::METRICS)
            .map(|metric| {
                [
                    code(metric.name),
                    metric.kind.to_owned(),
                    metric.doc.to_owned(),
                ]
            }),
    );
    page.section("Events with target `replicant_transport`");
    events(&mut page, transport::EVENTS);
    page.section("Events with target `replicant`");
    events(&mut page, sink::EVENTS);
    page.page("telemetry.md")
}

fn events(page: &mut Writer, events: &[(&str, &str)]) {
    page.table(
        ["message", "meaning"],
        events
            .iter()
            .map(|(message, meaning)| [code(message), (*meaning).to_owned()]),
    );
}
