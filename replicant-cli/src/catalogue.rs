//! Which codes can anybody meet? One list of the rules of declarations and the reasons of every crate.

use std::collections::HashSet;

use replicant_checkpoint::contract::rules::Rule;
use serde::Serialize;

use crate::migrations::reason as migrations;

/// What a code names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A rule of declarations; the compiler prints it.
    Rule,
    /// Why a pipeline stopped or does not start.
    Reason,
}

/// One code.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entry {
    /// The code.
    pub code: &'static str,
    /// What it names.
    pub kind: Kind,
    /// The lowest stage that can know it: syntax, rules, types, relations, admission or delivery.
    pub rung: &'static str,
    /// What it means for a running pipeline: transient, terminal or operator decision. A rule is terminal, for it
    /// stops the compiler.
    pub class: &'static str,
    /// What to do.
    pub help: &'static str,
}

/// Every code once, rules first, each crate's in its own order.
///
/// A code that several layers can find means the same in all of them; it is listed where it is found first.
pub fn all() -> Vec<Entry> {
    let mut seen = HashSet::new();
    let mut entries = every_layer();
    entries.retain(|entry| seen.insert(entry.code));
    entries
}

fn every_layer() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Rule::ALL
        .iter()
        .map(|rule| Entry {
            code: rule.code(),
            kind: Kind::Rule,
            rung: rule.rung().as_str(),
            class: rule.class().as_str(),
            help: rule.help(),
        })
        .collect();
    for reason in replicant_transport::reason::Reason::ALL {
        entries.push(Entry {
            code: reason.code(),
            kind: Kind::Reason,
            rung: "delivery",
            class: reason.class().as_str(),
            help: reason.help(),
        });
    }
    for reason in replicant_checkpoint::reason::Reason::ALL {
        entries.push(Entry {
            code: reason.code(),
            kind: Kind::Reason,
            rung: "admission",
            class: reason.class().as_str(),
            help: reason.help(),
        });
    }
    let mut rung = "admission";
    for reason in replicant_sink::Reason::ALL {
        // The sink lists what admission finds first, then what delivery meets.
        if *reason == replicant_sink::Reason::TruncateHalt {
            rung = "delivery";
        }
        entries.push(Entry {
            code: reason.code(),
            kind: Kind::Reason,
            rung,
            class: reason.class().as_str(),
            help: reason.help(),
        });
    }
    for finding in replicant_sink::doctor::Finding::ALL {
        entries.push(Entry {
            code: finding.code(),
            kind: Kind::Reason,
            rung: "admission",
            class: finding.class().as_str(),
            help: finding.help(),
        });
    }
    for reason in migrations::Reason::ALL {
        entries.push(Entry {
            code: reason.code(),
            kind: Kind::Reason,
            rung: "admission",
            class: reason.class().as_str(),
            help: reason.help(),
        });
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_means_one_thing_in_all_layers() {
        let listed = all();
        for entry in every_layer() {
            let first = listed
                .iter()
                .find(|other| other.code == entry.code)
                .expect("listed");
            assert_eq!(first.class, entry.class, "{}", entry.code);
            assert_eq!(first.help, entry.help, "{}", entry.code);
            assert!(!entry.help.is_empty(), "{}", entry.code);
        }
        let codes: HashSet<&str> = listed.iter().map(|entry| entry.code).collect();
        assert_eq!(codes.len(), listed.len());
    }

    #[test]
    fn the_rung_of_a_reason_is_where_it_is_found() {
        let rung = |code: &str| {
            all()
                .into_iter()
                .find(|entry| entry.code == code)
                .map(|entry| entry.rung)
        };
        assert_eq!(rung("destination_rule"), Some("admission"));
        assert_eq!(rung("destination_diverged"), Some("delivery"));
        assert_eq!(rung("option_unknown"), Some("syntax"));
        assert_eq!(rung("retention_at_risk"), Some("admission"));
    }
}
