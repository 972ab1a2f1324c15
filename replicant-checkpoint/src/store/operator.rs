//! What may a person decide about a checkpoint: show, adopt, reset, acknowledge a timeline.
