//! The rights of a process that reads a modem.

use miette::{IntoDiagnostic, Result};
use sounding_host::{Capabilities, keep_only};

/// Opening a port again that is another user's, and writing files for the user of `sudo`, as root
/// only.
const KEPT: Capabilities = Capabilities::DAC_OVERRIDE;

/// The same with the right to take a program off a network device, which Linux before 6.6 asks for.
pub(crate) fn drop_for_detaching() -> Result<()> {
    keep_only(KEPT.union(Capabilities::NET_ADMIN)).into_diagnostic()
}

/// Drops every right that reading a modem and writing files do not take. Threads that run already
/// keep theirs.
pub(crate) fn drop_for_reading() -> Result<()> {
    keep_only(KEPT).into_diagnostic()
}
