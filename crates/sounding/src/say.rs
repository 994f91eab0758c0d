//! What this program says to a terminal, a pipe or a file, where it may find nobody: the reader has had enough, the terminal
//! was closed, the disk is full.
//!
//! The macros of the standard library panic there, and a daemon whose terminal is closed has masks, routes and namespaces
//! to put back first. These stand in their place in the whole program, and no control character of others leaves by them.

use std::fmt;
use std::io::{self, Write as _};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use miette::{GraphicalReportHandler, GraphicalTheme, Report};

use crate::screen;

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
    let words = words.to_string();
    if let Err(error) = out.write_all(screen::lines(&words).as_bytes()).and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
        && !IS_LOST.swap(true, Ordering::Relaxed)
    {
        say_aside(format_args!("{:?}\n", failed(error)));
    }
}

/// To standard error; where nobody listens there either, nobody can be told.
pub(crate) fn say_aside(words: fmt::Arguments<'_>) {
    let words = words.to_string();
    let _ = io::stderr().write_all(screen::lines(&words).as_bytes());
}

/// Why a verb failed, in colour where standard error is a terminal, unless something in it would lead that terminal.
pub(crate) fn say_failure(report: &Report) {
    let mut plain = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    let rendered = handler.render_report(&mut plain, report.as_ref());
    if rendered.is_err() || screen::lines(&plain) != plain {
        say_aside(format_args!("{plain}\n"));
    } else {
        let _ = writeln!(io::stderr(), "{report:?}");
    }
}

/// The command line. What is wrong with it is said with words of it, which a file's name may be.
pub(crate) fn parse<T: Parser>() -> T {
    let parsed = T::try_parse();
    let is_plain = |word: std::ffi::OsString| {
        let word = word.to_string_lossy();
        screen::inline(&word) == word
    };
    match parsed {
        Ok(parsed) => parsed,
        Err(error) if std::env::args_os().all(is_plain) => error.exit(),
        Err(error) => {
            say_aside(format_args!("{error}"));
            exit(error.exit_code())
        }
    }
}

/// Whether something that was to be said is lost, so that this run has failed whatever else it did.
pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Standard output takes no more.
pub(crate) fn failed(error: io::Error) -> Report {
    miette::miette!("standard output: {error}")
}
