//! The shell that runs where no command is given.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use sounding_emu::RunAs;

use super::guest::Guest;

/// Before the prompt, so that the link's network is not taken for the machine's.
const MARK: &str = "[link] ";

/// The marks of all shells around this one.
const MARKS: &str = "SOUNDING_LINK";

/// A shell with a mark in its prompt.
pub(super) struct Shell {
    pub(super) words: Vec<OsString>,
    pub(super) environment: Vec<(&'static str, OsString)>,
}

/// The shell of this user.
pub(super) fn of(guest: &Guest) -> Shell {
    let own = || std::env::var_os("SHELL").map(PathBuf::from).filter(|shell| shell.is_absolute());
    let program = match (guest.shell(), guest.user()) {
        (Some(shell), _) => shell.to_owned(),
        // A user that the machine does not know has none, and that of root may not be for others.
        (None, RunAs::User { .. }) => "/bin/sh".into(),
        (None, _) => own().unwrap_or_else(|| "/bin/sh".into()),
    };
    marked(&program, &std::env::var(MARKS).unwrap_or_default())
}

/// The program with `around`, the marks of shells around it, and its own before its prompt.
fn marked(program: &Path, around: &str) -> Shell {
    // The value becomes text that shells run, so it is only what this program has put there.
    let count = around.matches(MARK).count().min(8) + 1;
    let mark = MARK.repeat(count);
    let mut words = vec![program.as_os_str().to_owned()];
    let mut environment = vec![(MARKS, OsString::from(&mark))];
    match program.file_name().and_then(OsStr::to_str) {
        // Its files of settings make the prompt anew, and this comes after them.
        Some("bash") => environment
            .push(("PROMPT_COMMAND", format!("PS1=\"{mark}$PS1\"; unset PROMPT_COMMAND").into())),
        Some("fish") => words.extend([
            "--init-command".into(),
            format!(
                "functions --copy fish_prompt sounding_prompt; \
                 function fish_prompt; echo -n '{mark}'; sounding_prompt; end"
            )
            .into(),
        ]),
        Some("zsh") => environment.push(("PS1", format!("{mark}%m%# ").into())),
        _ => environment.push(("PS1", format!("{mark}$ ").into())),
    }
    Shell { words, environment }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(program: &str, around: &str) -> Vec<(&'static str, OsString)> {
        marked(Path::new(program), around).environment
    }

    #[test]
    fn a_shell_in_a_shell_has_both_marks() {
        let prompt = |around| environment("/bin/sh", around)[1].1.clone();
        assert_eq!(prompt(""), "[link] $ ");
        assert_eq!(prompt("[link] "), "[link] [link] $ ");
    }

    #[test]
    fn no_text_of_the_environment_becomes_a_shells_program() {
        let hostile = environment("/bin/bash", "\"; rm -rf /; [link] $(id)");
        let written: Vec<_> = hostile.iter().map(|(_, value)| value.to_string_lossy()).collect();
        assert_eq!(written[0], "[link] [link] ");
        assert_eq!(written[1], "PS1=\"[link] [link] $PS1\"; unset PROMPT_COMMAND");
    }
}
