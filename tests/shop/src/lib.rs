//! A web shop and its mirror: the example that the demo, the benchmark, the guide and the tests share.
//!
//! - [`schema`]: the tables of both databases, and how they are created.
//! - [`mirror`]: what of it is mirrored, declared with the macros.
//! - [`accounts`]: a table mirrored plainly, and by tenants with a sealed column.
//! - [`kept`]: what of it is kept as a history and as a log of events.
//! - [`traffic`]: what the shop's application does all day, from a seed.
//! - [`verify`]: does the mirror hold exactly what the shop holds?

pub mod accounts;
pub mod kept;
pub mod mirror;
pub mod schema;
pub mod traffic;
pub mod verify;

use replicant_sink::pipeline::Pipeline;
use replicant_sink::seal::EnvironmentVault;

/// The pipeline of this name: `shop`, the mirror; `versions`, the history; `events`, the log; `accounts` and `sealed`,
/// the two mirrors of accounts.
pub fn named(name: &str) -> Option<Pipeline> {
    match name {
        "shop" => Some(pipeline()),
        "versions" => Some(of_shop(Pipeline::of::<kept::VersionsSink>(), "versions")),
        "events" => Some(of_shop(Pipeline::of::<kept::EventsSink>(), "events")),
        "accounts" => Some(of_accounts(Pipeline::of::<accounts::AccountsSink>(), name)),
        "sealed" => {
            let sealed = Pipeline::of::<accounts::SealedAccountsSink>();
            let keys = EnvironmentVault::new(schema::KEYS_VARIABLE);
            Some(of_accounts(sealed, name).vault(keys))
        }
        _ => None,
    }
}

/// The shop's pipeline, named `shop`; where its two ends are comes from configuration.
pub fn pipeline() -> Pipeline {
    of_shop(Pipeline::of::<mirror::ShopSink>(), "shop")
}

fn of_accounts(pipeline: Pipeline, name: &str) -> Pipeline {
    pipeline
        .named(name)
        .publication(schema::ACCOUNTS_PUBLICATION)
        .go_forward()
}

fn of_shop(pipeline: Pipeline, name: &str) -> Pipeline {
    pipeline
        .named(name)
        .publication(schema::PUBLICATION)
        .go_forward()
}
