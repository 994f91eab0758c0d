use miette::{IntoDiagnostic, Result, WrapErr};
use sounding_host::{Capabilities, keep_only};

/// The daemon's remaining right once it reads a modem: to open another user's port again. It has that only as root.
const KEPT: Capabilities = Capabilities::DAC_OVERRIDE;

/// Drops what loading and changing the machine took. What is to be undone takes its rights from the guard.
pub(super) fn drop_rights() -> Result<()> {
    keep_only(KEPT).into_diagnostic().wrap_err("capabilities cannot be dropped")
}
