//! How does a test declare a history or an append log of a table it just made? By the names of its columns.

use replicant_checkpoint::contract::append::{self, AppendSpec};
use replicant_checkpoint::contract::history::{CLOSE_ACTION, HistorySpec};
use replicant_checkpoint::contract::resource::{
    Accept, ActionKind, ActionSpec, ColumnSpec, IdentityReach, IdentitySpec, Nullability,
    OnTruncate, Origin, ResourceSpec, Shape, Storage,
};

/// Columns of a history table beside those of its source, `version_id` its primary key.
pub const WINDOW: &str = "version_id bigint generated always as identity primary key, \
    valid_from_lsn bigint not null, valid_to_lsn bigint, valid_from timestamptz, valid_to timestamptz, \
    is_current boolean not null";

/// Columns of a log beside those of its source and their images before (`before_...`), `event_id` its primary key.
pub const STAMPS: &str = "event_id bigint generated always as identity primary key, \
    source_system_id text not null, source_database text not null, slot_name text not null, \
    commit_lsn bigint not null, ordinal bigint not null, operation text not null, origin text not null, \
    snapshot_attempt bytea, unchanged_columns text[], commit_timestamp timestamptz, xid bigint";

/// The unique index that a log needs.
pub const AXES: &str = "source_system_id, source_database, slot_name, commit_lsn, ordinal";

/// Makes a resource keep what `history(a, b)` or `log` says.
///
/// # Panics
/// When it says neither.
pub fn keep(resource: &mut ResourceSpec, how: &str) {
    let key = how
        .strip_prefix("history(")
        .and_then(|rest| rest.strip_suffix(')'));
    match (how, key) {
        ("log", _) => keep_log(resource),
        (_, Some(key)) => {
            let leak = |name: &str| -> &'static str { Box::leak(name.trim().to_owned().into()) };
            let key: Vec<&'static str> = key.split(',').map(leak).collect();
            keep_history(resource, &key);
        }
        _ => panic!("{how} is neither history(...) nor log"),
    }
}

/// Makes a resource keep the history of rows found by these fields, all of it in [`WINDOW`].
pub fn keep_history(resource: &mut ResourceSpec, business_key: &[&'static str]) {
    let history = HistorySpec {
        business_key: Vec::leak(business_key.to_vec()),
        valid_from_lsn: "valid_from_lsn",
        valid_to_lsn: "valid_to_lsn",
        valid_from: Some("valid_from"),
        valid_to: Some("valid_to"),
        current: Some("is_current"),
        close_action: CLOSE_ACTION,
    };
    resource.shape = Shape::History(history);
    fill(resource, "version_id");
    let keys = [business_key, &["valid_from_lsn"]].concat();
    resource.identities = Vec::leak(vec![IdentitySpec::new("version_key", Vec::leak(keys))]);
    resource.upsert_identity = Some("version_key");
    resource.on_truncate = OnTruncate::Close;
    resource.actions = Vec::leak(vec![
        ActionSpec::new(ActionKind::Read, Accept::Fields(&[])),
        ActionSpec::new(ActionKind::Create, Accept::All),
        ActionSpec::new(ActionKind::Destroy, Accept::Fields(&[])),
        ActionSpec {
            name: Some(CLOSE_ACTION),
            ..ActionSpec::new(
                ActionKind::Update,
                Accept::Fields(&["valid_to_lsn", "valid_to", "is_current"]),
            )
        },
    ]);
}

/// Makes a resource a log of its table's changes, all of it in [`STAMPS`].
pub fn keep_log(resource: &mut ResourceSpec) {
    resource.shape = Shape::AppendLog(AppendSpec {
        action: append::ACTION,
        identity: append::IDENTITY,
        source_system: "source_system_id",
        source_database: "source_database",
        slot: "slot_name",
        commit_lsn: "commit_lsn",
        ordinal: "ordinal",
        operation: "operation",
        origin: "origin",
        attempt: "snapshot_attempt",
        unchanged: Some("unchanged_columns"),
        commit_timestamp: Some("commit_timestamp"),
        xid: Some("xid"),
        message_prefix: None,
        message_content: None,
    });
    fill(resource, "event_id");
    resource.identities = Vec::leak(vec![IdentitySpec {
        reach: IdentityReach::AllTenants,
        ..IdentitySpec::new(
            append::IDENTITY,
            &[
                "source_system_id",
                "source_database",
                "slot_name",
                "commit_lsn",
                "ordinal",
            ],
        )
    }]);
    resource.upsert_identity = None;
    resource.on_truncate = OnTruncate::Append;
    resource.actions = Vec::leak(vec![
        ActionSpec::new(ActionKind::Read, Accept::Fields(&[])),
        ActionSpec {
            name: Some(append::ACTION),
            ..ActionSpec::new(ActionKind::Create, Accept::All)
        },
    ]);
}

/// Says of every column where its value comes from.
fn fill(resource: &mut ResourceSpec, surrogate: &str) {
    let roles = resource.roles();
    let column = |column: &ColumnSpec| {
        let field = column.field;
        if field == surrogate {
            return ColumnSpec {
                origin: Origin::Destination,
                storage: Storage::Int8,
                nullability: Nullability::NotNull,
                ..*column
            };
        }
        if let Some((role, _)) = roles.iter().find(|(_, filled)| *filled == field) {
            return ColumnSpec {
                origin: Origin::Stamp,
                storage: role.storages()[0],
                ..*column
            };
        }
        match field.strip_prefix("before_") {
            Some(source) => ColumnSpec {
                origin: Origin::Before(source),
                ..*column
            },
            None => *column,
        }
    };
    resource.columns = Vec::leak(resource.columns.iter().map(column).collect());
}
