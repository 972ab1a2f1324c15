//! The four declaration attributes. This file is only the door: everything behind it takes and returns
//! `proc_macro2` tokens, so that expansion and the place of every diagnostic are tested without a compiler.
//!
//! ```text
//!  tokens ── grammar ──► nodes ── options (key table) ──► typed options ── resource | domain | ... ──► declared
//!                                                                                                        │
//!  item + impl + messages ◄── emit ◄── spans of parts ◄── rules of replicant_checkpoint::contract ◄───────┘
//! ```
//!
//! Reading order: `grammar`, `path`, `options`, `item`, `declaration`, `spans`, `resource`, `emit`, then `domain`,
//! `checkpoint`, `sink`.
//! Nothing here has an opinion about what is legal beyond the shape of an option: that is the contract's business.

mod checkpoint;
mod declaration;
mod diagnostics;
mod domain;
mod emit;
mod grammar;
mod item;
mod library;
mod options;
mod path;
mod resource;
mod sink;
mod spans;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Declares a target: a struct whose fields are the mirrored columns.
///
/// ```text
/// #[replicant(
///     source_table = "orders", table = "orders",
///     skip(legacy_blob),
///     on_truncate = mirror,
///     actions(read, destroy, create(accept = all)),
/// )]
/// pub struct Order {
///     #[replicant(primary_key)]
///     pub id: i64,
///     pub amount: Option<Decimal>,
/// }
/// ```
///
/// A table without primary key and `upsert_identity` is legal; its rows are then found by comparing whole rows,
/// which needs `REPLICA IDENTITY FULL` on the source. Every option is described in
/// `replicant_sink::contract::keys`.
#[proc_macro_attribute]
pub fn replicant(options: TokenStream, item: TokenStream) -> TokenStream {
    declaration::expand(options.into(), item.into(), resource::expand_into).into()
}

/// Declares a list of resources: `#[replicant_domain(resources(Order, Customer))]` on a unit struct.
#[proc_macro_attribute]
pub fn replicant_domain(options: TokenStream, item: TokenStream) -> TokenStream {
    declaration::expand(options.into(), item.into(), domain::expand_into).into()
}

/// Declares where the checkpoint lives: `#[replicant_checkpoint(schema = "replicant")]` on a unit struct.
///
/// Nobody but the delivery role may read it; `grants(select = "ops")` names one role that may.
#[proc_macro_attribute]
pub fn replicant_checkpoint(options: TokenStream, item: TokenStream) -> TokenStream {
    declaration::expand(options.into(), item.into(), checkpoint::expand_into).into()
}

/// Declares a sink: one slot, its domains, what it ignores and its checkpoint, on a unit struct.
///
/// ```text
/// #[replicant_sink(
///     slot_name = "shop_orders",
///     domains(Shop),
///     checkpoint = ShopCheckpoint,
///     ignored_sources("public.audit_events"),
/// )]
/// pub struct ShopSink;
/// ```
#[proc_macro_attribute]
pub fn replicant_sink(options: TokenStream, item: TokenStream) -> TokenStream {
    declaration::expand(options.into(), item.into(), sink::expand_into).into()
}
