//! Runs the commands of docs/reference/controllers.md: each block of `sh`, in order.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use sounding_cc::parameter::{Parameter, Value};

/// The document's name for the copy of the template.
const COPY: &str = "examples/mine";

/// The copy, under an unused name; it is removed when the test ends.
struct Copy(PathBuf);

impl Drop for Copy {
    fn drop(&mut self) {
        // A failure to remove it is ignored.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn commands(document: &str) -> Vec<String> {
    let blocks = document.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix("sh\n").map(str::to_owned)).collect()
}

mod long {
    use super::*;

    #[test]
    #[ignore = "compiles another workspace; `make test-long`"]
    fn a_controller_made_from_the_template_runs_over_traces_and_is_in_the_results() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let commands =
            commands(&fs::read_to_string(root.join("docs/reference/controllers.md")).unwrap());
        assert!(commands.len() >= 4, "{commands:?}");
        let name = format!("examples/.mine-{}", std::process::id());
        let copy = Copy(root.join(&name));
        // The build of this test is there for the next one, and much of it was built for this.
        let program = std::env::current_exe().unwrap();
        let target = program.ancestors().nth(3).unwrap();
        let mut printed = Vec::new();
        for command in &commands {
            let output = Command::new("sh")
                .args(["-ec", &command.replace(COPY, &name)])
                .current_dir(&root)
                .env("CARGO_TARGET_DIR", target)
                .env("CARGO_NET_OFFLINE", "true")
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command}\n{error}");
            printed.push(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let table = &printed[1];
        for trace in ["still", "walk", "drive"] {
            let row = table.lines().find(|row| row.contains(trace) && row.contains("mine"));
            assert!(row.is_some(), "{trace}: {table}");
        }
        let result = fs::read_to_string(copy.0.join("results/result.json")).unwrap();
        let result: Json = serde_json::from_str(&result).unwrap();
        let flows: Vec<&Json> =
            result["runs"].as_array().unwrap().iter().map(|run| &run["flows"][0]).collect();
        assert_eq!(flows.len(), 9);
        let p95 = |flow: &Json| flow["queueing_ms"]["p95"].as_f64().unwrap();
        for of_trace in flows.chunks(3) {
            let [cubic, _, mine] = of_trace else { panic!("three controllers") };
            assert_eq!(mine["controller"], "mine");
            assert!(mine["utilisation"].as_f64().unwrap() > 0.5, "{mine}");
            assert!(p95(mine) < p95(cubic), "{mine} {cubic}");
        }
        for file in [
            "results/flows.parquet",
            "results/run-0009/series.parquet",
            "cell/result.json",
            "copa/result.json",
        ] {
            assert!(copy.0.join(file).is_file(), "{file}");
        }
    }
}

#[test]
fn the_table_of_parameters_is_that_of_the_registry() {
    let document =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/controllers.md");
    let document = fs::read_to_string(document).unwrap();
    let mut rows = Vec::<(Vec<&str>, &[Parameter])>::new();
    for name in sounding_baselines::names() {
        let parameters = sounding_baselines::parameters(name);
        match rows.iter_mut().find(|(_, known)| *known == parameters) {
            Some((names, _)) => names.push(name),
            None => rows.push((vec![name], parameters)),
        }
    }
    let mut table = String::from(
        "| controller | parameter | default | range | what it does | where its default is from |\n\
         |---|---|---|---|---|---|\n",
    );
    for (names, parameters) in rows {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        for Parameter { name, kind, unit, about, source } in parameters {
            let default = match kind.default() {
                Value::Word(word) => format!("`{word}`"),
                value => value.to_string(),
            };
            let range = format!("{} {unit}", kind.range());
            let (names, range) = (names.join(", "), range.trim_end());
            table +=
                &format!("| {names} | `{name}` | {default} | {range} | {about} | {source} |\n");
        }
    }
    assert!(
        document.contains(&table),
        "docs/reference/controllers.md has another table than\n{table}"
    );
}
