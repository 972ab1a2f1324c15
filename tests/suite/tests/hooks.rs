//! What do hooks see, what becomes of what they do, and what stops when they go wrong?

#[path = "hooks/kept.rs"]
mod kept;
#[path = "hooks/sealed.rs"]
mod sealed;
#[path = "hooks/shop.rs"]
mod shop;
#[path = "hooks/stops.rs"]
mod stops;
#[path = "hooks/survival.rs"]
mod survival;
#[path = "hooks/tables.rs"]
mod tables;
#[path = "hooks/tenants.rs"]
mod tenants;
