//! What does the target of a message, or of a hook's action, hold? The names of fields that the library knows.

/// The field of an auxiliary resource that a routed message's content is written to.
pub const CONTENT_FIELD: &str = "content";

/// The private field of an auxiliary resource that holds the key under which its row was created.
pub const OPERATION_KEY_FIELD: &str = "operation_key";
