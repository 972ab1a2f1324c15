//! Every case of this folder as a module: one compile reports what is wrong in each.
#![allow(dead_code, unused_imports)]

mod destination_action_missing;
mod destination_action_tenant_bypass;
mod destination_append_message_route_invalid;
mod destination_message_route_invalid;
mod destination_participant_cycle;
mod destination_participant_invalid;
mod destination_participant_mirrored;
mod destination_participant_tenant;
mod destination_participant_unknown;
mod duplicate_resource;
mod duplicate_source;
mod duplicate_target;
mod ignored_source_mapped;
mod message_route_unknown;
mod resource_path_repeated;
mod retention_below_recovery_horizon;
mod sink_kind_mixed;
mod target_in_checkpoint_schema;
mod target_shared_by_tenants;

fn main() {}
