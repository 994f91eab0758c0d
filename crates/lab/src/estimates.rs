//! How good the estimates of a link are, and what flows know of their cell.

pub mod bound;
pub mod busyness;
pub mod estimators;
