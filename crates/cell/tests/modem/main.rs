//! A modem's records agree with the events of the model.

#[path = "../../../diag/tests/tree/mod.rs"]
mod tree;

mod commands;
mod lte;
mod network;
mod nr;
mod repeats;
mod signalling;
mod sounder;
