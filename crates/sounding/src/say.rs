//! Output that may fail: the reader of a pipe has closed it, the terminal was closed, or the disk
//! is full.
//!
//! The print macros of the standard library panic in these cases. But a daemon whose terminal is
//! closed must first restore masks, routes and namespaces. The macros here replace them in the
//! whole program, and escape all foreign control characters.

use std::ffi::OsString;
use std::fmt;
#[cfg(feature = "lab")]
use std::io::IsTerminal as _;
use std::io::{self, Write as _};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use clap::{Command, FromArgMatches};
use miette::Report;
#[cfg(feature = "lab")]
use miette::{GraphicalReportHandler, GraphicalTheme};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::patient::Patient;
use crate::screen;

macro_rules! print {
    ($($words:tt)*) => { $crate::say::say(format_args!($($words)*)) };
}

macro_rules! println {
    () => { $crate::say::say(format_args!("\n")) };
    ($($words:tt)*) => { $crate::say::say(format_args!("{}\n", format_args!($($words)*))) };
}

macro_rules! eprint {
    ($($words:tt)*) => { $crate::say::say_aside(format_args!($($words)*)) };
}

macro_rules! eprintln {
    () => { $crate::say::say_aside(format_args!("\n")) };
    ($($words:tt)*) => { $crate::say::say_aside(format_args!("{}\n", format_args!($($words)*))) };
}

/// Whether output to standard output was lost.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Prints to standard output. If the reader has closed it, as `head` does, later output is dropped.
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

/// Standard error; `None` if it was closed from the beginning.
static ASIDE: LazyLock<Mutex<Option<Patient>>> =
    LazyLock::new(|| Mutex::new(Patient::stderr().ok()));

/// Prints to standard error. If that is closed too, the text is dropped, and also if its reader
/// takes nothing while this program ends.
pub(crate) fn say_aside(words: fmt::Arguments<'_>) {
    write_aside(&screen::lines(&words.to_string()));
}

fn write_aside(text: &str) {
    let mut aside = ASIDE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(aside) = aside.as_mut() {
        let _ = aside.write_all(text.as_bytes());
    }
}

/// Environment variable that selects log lines, as `debug` or `libbpf=debug,info`; without it only
/// errors are logged.
const LOG: &str = "SOUNDING_LOG";

/// Starts the log. Its filter is the one without regular expressions, because they make the program
/// too large for a router.
pub(crate) fn set_up_log() {
    let errors = || Targets::new().with_default(LevelFilter::ERROR);
    let wanted = match std::env::var(LOG) {
        Ok(text) if !text.is_empty() => text.parse().unwrap_or_else(|error| {
            eprintln!("sounding: {LOG}={text}: {error}: only errors are logged");
            errors()
        }),
        _ => errors(),
    };
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| Log);
    tracing_subscriber::registry().with(lines).with(wanted).init();
}

/// Standard error as a log. An entry is always one line.
struct Log;

impl io::Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        say_aside(format_args!("{}\n", screen::inline(text)));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints why a verb failed.
#[cfg(not(feature = "lab"))]
pub(crate) fn say_failure(report: &Report) {
    say_aside(format_args!("{report:?}\n"));
}

/// Prints why a verb failed. It is in colour if standard error is a terminal and the text has no
/// control characters.
#[cfg(feature = "lab")]
pub(crate) fn say_failure(report: &Report) {
    let mut plain = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    let rendered = handler.render_report(&mut plain, report.as_ref());
    if rendered.is_err() || screen::lines(&plain) != plain {
        say_aside(format_args!("{plain}\n"));
    } else {
        write_aside(&format!("{report:?}\n"));
    }
}

/// Parses the command line. Errors quote words of it, for instance file names, so they are escaped.
pub(crate) fn parse<T: FromArgMatches>(mut command: Command, arguments: &[OsString]) -> T {
    let found = command.try_get_matches_from_mut(arguments);
    let parsed = found
        .and_then(|found| T::from_arg_matches(&found).map_err(|error| error.format(&mut command)));
    let error = match parsed {
        Ok(parsed) => return parsed,
        Err(error) => error,
    };
    let words: Vec<String> =
        arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut harmful: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| screen::inline(word) != *word).collect();
    if harmful.is_empty() {
        match error.print().and_then(|()| io::stdout().flush()) {
            // A reader of a pipe may have seen enough.
            Err(lost) if lost.kind() != io::ErrorKind::BrokenPipe => {
                say_failure(&failed(lost));
                exit(1)
            }
            _ => exit(error.exit_code()),
        }
    }
    // For an argument with a value the parser shows only the value.
    harmful.extend(words.iter().filter_map(|word| Some(word.split_once('=')?.1)));
    let mut text = error.render().ansi().to_string();
    for word in harmful {
        text = text.replace(word, &screen::inline(word));
    }
    // The remaining control sequences are the parser's own colours.
    say_aside(format_args!("{}", colourless(&text)));
    exit(error.exit_code())
}

/// Without the sequences that colour a text: `ESC [ numbers m` (ECMA-48 §8.3.117).
fn colourless(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        plain.push_str(rest.strip_prefix('m').unwrap_or(rest));
    }
    plain
}

/// Whether output was lost, so that this run has failed in any case.
pub(crate) fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Sets how errors are printed.
#[cfg(not(feature = "lab"))]
pub(crate) fn set_up_reports() {
    let set = miette::set_hook(Box::new(|_| Box::new(crate::plain_report::Plain)));
    debug_assert!(set.is_ok(), "it is set once");
}

/// Sets how errors are printed: wrapped to the width of a terminal, and elsewhere unwrapped, so
/// that a path in them can be searched for and copied.
#[cfg(feature = "lab")]
pub(crate) fn set_up_reports() {
    let is_terminal = io::stderr().is_terminal();
    let set = miette::set_hook(Box::new(move |_| {
        let handler = miette::MietteHandlerOpts::new().wrap_lines(is_terminal).break_words(false);
        Box::new(handler.build())
    }));
    debug_assert!(set.is_ok(), "it is set once");
}

/// The error for a failed write to standard output.
pub(crate) fn failed(error: io::Error) -> Report {
    miette::miette!("standard output: {error}")
}
