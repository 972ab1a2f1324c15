//! Mistakes in code around declarations, which the compiler explains by what our traits tell it.
#![allow(dead_code, unused_imports)]

mod functions;
mod hook_types;
mod other_declarations;
mod protected_column;

fn main() {}
