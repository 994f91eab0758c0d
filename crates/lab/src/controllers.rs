//! How good controllers are, and whether they are what theory and their authors say.

mod advised;
pub mod baselines;
pub mod closed_loop;
mod constant;
pub mod field;
pub mod head_to_head;
pub mod reference;
mod rtt_buffer;
