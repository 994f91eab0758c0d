//! What this program says to a terminal, a pipe or a file, where it may find nobody: the reader has had enough, the terminal
//! was closed, the disk is full.
//!
//! The macros of the standard library panic there, and a daemon whose terminal is closed has masks, routes and namespaces
//! to put back first. These stand in their place in the whole program.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

macro_rules! print {
    ($($words:tt)*) => { $crate::say::say(format_args!($($words)*)) };
}

macro_rules! println {
    () => { $crate::say::say(format_args!("\n")) };
    ($($words:tt)*) => { $crate::say::say(format_args!("{}\n", format_args!($($words)*))) };
}

macro_rules! eprintln {
    () => { $crate::say::say_aside(format_args!("\n")) };
    ($($words:tt)*) => { $crate::say::say_aside(format_args!("{}\n", format_args!($($words)*))) };
}

/// Something was to be said on standard output and is lost.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// To standard output. A reader that has had enough, as `head` has, is not told the rest.
pub(crate) fn say(words: fmt::Arguments<'_>) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_fmt(words).and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
        && !IS_LOST.swap(true, Ordering::Relaxed)
    {
        say_aside(format_args!("{:?}\n", failed(error)));
    }
}

/// To standard error; where nobody listens there either, nobody can be told.
pub(crate) fn say_aside(words: fmt::Arguments<'_>) {
    let _ = io::stderr().write_fmt(words);
}

/// Whether something that was to be said is lost, so that this run has failed whatever else it did.
pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// How errors are printed: in lines of a terminal's width on a terminal, and elsewhere in lines of their own, so that a path
/// in them can be searched for and copied.
pub(crate) fn set_up_reports() {
    let is_terminal = io::stderr().is_terminal();
    let set = miette::set_hook(Box::new(move |_| {
        let handler = miette::MietteHandlerOpts::new().wrap_lines(is_terminal).break_words(false);
        Box::new(handler.build())
    }));
    debug_assert!(set.is_ok(), "it is set once");
}

/// Standard output takes no more.
pub(crate) fn failed(error: io::Error) -> miette::Report {
    miette::miette!("standard output: {error}")
}
