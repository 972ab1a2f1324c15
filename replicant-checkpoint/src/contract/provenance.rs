//! What snapshot provenance declares: who marks a row as seen, and what happens to rows no snapshot saw.

use super::role::Role;

/// How rows are marked and retired. Its two columns are those of [`ROLES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProvenanceSpec {
    /// The private update action that marks a row; the only one that does.
    pub mark_action: &'static str,
    /// The private action that retires a row no snapshot saw: a destroy for a mirror, an update for a history.
    pub retire_action: &'static str,
    /// `snapshot_scopes(path = f)`: the function that lists the tenants to retire in, by path as written.
    pub scopes: Option<&'static str>,
}

/// The name of the marking action unless another is given.
pub const MARK_ACTION: &str = "replicant_mark_seen";
/// The name of the retiring action unless another is given.
pub const RETIRE_ACTION: &str = "replicant_retire_unseen";

/// The two columns it needs. Their names are fixed, because nothing but the library reads or writes them.
pub const ROLES: [(Role, Option<&str>); 2] = [
    (Role::Fingerprint, Some("replica_fingerprint")),
    (Role::SeenAttempt, Some("replica_seen_attempt")),
];
