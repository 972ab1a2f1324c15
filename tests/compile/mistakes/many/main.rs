//! One file with many mistakes, reported in one compile.
#![allow(dead_code)]

mod shop;

fn main() {}
