//! The evaluations of papers, item by item.

pub mod biscay;
pub mod cqic;
pub mod gandalf;
pub mod legilimens;
pub mod pbe_cc;
