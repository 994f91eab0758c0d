//! What a modem writes is what happened.

#[path = "../../../diag/tests/tree/mod.rs"]
mod tree;

mod commands;
mod lte;
mod network;
mod nr;
mod signalling;
mod sounder;
