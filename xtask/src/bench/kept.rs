//! What differs when the destination keeps versions or events instead of the current state?
//!
//! The baseline is what somebody would build without Replicant: a subscription mirrors the table, and a trigger of the
//! mirror that is enabled for replication keeps the versions or the events. It knows no positions of the source, so
//! its own WAL's stand in for them; nothing of it has to be found again after a restart.

use replicant_shop::accounts::SealedAccountsSink;
use replicant_shop::kept::{EventsSink, VersionsSink};
use replicant_shop::mirror::ShopSink;
use replicant_shop::schema::{ACCOUNTS_DESTINATION, ACCOUNTS_SOURCE, KEPT};
use replicant_sink::resource::SinkDeclaration;
use tokio_postgres::Client;

use crate::run::Failure;

/// What the destination keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keeps {
    /// The current state.
    Current,
    /// Every version of a product.
    Versions,
    /// Every change of a product.
    Events,
    /// Accounts by organisation, their numbers sealed. The baseline is Replicant's plain mirror of them.
    Sealed,
}

/// Who kept it?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whose {
    Ours,
    Baseline,
}

const VERSIONS_TRIGGER: &str = include_str!("kept/versions_trigger.sql");
const EVENTS_TRIGGER: &str = include_str!("kept/events_trigger.sql");

const COLUMNS: &str = "sku, name, stock, price, active, updated_at, attributes";
const ACCOUNT_COLUMNS: &str = "org_id, holder, balance, updated_at";

impl Keeps {
    pub(crate) fn pipeline(self) -> &'static str {
        match self {
            Self::Current => "shop",
            Self::Versions => "versions",
            Self::Events => "events",
            Self::Sealed => "sealed",
        }
    }

    pub(crate) fn slot(self) -> &'static str {
        match self {
            Self::Current => ShopSink::SPEC.slot_name,
            Self::Versions => VersionsSink::SPEC.slot_name,
            Self::Events => EventsSink::SPEC.slot_name,
            Self::Sealed => SealedAccountsSink::SPEC.slot_name,
        }
    }

    pub(crate) fn baseline(self) -> &'static str {
        match self {
            Self::Current => "native subscription",
            Self::Versions | Self::Events => "native subscription with a trigger",
            Self::Sealed => "plain mirror",
        }
    }

    /// What the source needs besides its tables.
    pub(crate) fn source(self) -> &'static str {
        match self {
            Self::Current | Self::Versions => "",
            Self::Events => "alter table products replica identity full",
            Self::Sealed => ACCOUNTS_SOURCE,
        }
    }

    /// What the destination has besides the mirror's tables.
    pub(crate) fn destination(self) -> String {
        match self {
            Self::Current => String::new(),
            Self::Versions => format!("{KEPT}; {VERSIONS_TRIGGER}"),
            Self::Events => format!("{KEPT}; {EVENTS_TRIGGER}"),
            Self::Sealed => ACCOUNTS_DESTINATION.to_owned(),
        }
    }

    /// What was kept of the rows that were there before.
    pub(crate) fn base(self) -> String {
        match self {
            Self::Current | Self::Events | Self::Sealed => String::new(),
            Self::Versions => format!(
                "insert into product_versions (product_id, {COLUMNS}, valid_from_lsn, is_current) \
                 select id, {COLUMNS}, 1, true from products"
            ),
        }
    }

    /// Where the end of the backlog, the row `$1`, is seen: what follows `from`.
    pub(crate) fn arrival(self) -> &'static str {
        match self {
            Self::Current => "public.products where id = $1",
            Self::Versions => "public.product_versions where product_id = $1",
            // Products have no index there, and whoever looks must not read the whole log each time.
            Self::Events => {
                "(select id from public.product_events order by event_id desc limit 1) e where id = $1"
            }
            Self::Sealed => "public.sealed_accounts where id = $1",
        }
    }

    /// The same for the baseline; where a trigger keeps, it and its mirror commit together.
    pub(crate) fn baseline_arrival(self) -> &'static str {
        match self {
            Self::Current | Self::Versions | Self::Events => Self::Current.arrival(),
            Self::Sealed => "public.accounts where id = $1",
        }
    }

    /// Is everything there that should be, and nothing else?
    pub(crate) async fn is_right(
        self,
        source: &Client,
        destination: &Client,
        whose: Whose,
        changes: u32,
    ) -> Result<bool, Failure> {
        let last = match (self, whose) {
            (Self::Current, _) => "products",
            (Self::Versions, _) => {
                "(select product_id id, * from product_versions where valid_to_lsn is null) v"
            }
            (Self::Events, Whose::Ours) => {
                "(select distinct on (id) * from product_events order by id, commit_lsn desc, ordinal desc) e"
            }
            (Self::Events, Whose::Baseline) => {
                "(select distinct on (id) * from product_log order by id, event_id desc) e"
            }
            (Self::Sealed, Whose::Ours) => "sealed_accounts",
            (Self::Sealed, Whose::Baseline) => "accounts",
        };
        // The last transaction is one change more.
        let count = match (self, whose) {
            (Self::Versions, _) => {
                Some("select pg_catalog.count(*) from product_versions where valid_from_lsn > 1")
            }
            (Self::Events, Whose::Ours) => Some("select pg_catalog.count(*) from product_events"),
            (Self::Events, Whose::Baseline) => Some("select pg_catalog.count(*) from product_log"),
            (Self::Current | Self::Sealed, _) => None,
        };
        if let Some(count) = count {
            let counted: i64 = destination.query_one(count, &[]).await?.get(0);
            if counted != i64::from(changes) + 1 {
                return Ok(false);
            }
        }
        let (columns, expected) = match self {
            Self::Current | Self::Versions => (COLUMNS, "products"),
            // Of a log of changes only what changed is there.
            Self::Events => (COLUMNS, "products where id < 0 or stock <> id % 1000"),
            Self::Sealed => (ACCOUNT_COLUMNS, "accounts"),
        };
        let kept = digest(destination, columns, last).await?;
        Ok(kept == digest(source, columns, expected).await?)
    }
}

/// One number that depends on every row.
async fn digest(client: &Client, columns: &str, rows: &str) -> Result<Option<String>, Failure> {
    let sql = format!(
        "select pg_catalog.sum(pg_catalog.hashtextextended(row(id, {columns})::text, 0))::text from {rows}"
    );
    Ok(client.query_one(&sql, &[]).await?.get(0))
}
