//! The program's description of itself, for other tools: manual pages, completions of a shell, and
//! its version as JSON.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use miette::{Result, miette};
use serde_json::json;
use sounding_host::files;

use crate::screen;

/// The commit that this program was built from, with `+` if there were changes; `unknown` outside a
/// repository.
pub(crate) const COMMIT: &str = env!("SOUNDING_COMMIT");

/// Its name on the command line.
pub(crate) const NAME: &str = if cfg!(feature = "demo") { "sounding" } else { "soundingd" };

/// The oldest kernel that takes the programs of this build; `None` for a build without any.
const LEAST_KERNEL: Option<&str> = if cfg!(feature = "kernel") { Some("6.1") } else { None };

/// Prints a shell's completions of commands and options
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  For this user's bash, zsh or fish:
    sounding completions bash > ~/.local/share/bash-completion/completions/sounding
    sounding completions zsh > ~/.zfunc/_sounding
    sounding completions fish > ~/.config/fish/completions/sounding.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Writes a manual page for each command into a folder
#[derive(Args, Debug)]
#[command(after_help = "\
The pages go into DIR/man1, where `man` looks if MANPATH names DIR.

Example:
  sounding manual ~/.local/share/man")]
pub(crate) struct Manual {
    /// The folder; it is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Completions {
    pub(crate) fn run<C: CommandFactory>(&self) -> ExitCode {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command::<C>(), NAME, &mut script);
        print!("{}", String::from_utf8_lossy(&script));
        ExitCode::SUCCESS
    }
}

impl Manual {
    pub(crate) fn run<C: CommandFactory>(&self) -> Result<ExitCode> {
        let folder = self.folder.join("man1");
        let failed = |path: &Path, error: io::Error| miette!("{}: {error}", screen::path(path));
        files::make_folder(&folder).map_err(|error| failed(&folder, error))?;
        let mut whole = command::<C>().disable_help_subcommand(true);
        whole.build();
        for page in with_those_below(whole) {
            let page = Man::new(page);
            // An experiment may be named after its paper, with a slash.
            let path = folder.join(page.get_filename().replace('/', "-"));
            let mut text = Vec::new();
            let written = page.render(&mut text).and_then(|()| files::write(&path, &text));
            written.map_err(|error| failed(&path, error))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The command line, under the name that this build has.
pub(crate) fn command<C: CommandFactory>() -> Command {
    let command = C::command().bin_name(NAME);
    if NAME == "sounding" { command } else { renamed(command) }
}

/// A command, and all below it that help lists.
fn with_those_below(command: Command) -> Vec<Command> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set()).cloned();
    let below: Vec<Command> = below.flat_map(with_those_below).collect();
    [command].into_iter().chain(below).collect()
}

/// Its help texts name `sounding`. Those of another build name that.
fn renamed(mut command: Command) -> Command {
    let text = |text: &StyledStr| name_in(&text.to_string());
    let help = |command: Command,
                get: fn(&Command) -> Option<&StyledStr>,
                set: fn(Command, String) -> Command| {
        let found = get(&command).map(text);
        match found {
            Some(found) => set(command, found),
            None => command,
        }
    };
    command = help(command, Command::get_about, Command::about);
    command = help(command, Command::get_long_about, Command::long_about);
    command = help(command, Command::get_after_help, Command::after_help);
    command = help(command, Command::get_after_long_help, Command::after_long_help);
    command = command.mut_args(|argument| match argument.get_help().map(text) {
        Some(found) => argument.help(found),
        None => argument,
    });
    command.mut_subcommands(renamed)
}

/// A help text with the name of this build as the command.
fn name_in(text: &str) -> String {
    text.replace("sounding ", &format!("{NAME} "))
}

/// Whether the command line asks for the version as JSON. The parser ends at `--version`.
pub(crate) fn asks_for_version(arguments: &[OsString]) -> bool {
    let mut words: Vec<_> = arguments.iter().skip(1).filter_map(|word| word.to_str()).collect();
    words.sort_unstable();
    matches!(words[..], ["--json", "--version"] | ["--json", "-V"])
}

/// The version, and what this build has.
pub(crate) fn version() -> String {
    let all = [
        ("captures", cfg!(feature = "captures")),
        ("demo", cfg!(feature = "demo")),
        ("kernel", cfg!(feature = "kernel")),
        ("lab", cfg!(feature = "lab")),
    ];
    let features: Vec<&str> =
        all.into_iter().filter_map(|(name, is_on)| is_on.then_some(name)).collect();
    let version = json!({
        "name": NAME,
        "version": env!("CARGO_PKG_VERSION"),
        "commit": COMMIT,
        "features": features,
        "machine": std::env::consts::ARCH,
        "kernels": { "least": LEAST_KERNEL },
    });
    version.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(words: &[&str]) -> bool {
        let words: Vec<OsString> =
            ["sounding"].iter().chain(words).map(|word| OsString::from(*word)).collect();
        asks_for_version(&words)
    }

    #[test]
    fn only_both_flags_and_nothing_else_ask_for_the_version_as_json() {
        assert!(asks(&["--version", "--json"]) && asks(&["--json", "-V"]));
        for words in
            [&["--version"][..], &["--json"], &["link", "--json"], &["--version", "--json", "x"]]
        {
            assert!(!asks(words), "{words:?}");
        }
    }
}
