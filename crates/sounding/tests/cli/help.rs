//! Help texts at the widths of terminals: the terminal breaks lines, and no author does.

use std::process::{Command, Stdio};

/// A narrow window, the usual one, and a wide one.
const WIDTHS: [usize; 3] = [60, 80, 200];

/// The help of a verb, as a terminal of this width shows it.
fn help(verb: &[String], flag: &str, columns: usize) -> String {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let mut command = Command::new(program);
    command.args(verb).arg(flag).env("COLUMNS", columns.to_string()).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{verb:?} {flag}");
    String::from_utf8(output.stdout).unwrap()
}

/// Names of the verbs in a help text, without the one that prints help.
fn verbs(text: &str) -> Vec<String> {
    let listed = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty()).filter(|line| indentation(line) == 2);
    let names = listed.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// Every verb, with those below it.
pub(crate) fn all_verbs() -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut next = 0;
    while let Some(verb) = found.get(next).cloned() {
        next += 1;
        let below = verbs(&help(&verb, "-h", 200));
        found.extend(below.into_iter().map(|name| [&verb[..], &[name]].concat()));
    }
    found
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Lines that are wider than the terminal, and lines that end before the terminal does although
/// their paragraph goes on.
fn faults(text: &str, columns: usize) -> Vec<String> {
    let mut faults = Vec::new();
    // The indentation of the list that a line is in.
    let mut list = None;
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        // A word that is wider than the terminal cannot be broken, and clap breaks no usage.
        let can_be_broken = line.split_whitespace().count() > 1 && !line.starts_with("Usage:");
        if line.chars().count() > columns && can_be_broken {
            faults.push(format!("wider than {columns}: {line:?}"));
        }
        let Some(next) = lines.get(at + 1).filter(|next| !next.trim().is_empty()) else {
            list = None;
            continue;
        };
        if line.trim_end().ends_with(':') && indentation(next) > indentation(line) {
            list = Some(indentation(next));
        }
        let first = next.split_whitespace().next().unwrap();
        let is_item = list == Some(indentation(next)) || first.starts_with(['[', '-']);
        let goes_on = !line.trim().is_empty() && indentation(line) == indentation(next);
        let fits = line.chars().count() + 1 + first.chars().count() <= columns;
        if goes_on && fits && !is_item {
            faults.push(format!("broken by hand at {columns}: {line:?} before {first:?}"));
        }
    }
    faults
}

#[test]
fn help_fits_every_terminal_and_breaks_no_paragraph() {
    let verbs = all_verbs();
    assert!(verbs.len() > 60, "{verbs:?}");
    assert!(verbs.iter().any(|verb| verb.join(" ") == "shape import"), "{verbs:?}");
    let mut found = Vec::new();
    for verb in &verbs {
        for flag in ["-h", "--help"] {
            for columns in WIDTHS {
                let faults = faults(&help(verb, flag, columns), columns);
                found.extend(faults.into_iter().map(|fault| format!("{verb:?} {flag}: {fault}")));
            }
        }
    }
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
}

#[test]
fn the_check_of_help_finds_breaks_and_wide_lines() {
    let broken =
        "A paragraph that an author\nhas broken.\n\nExamples:\n  sounding\n  sounding sim\n";
    assert_eq!(faults(broken, 60).len(), 1);
    assert_eq!(faults(broken, 28).len(), 0, "a terminal of this width breaks it there");
    assert_eq!(faults("one line that is too wide\n", 10).len(), 1);
}
