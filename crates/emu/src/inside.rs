//! Detects whether this process is already behind an emulated link.
//!
//! It examines the network, not the environment: variables are lost through `sudo`, and stay in a
//! process that has moved to another network.

use crate::StartError;
use crate::device::{Control, tun_name};

/// Refuses a network namespace that an emulation made, at either end.
///
/// An emulation inside it would make separate namespaces without a connection to it: programs in
/// them would only be behind the inner link.
///
/// # Errors
///
/// [`StartError::Inside`] in such a namespace; [`StartError::System`] if the kernel does not tell.
pub fn refuse_inside() -> Result<(), StartError> {
    let device = tun_name(0);
    let system = |source| StartError::System {
        doing: "look whether this is behind an emulated link",
        source,
    };
    let control = Control::open().map_err(system)?;
    match control.is_tun(&device).map_err(system)? {
        true => Err(StartError::Inside { device }),
        false => Ok(()),
    }
}
