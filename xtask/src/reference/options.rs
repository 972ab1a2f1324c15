//! Which options exist: those of declarations, and those of a pipeline.

use replicant_sink::contract::keys::{self, Place, Presence, Repeat};
use replicant_sink::options::{self, Availability};

use super::{Page, Writer, code};

pub(super) fn declarations() -> Page {
    let mut page = Writer::titled(
        "Declaration options",
        "Every option of the four attributes.\n\
         Options are written as `flag`, `name = value` or `name(a, b)`; values are identifiers, paths or literals, and any name may be written as a string.\n\
         `skip`, `sensitive`, `source` and `before` name source columns; everything else names fields, identities and actions.",
    );
    for place in Place::ALL {
        page.section(&code(place.as_str()));
        page.table(
            ["option", "spelling", "when absent", "meaning"],
            keys::available(*place).map(|key| {
                let repeat = match key.repeat {
                    Repeat::Once => "",
                    Repeat::Many => " May be repeated.",
                };
                let absent = match key.presence {
                    Presence::Required => "required".to_owned(),
                    Presence::Default(means) => means.to_owned(),
                };
                [
                    code(key.name),
                    code(key.usage),
                    absent,
                    format!("{}{repeat}", key.doc),
                ]
            }),
        );
    }
    page.page("keys.md")
}

pub(super) fn configuration() -> Page {
    let mut page = Writer::titled(
        "Configuration keys",
        "Every option of a pipeline, in its TOML table and as an environment variable of a pipeline named `shop`.\n\
         The variable wins over the file, and the file over what the program said before it read the file.",
    );
    page.section("Available");
    page.table(
        ["key", "variable", "value", "default", "meaning"],
        with(Availability::Now).map(|key| {
            [
                code(key.name),
                code(&format!("REPLICANT_SHOP_{}", key.name.to_uppercase())),
                key.shape.to_owned(),
                key.default.to_owned(),
                key.doc.to_owned(),
            ]
        }),
    );
    page.section("Not available yet");
    page.line("These are refused with `option_not_available`, never ignored.\n");
    page.table(
        ["key", "meaning"],
        with(Availability::NotYet).map(|key| [code(key.name), key.doc.to_owned()]),
    );
    page.page("configuration.md")
}

fn with(availability: Availability) -> impl Iterator<Item = &'static options::Key> {
    options::KEYS
        .iter()
        .filter(move |key| key.availability == availability)
}
