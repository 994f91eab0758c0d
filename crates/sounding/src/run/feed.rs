//! How often flows receive an estimate.

use std::time::Duration;

/// An estimate at least this often while records come in.
pub(super) const PUBLISH_EVERY: Duration = Duration::from_millis(10);
