use miette::{IntoDiagnostic, Result, WrapErr};
use sounding_host::{Capabilities, keep_only};

/// What the daemon still may do once it reads a modem: open a port again that is another user's. It has that only as root.
const KEPT: Capabilities = Capabilities::DAC_OVERRIDE;

/// Drops what loading and changing the machine took. What is to be undone takes its rights from the guard.
pub(super) fn drop_rights() -> Result<()> {
    keep_only(KEPT).into_diagnostic().wrap_err("capabilities cannot be dropped")
}
