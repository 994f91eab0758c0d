//! libbpf says why a load failed only through a callback that is global to the process.

use std::cell::RefCell;

use libbpf_rs::{PrintLevel, set_print};

/// Enough for the end of a verifier's log, where the reason stands.
const KEPT: usize = 4096;

thread_local! {
    /// Per thread, because loads may run side by side and the callback runs on the thread that
    /// loads.
    static HEARD: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What libbpf complains about on this thread from here on.
pub(crate) struct Complaints;

impl Complaints {
    /// Takes libbpf's messages over from standard error, for good.
    pub(crate) fn listen() -> Self {
        set_print(Some((PrintLevel::Warn, hear)));
        HEARD.take();
        Self
    }

    /// The end of the log, after a line break if there is any.
    pub(crate) fn take(&self) -> String {
        HEARD.take()
    }
}

fn hear(_: PrintLevel, message: String) {
    tracing::debug!(target: "libbpf", "{}", message.trim_end());
    HEARD.with_borrow_mut(|heard| {
        heard.push('\n');
        heard.push_str(message.trim_end());
        if heard.len() > KEPT {
            let cut = heard.ceil_char_boundary(heard.len() - KEPT);
            heard.drain(..cut);
        }
    });
}
