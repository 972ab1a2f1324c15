//! What does the target of a message hold? The name of the field that keeps a message's content.

/// The field of an auxiliary resource that a routed message's content is written to.
pub const CONTENT_FIELD: &str = "content";
