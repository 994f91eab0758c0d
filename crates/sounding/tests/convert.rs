//! `sounding convert` as a stranger meets it: every kind of file, packed and not, cut, damaged,
//! full disks, Ctrl-C.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value as Json;
use sounding_testbed::radio::RadioLink;
use sounding_testdata::on_small_disk;

fn program() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
}

fn sounding(arguments: &[&str]) -> Output {
    program().args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn stderr(output: &Output) -> String {
    // Lines are wrapped to the width of a terminal.
    String::from_utf8_lossy(&output.stderr)
        .replace("│", "")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A folder with a capture of three seconds in it.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        let link = RadioLink::generated(3, Duration::from_secs(3)).unwrap();
        fs::write(bench.path("in.qmdl"), link.capture).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().into()
    }

    /// Converts; nothing but the output is left behind.
    fn convert(&self, from: &str, to: &str, more: &[&str]) {
        let output = self.try_convert(from, to, more);
        assert!(output.status.success(), "{from} to {to}: {}", stderr(&output));
        assert!(self.path(to).exists(), "{to}");
        assert_eq!(self.temporaries(), 0, "{to}");
    }

    fn try_convert(&self, from: &str, to: &str, more: &[&str]) -> Output {
        let (from, to) = (self.text(from), self.text(to));
        sounding(&[&["convert", from.as_str(), to.as_str()], more].concat())
    }

    fn temporaries(&self) -> usize {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(".sounding");
        entries.filter(|entry| hidden(&entry.as_ref().unwrap().file_name())).count()
    }

    /// Every record of a capture, without the place it was found at.
    fn records(&self, name: &str) -> Vec<Json> {
        let output = sounding(&["decode", &self.text(name)]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let lines = String::from_utf8(output.stdout).unwrap();
        let lines = lines.lines().map(|line| {
            let mut line: Json = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("offset");
            line
        });
        lines.collect()
    }
}

#[test]
fn every_capture_format_keeps_every_record_packed_or_not() {
    let bench = Bench::new();
    let records = bench.records("in.qmdl");
    assert!(records.len() > 300);
    for name in ["a.qmdl", "a.hdf", "a.dlf", "a.mi2log.gz", "a.hdf.zst", "a.dlf.gz"] {
        bench.convert("in.qmdl", name, &[]);
        assert!(bench.records(name) == records, "{name}");
    }
    // And back, from one without framing.
    bench.convert("a.dlf.gz", "b.qmdl", &[]);
    assert_eq!(fs::read(bench.path("b.qmdl")).unwrap(), fs::read(bench.path("in.qmdl")).unwrap());
}

#[test]
fn lines_are_those_of_decode() {
    let bench = Bench::new();
    bench.convert("in.qmdl", "out.jsonl", &[]);
    let decoded = sounding(&["decode", &bench.text("in.qmdl")]);
    assert!(fs::read(bench.path("out.jsonl")).unwrap() == decoded.stdout);
}

#[test]
fn only_the_records_that_are_asked_for_are_written() {
    let bench = Bench::new();
    bench.convert("in.qmdl", "one.qmdl", &["--only", "0xB139"]);
    let records = bench.records("one.qmdl");
    assert!(!records.is_empty() && records.iter().all(|record| record["code"] == "0xB139"));
}

#[test]
fn tables_are_a_folder_whether_there_is_one_code_or_several() {
    let bench = Bench::new();
    bench.convert("in.qmdl", "all.parquet", &[]);
    let codes: BTreeSet<String> = bench
        .records("in.qmdl")
        .iter()
        .map(|record| record["code"].as_str().unwrap().to_owned())
        .collect();
    let names = contents(&bench.path("all.parquet"));
    let tables = names.iter().filter_map(|name| name.strip_suffix(".parquet"));
    // Those of lists within a record have their names behind the code.
    let found: BTreeSet<String> =
        tables.filter(|name| name.starts_with("0x")).map(|name| name[..6].to_owned()).collect();
    assert_eq!(found, codes);
    bench.convert("in.qmdl", "one.parquet", &["--only", "0xB139"]);
    let names = contents(&bench.path("one.parquet"));
    assert_eq!(names, ["0-columns.parquet", "0xB139.parquet", "_schema.json"]);
    let refused = bench.try_convert("in.qmdl", "all.parquet", &[]);
    assert!(stderr(&refused).contains("not empty"), "{}", stderr(&refused));
}

#[test]
fn a_table_can_be_made_of_what_comes_through_a_pipe() {
    let bench = Bench::new();
    let mut child = program()
        .args(["convert", "-", &bench.text("piped.parquet")])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(bench.path("in.qmdl")).unwrap()).unwrap();
    assert!(child.wait().unwrap().success());
    bench.convert("in.qmdl", "read.parquet", &[]);
    let (piped, read) = (bench.path("piped.parquet"), bench.path("read.parquet"));
    let names = contents(&read);
    assert!(names.len() > 3 && contents(&piped) == names);
    for name in names {
        let same = fs::read(piped.join(&name)).unwrap() == fs::read(read.join(&name)).unwrap();
        assert!(same, "{name}");
    }
}

#[test]
fn a_packed_capture_cut_anywhere_is_read_up_to_there() {
    let bench = Bench::new();
    let whole = bench.records("in.qmdl").len();
    for name in ["in.qmdl.gz", "in.qmdl.zst"] {
        bench.convert("in.qmdl", name, &[]);
        let bytes = fs::read(bench.path(name)).unwrap();
        for keep in [bytes.len() - 1, bytes.len() * 3 / 4] {
            fs::write(bench.path("cut"), &bytes[..keep]).unwrap();
            let output = sounding(&["decode", &bench.text("cut")]);
            assert!(output.status.success(), "{name} cut at {keep}: {}", stderr(&output));
            assert!(stderr(&output).contains("the rest of the packed file"), "{}", stderr(&output));
            let lines = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
            assert!(lines <= whole, "{name} cut at {keep}");
        }
        for keep in 0..40.min(bytes.len()) {
            fs::write(bench.path("cut"), &bytes[..keep]).unwrap();
            let output = sounding(&["decode", &bench.text("cut")]);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 1)), "{name} cut at {keep}: {code:?}");
        }
    }
}

#[test]
fn a_little_file_that_unpacks_to_a_huge_one_takes_no_memory() {
    let bench = Bench::new();
    let start = fs::read(bench.path("in.qmdl")).unwrap();
    let zeros = vec![0; 1 << 20];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut zst = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    gzip.write_all(&start).unwrap();
    zst.write_all(&start).unwrap();
    for _ in 0..1024 {
        gzip.write_all(&zeros).unwrap();
        zst.write_all(&zeros).unwrap();
    }
    fs::write(bench.path("bomb.gz"), gzip.finish().unwrap()).unwrap();
    fs::write(bench.path("bomb.zst"), zst.finish().unwrap()).unwrap();
    for name in ["bomb.gz", "bomb.zst"] {
        // Half a GiB of addresses, for a GiB of zeros.
        let output = Command::new("sh")
            .args(["-c", "ulimit -v 524288; exec \"$@\"", "sh"])
            .arg(assert_cmd::cargo::cargo_bin!("sounding"))
            .args(["decode", &bench.text(name), "--summary", "--json"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        let summary: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["corrupt_frames"], 1, "{name}");
    }
}

#[test]
fn what_was_there_stays_until_its_successor_is_complete() {
    let bench = Bench::new();
    fs::write(bench.path("out.jsonl"), "precious").unwrap();
    fs::write(bench.path("letter"), "hello, this is a letter").unwrap();
    let output = bench.try_convert("letter", "out.jsonl", &["--force"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read(bench.path("out.jsonl")).unwrap(), b"precious");
    bench.convert("in.qmdl", "out.jsonl", &["--force"]);
    assert!(fs::read(bench.path("out.jsonl")).unwrap().starts_with(b"{"));
}

/// Everything in a folder, by name.
fn contents(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn an_output_that_is_there_stays_and_how_to_replace_it_is_said() {
    let bench = Bench::new();
    fs::write(bench.path("in.trace"), "1\n2\n").unwrap();
    for (from, to) in [
        ("in.qmdl", "a.jsonl"),
        ("in.qmdl", "a.dlf.gz"),
        ("in.qmdl", "a.pcapng"),
        ("in.qmdl", "a.parquet"),
        ("in.trace", "a.csv"),
        ("in.trace", "b.parquet"),
    ] {
        fs::write(bench.path(to), "precious").unwrap();
        let refused = bench.try_convert(from, to, &[]);
        assert_eq!(refused.status.code(), Some(1), "{to}");
        let said = stderr(&refused);
        assert!(said.contains("the file exists already"), "{to}: {said}");
        assert!(said.contains("--force replaces it"), "{to}: {said}");
        assert_eq!(fs::read(bench.path(to)).unwrap(), b"precious", "{to}");
        bench.convert(from, to, &["--force"]);
        assert!(
            fs::read(bench.path(to)).is_ok_and(|now| now != b"precious") || bench.path(to).is_dir()
        );
    }
    assert_eq!(bench.temporaries(), 0);
    // An existing device is written to, not replaced.
    let null = sounding(&["convert", &bench.text("in.qmdl"), "/dev/null", "--to", "dlf"]);
    assert!(null.status.success(), "{}", stderr(&null));
}

#[test]
fn a_folder_of_tables_is_replaced_whole_and_any_other_folder_never() {
    let bench = Bench::new();
    bench.convert("in.qmdl", "out.parquet", &[]);
    let tables = contents(&bench.path("out.parquet"));
    fs::write(bench.path("out.parquet/0x1FEB.parquet"), "of another capture").unwrap();
    let refused = bench.try_convert("in.qmdl", "out.parquet", &[]);
    assert!(stderr(&refused).contains("--force replaces its tables"), "{}", stderr(&refused));
    assert_eq!(contents(&bench.path("out.parquet")).len(), tables.len() + 1);
    bench.convert("in.qmdl", "out.parquet", &["--force"]);
    assert_eq!(contents(&bench.path("out.parquet")), tables);
    // Tables in the place of a file.
    fs::remove_dir_all(bench.path("out.parquet")).unwrap();
    fs::write(bench.path("out.parquet"), "a link").unwrap();
    bench.convert("in.qmdl", "out.parquet", &["--force"]);
    assert_eq!(contents(&bench.path("out.parquet")), tables);

    fs::write(bench.path("out.parquet/thesis.tex"), "precious").unwrap();
    for to in ["out.parquet", "."] {
        let refused = bench.try_convert("in.qmdl", to, &["--force", "--to", "parquet"]);
        assert_eq!(refused.status.code(), Some(1), "{to}");
        assert!(stderr(&refused).contains("holds more than tables"), "{}", stderr(&refused));
    }
    let refused = bench.try_convert("in.qmdl", "out.parquet", &["--force", "--to", "dlf"]);
    assert!(stderr(&refused).contains("is a folder"), "{}", stderr(&refused));
    assert_eq!(fs::read(bench.path("out.parquet/thesis.tex")).unwrap(), b"precious");
    assert_eq!(bench.temporaries(), 0);
}

#[test]
fn an_interrupted_conversion_leaves_nothing_behind() {
    let bench = Bench::new();
    let mut child = program()
        .args(["convert", "-", &bench.text("out.qmdl")])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let capture = fs::read(bench.path("in.qmdl")).unwrap();
    // Enough that the conversion has begun, without an end.
    while bench.temporaries() == 0 {
        if stdin.write_all(&capture).is_err() {
            break;
        }
    }
    let process = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(process, nix::sys::signal::SIGINT).unwrap();
    let writer = std::thread::spawn(move || while stdin.write_all(&capture).is_ok() {});
    let status = child.wait().unwrap();
    writer.join().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted"), "{said}");
    assert!(!bench.path("out.qmdl").exists());
    assert_eq!(bench.temporaries(), 0);
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_half_a_file() {
    let bench = Bench::new();
    let small = bench.path("small");
    fs::create_dir(&small).unwrap();
    for name in ["out.jsonl", "out.parquet", "out.pcap"] {
        let script = format!(
            "{program} convert {capture} {small}/{name} --no-redact; code=$?; ls -A {small} >&2; exit $code",
            small = small.display(),
            program = assert_cmd::cargo::cargo_bin!("sounding").display(),
            capture = bench.text("in.qmdl"),
        );
        let Some(output) = on_small_disk(&small, "16k", &script) else { return };
        let said = stderr(&output);
        if name == "out.pcap" {
            // There is no message in the capture: little enough for any disk.
            assert!(output.status.success() && said.ends_with(name), "{said}");
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains("no space left"), "{name}: {said}");
        assert!(said.ends_with("written"), "{name}: something was left: {said}");
    }
}

#[test]
fn wrong_words_are_answered_with_what_is_allowed() {
    let bench = Bench::new();
    for (to, more, says) in [
        ("out.txt", &[][..], "--to"),
        ("out.csv", &[], "two links"),
        ("out.parquet.gz", &[], "packed already"),
        ("in.qmdl", &[], "same file"),
        ("nowhere/out.qmdl", &[], "no such folder"),
    ] {
        let output = bench.try_convert("in.qmdl", to, more);
        assert_eq!(output.status.code(), Some(1), "{to}");
        assert!(stderr(&output).contains(says), "{to}: {}", stderr(&output));
    }
    assert_eq!(bench.try_convert("in.qmdl", "out", &["--to", "xls"]).status.code(), Some(2));
    // A misspelt name is not answered with help about links over time.
    let output = bench.try_convert("im.qmdl", "out.csv", &[]);
    assert!(stderr(&output).contains("No such file"), "{}", stderr(&output));
}

#[test]
fn standard_output_takes_what_a_file_would() {
    let bench = Bench::new();
    bench.convert("in.qmdl", "out.dlf", &[]);
    let output = sounding(&["convert", &bench.text("in.qmdl"), "-", "--to", "dlf"]);
    assert!(output.stdout == fs::read(bench.path("out.dlf")).unwrap());
    assert!(Path::new("-").metadata().is_err());
}

/// docs/reference/diag.md has the same totals as a table.
#[test]
fn the_coverage_of_each_system_is_what_the_documents_say() {
    let output = sounding(&["decode", "--coverage"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, totals) = text.split_once("message types").expect("there are totals");
    let documents = include_str!("../../../docs/reference/diag.md");
    let rows = totals.lines().skip(1).map(|line| {
        let [of @ .., types, capture, vector, alone] =
            &line.split_whitespace().collect::<Vec<_>>()[..]
        else {
            panic!("{line} is no row")
        };
        format!("| {} | {types} | {capture} | {vector} | {alone} |", of.join(" "))
    });
    let rows: Vec<String> = rows.collect();
    assert!(rows.len() >= 6, "{rows:?}");
    for row in rows {
        assert!(documents.contains(&row), "the documents have no row {row}");
    }
}

#[test]
fn the_coverage_names_every_described_code() {
    let output = sounding(&["decode", "--coverage", "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for code in sounding_diag::record::CODES {
        let of_code = text.lines().filter(|line| line.contains(&code.to_string()));
        let fields = of_code.map(|line| {
            let row: Json = serde_json::from_str(line).unwrap();
            row["fields"].as_u64().unwrap()
        });
        assert!(fields.min().is_some_and(|least| least > 0), "{code}");
    }
}
