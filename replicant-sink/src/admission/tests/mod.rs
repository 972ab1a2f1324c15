//! Admission against a real server, and against facts written by hand.

mod accepted;
mod cluster;
mod declared;
mod faithful;
mod refused;
mod source;
