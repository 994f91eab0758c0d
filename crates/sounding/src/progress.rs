//! A line of progress on standard error, where that is a terminal. The daemon's build shows none.

#[cfg(feature = "demo")]
use std::io::{self, IsTerminal as _};

#[cfg(feature = "demo")]
pub(crate) use indicatif::ProgressBar;
#[cfg(feature = "demo")]
use indicatif::{ProgressDrawTarget, ProgressStyle};

/// A line of this form. Without a length its end is unknown.
#[cfg(feature = "demo")]
pub(crate) fn line(template: &str, length: Option<u64>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template);
    ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// No line, where the terminal belongs to other commands of a pipe.
#[cfg(feature = "demo")]
pub(crate) fn none() -> ProgressBar {
    ProgressBar::hidden()
}

/// Stands for a line that is not shown.
#[cfg(not(feature = "demo"))]
pub(crate) struct ProgressBar;

#[cfg(not(feature = "demo"))]
pub(crate) fn line(_: &str, _: Option<u64>) -> ProgressBar {
    ProgressBar
}

#[cfg(not(feature = "demo"))]
pub(crate) fn none() -> ProgressBar {
    ProgressBar
}

#[cfg(not(feature = "demo"))]
impl ProgressBar {
    pub(crate) fn set_length(&self, _: u64) {}

    pub(crate) fn set_position(&self, _: u64) {}

    pub(crate) fn set_message(&self, _: impl Into<String>) {}

    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        print();
    }

    pub(crate) fn finish_and_clear(&self) {}
}
