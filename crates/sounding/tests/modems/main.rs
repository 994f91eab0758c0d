//! Several modems in one daemon: which flow follows which, and what becomes of the others when one
//! fails.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod alone;
mod flows;
mod modem;
mod refused;
mod reload;
mod rig;
mod routes;
