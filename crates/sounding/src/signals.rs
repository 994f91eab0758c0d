//! Ctrl-C and its kin, for verbs that end in good order.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether a signal has come. It stays `false` where no flag was asked for: then a signal ends this
/// process.
static IS_STOPPING: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// A flag that is set when a signal asks this process to end.
pub(crate) fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&IS_STOPPING))?;
    }
    Ok(Arc::clone(&IS_STOPPING))
}

/// The same for a daemon, and a flag that is set when SIGHUP comes, which may be a request to read
/// its configuration again.
pub(crate) fn daemon_flags() -> io::Result<(Arc<AtomicBool>, Arc<AtomicBool>)> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&IS_STOPPING))?;
    }
    let hung_up = Arc::<AtomicBool>::default();
    signal_hook::flag::register(SIGHUP, Arc::clone(&hung_up))?;
    Ok((Arc::clone(&IS_STOPPING), hung_up))
}

/// Whether a signal has asked this process to end, and it does so in good order.
pub(crate) fn is_stopping() -> bool {
    IS_STOPPING.load(Ordering::Relaxed)
}
