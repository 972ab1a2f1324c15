//! Are there keys for what is declared sealed?

use super::report::Check;
use crate::pipeline::Pipeline;
use crate::reason::Reason;
use crate::seal;

const NAME: &str = "vault";
const DOMAIN: &str = "configuration";

/// Asks the vault for its keys. No check for a pipeline that seals nothing.
pub(super) async fn check(pipeline: &Pipeline) -> Option<Check> {
    if !seal::is_declared(pipeline.spec()) {
        return None;
    }
    let Some(vault) = pipeline.keys() else {
        return Some(Check::fail(NAME, DOMAIN, &Reason::VaultMissing.into()));
    };
    Some(match vault.keys().await {
        Ok(_) => Check::pass(NAME, DOMAIN),
        Err(error) => Check::fail(NAME, DOMAIN, &error),
    })
}
