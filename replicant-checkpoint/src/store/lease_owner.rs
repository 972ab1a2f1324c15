//! What is an owner called, and what may be said about it?
//!
//! An owner is a machine and a random number: process numbers repeat, and in containers they are all 1. A name that is
//! read back is printed only if it has that form, because anybody who may write the checkpoint can put a text there.

use replicant_transport::error::Site;

use super::lease::Lease;
use crate::error::Error;
use crate::reason::Reason;

const NUMBER_DIGITS: usize = 16;

/// The name of an owner on this machine, for example `db-mirror-2#0123456789abcdef`.
pub fn owner_name(machine: &str, number: u64) -> String {
    let machine: String = machine
        .trim()
        .chars()
        .map(|c| if is_machine(c) { c } else { '-' })
        .collect();
    let machine = match machine.as_str() {
        "" => "unknown",
        named => named,
    };
    format!("{machine}#{number:016x}")
}

fn is_machine(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// The name if it is one of ours.
fn known(owner: &str) -> Option<&str> {
    let (machine, number) = owner.split_once('#')?;
    let digits = number.len() == NUMBER_DIGITS && number.chars().all(|c| c.is_ascii_hexdigit());
    let machine = !machine.is_empty() && machine.chars().all(is_machine);
    (machine && digits).then_some(owner)
}

impl Lease {
    /// The refusal that names this lease's owner.
    pub fn refusal(&self) -> Error {
        let owner = self.owner.as_deref().and_then(known);
        let mut fact = format!("the owner is {}", owner.unwrap_or("unknown"));
        if let Some(since) = &self.since {
            fact.push_str(&format!(", since {since} by the destination's clock"));
        }
        Error::new(Reason::SlotOwnedElsewhere, Site::none().fact(fact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_a_machine_and_a_number() {
        assert_eq!(owner_name("db-1.shop\n", 255), "db-1.shop#00000000000000ff");
        assert_eq!(owner_name("", 1), "unknown#0000000000000001");
        assert_eq!(owner_name("a b", 1), "a-b#0000000000000001");
        assert!(known(&owner_name("db 1", u64::MAX)).is_some());
    }

    #[test]
    fn a_text_of_another_form_is_not_printed() {
        for text in [
            "",
            "a",
            "a#1",
            "#0123456789abcdef",
            "a b#0123456789abcdef",
            "a#0123456789abcdeg",
        ] {
            assert_eq!(known(text), None, "{text}");
        }
    }
}
