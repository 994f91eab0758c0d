//! The command line of this program, as text that a shell reads as the same words.

use std::ffi::OsStr;

use sounding_emu::StartError;

use super::EmuError;

/// This process's own.
pub(super) fn own() -> String {
    std::env::args_os().map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

/// The error with the line that has the rights which are missing.
pub(super) fn with_sudo(error: StartError) -> miette::Report {
    let is_of_rights =
        matches!(error, StartError::NotPermitted | StartError::TunNotPermitted { .. });
    let is_root = nix::unistd::geteuid().is_root();
    if is_of_rights && !is_root {
        return miette::miette!(help = format!("sudo {}", own()), "{error}");
    }
    EmuError::from(error).into()
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_same_words() {
        for (word, text) in [
            ("--up=12Mbit", "--up=12Mbit"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's $x", r"'it'\''s $x'"),
        ] {
            assert_eq!(quoted(OsStr::new(word)), text);
        }
    }
}
