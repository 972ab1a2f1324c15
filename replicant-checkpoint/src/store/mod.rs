//! The rows a checkpoint is made of, in the destination.
