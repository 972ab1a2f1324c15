//! Is what is declared now what the stored positions were reached under?

use replicant_checkpoint::store::Outcome;

use super::finding::Finding;
use super::report::Check;
use crate::error::Error;

/// Judges as the next bind would.
pub(super) fn drift(outcome: &Result<Outcome, Error>) -> Check {
    const NAME: &str = "contract_drift";
    const DOMAIN: &str = "contract";
    match outcome {
        Ok(Outcome::Initialised) => Check::pass_as(NAME, DOMAIN, Finding::ContractUnbound),
        Ok(Outcome::Unchanged) => Check::pass_as(NAME, DOMAIN, Finding::ContractEqual),
        Ok(Outcome::Grown) => Check::finding(NAME, DOMAIN, Finding::ContractGrown),
        Err(error) => Check::fail(NAME, DOMAIN, error),
    }
}
