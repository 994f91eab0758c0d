//! How exact the modelled cell, virtual time and the emulator are.

pub mod agreement;
pub mod cell;
pub mod emu_cells;
pub mod mahimahi;
pub mod nested;
pub mod page;
pub mod validation;
