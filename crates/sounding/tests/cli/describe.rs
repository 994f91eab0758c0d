//! Manual pages and completions, as the tools that use them read them; the version as JSON.

use std::process::{Command, Output, Stdio};

use super::{sounding, stderr, stdout};
use crate::help::all_verbs;
use sounding_testdata::{Need, skip};

/// Runs a tool; `None` if it is not installed.
fn tool(program: &str, arguments: &[&str]) -> Option<Output> {
    let found = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    match found {
        Ok(output) => Some(output),
        Err(error) => {
            skip(Need::Tools, format_args!("{program}: {error}"));
            None
        }
    }
}

#[test]
fn each_verb_has_a_manual_page_that_groff_sets_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let written = sounding(&["manual", folder.path().to_str().unwrap()]);
    assert!(written.status.success(), "{}", stderr(&written));
    for verb in all_verbs() {
        let words = [&["sounding".to_string()], &verb[..]].concat();
        let page =
            folder.path().join("man1").join(format!("{}.1", words.join("-").replace('/', "-")));
        let page = page.to_str().unwrap();
        let Some(set) = tool("groff", &["-Kutf8", "-man", "-Tutf8", "-ww", "-P-cbou", page]) else {
            return;
        };
        assert_eq!(stderr(&set), "", "{page}");
        assert!(set.status.success(), "{page}");
        let text = stdout(&set).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&words.join("-")), "{page}: {text}");
        assert!(text.contains("SYNOPSIS") && text.contains("--help"), "{page}: {text}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let refused = sounding(&["manual", "/proc/none"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("/proc/none/man1"), "{}", stderr(&refused));
}

#[test]
fn bash_zsh_and_fish_complete_verbs_and_flags() {
    let folder = tempfile::tempdir().unwrap();
    let script = |shell: &str| {
        let path = folder.path().join(shell);
        let output = sounding(&["completions", shell]);
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::write(&path, output.stdout).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let bash = format!(
        "source {}; COMP_WORDS=(sounding re); COMP_CWORD=1; _sounding sounding re sounding; \
         echo ${{COMPREPLY[*]}}; COMP_WORDS=(sounding record --bu); COMP_CWORD=2; \
         _sounding sounding --bu record; echo ${{COMPREPLY[*]}}",
        script("bash")
    );
    if let Some(output) = tool("bash", &["-c", &bash]) {
        assert_eq!(stdout(&output), "record\n--budget\n", "{}", stderr(&output));
    }
    let fish = format!("source {}; complete --do-complete 'sounding rec'", script("fish"));
    if let Some(output) = tool("fish", &["--no-config", "-c", &fish]) {
        assert!(stdout(&output).starts_with("record\t"), "{}{}", stdout(&output), stderr(&output));
    }
    if let Some(output) = tool("zsh", &["-f", "-n", &script("zsh")]) {
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
fn the_version_as_json_names_commit_features_and_kernels() {
    let output = sounding(&["--version", "--json"]);
    assert!(output.status.success());
    let version: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let text = stdout(&sounding(&["--version"]));
    let [name, number] = ["name", "version"].map(|key| version[key].as_str().unwrap());
    assert_eq!(text.trim(), format!("{name} {number}"));
    let commit = version["commit"].as_str().unwrap().trim_end_matches('+');
    assert!(commit.len() == 12 || commit == "unknown", "{commit}");
    assert_eq!(version["features"], serde_json::json!(["captures", "demo", "kernel", "lab"]));
    assert_eq!(version["kernels"]["least"], "6.1");
}
