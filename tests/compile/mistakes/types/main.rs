//! Every case of this folder as a module: one compile reports what is wrong in each.
#![allow(dead_code, unused_imports)]

mod column_type;
mod destination_participant_mismatch;
mod encrypted_missing;
mod encrypted_type;
mod event_nullable;
mod key_nullable;
mod message_content_type;
mod role_nullability;
mod role_storage;
mod sensitive_plain;
mod tenant_nullable;
mod tenant_storage;

fn main() {}
