//! Every case of this folder as a module: one compile reports what is wrong in each.
#![allow(dead_code, unused_imports)]

mod before_source;
mod field_conditional;
mod generated_source;
mod item_generic;
mod item_repeated;
mod item_shape;
mod option_misplaced;
mod option_missing;
mod option_repeated;
mod option_syntax;
mod option_unknown;
mod option_value;
mod sealed_lossy;

fn main() {}
