//! `sounding convert DIR OUT` as a stranger meets it: a folder of captures becomes one dataset.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value as Json;
use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Need, on_small_disk, skip};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");

/// A folder for captures and one for a dataset.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        fs::create_dir(bench.at("drives")).unwrap();
        bench
    }

    /// Captures of so many bytes each, which differ.
    fn with_slices(count: usize, size: usize) -> Self {
        let bench = Self::new();
        let capture = capture(20);
        let step = (capture.len() - size) / count;
        assert!(step > 0, "{} bytes are too few", capture.len());
        for number in 0..count {
            let folder = bench.at(&format!("drives/{:02}", number / 1000));
            fs::create_dir_all(&folder).unwrap();
            let from = number * step;
            fs::write(folder.join(format!("{number:05}.qmdl")), &capture[from..from + size])
                .unwrap();
        }
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.arg("convert").args([self.at("drives"), self.at(out)]).args(more);
        command.stdin(Stdio::null());
        command
    }

    fn try_convert(&self, out: &str, more: &[&str]) -> Output {
        self.command(out, more).output().unwrap()
    }

    /// Converts, and gives the counts.
    fn convert(&self, out: &str, more: &[&str]) -> Json {
        let output = self.try_convert(out, &[&["--json"], more].concat());
        assert!(output.status.success(), "{}", words(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Every file of a dataset with its bytes.
    fn files(&self, out: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.at(out)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    files.insert(path.strip_prefix(self.at(out)).unwrap().into(), bytes);
                }
            }
        }
        files
    }

    /// The rows of some of a dataset's tables, as text by column.
    fn rows(&self, out: &str, under: &str) -> Vec<BTreeMap<String, String>> {
        let files = self.files(out);
        let own = files.iter().filter(|(path, _)| path.starts_with(under));
        own.flat_map(|(path, _)| {
            let file = fs::File::open(self.at(out).join(path)).unwrap();
            let reader = SerializedFileReader::new(file).unwrap();
            let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
            rows
        })
        .map(|row| {
            let cells = row.into_columns().into_iter();
            let cells = cells.filter(|(_, field)| *field != Field::Null);
            let text = |field| match field {
                Field::Str(text) => text,
                other => other.to_string(),
            };
            cells.map(|(name, field)| (name, text(field))).collect()
        })
        .collect()
    }

    fn captures(&self, out: &str) -> BTreeMap<String, BTreeMap<String, String>> {
        let rows = self.rows(out, "_about/captures.parquet");
        rows.into_iter().map(|row| (row["path"].clone(), row)).collect()
    }
}

fn capture(seconds: u64) -> Vec<u8> {
    RadioLink::generated(3, Duration::from_secs(seconds)).unwrap().capture
}

fn words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace('│', "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_row_names_its_capture_and_a_capture_its_file() {
    let bench = Bench::new();
    fs::write(bench.at("drives/a.qmdl"), capture(1)).unwrap();
    fs::create_dir(bench.at("drives/sub")).unwrap();
    fs::write(bench.at("drives/sub/again.qmdl"), capture(1)).unwrap();
    fs::write(bench.at("drives/sub/longer.qmdl"), capture(2)).unwrap();
    fs::write(bench.at("drives/notes.txt"), "not a capture").unwrap();
    symlink("..", bench.at("drives/sub/up")).unwrap();
    symlink("nowhere", bench.at("drives/sub/broken")).unwrap();
    symlink("self", bench.at("drives/self")).unwrap();
    let counts = bench.convert("drives/out", &[]);
    let expected = [("files", 6), ("captures", 2), ("again", 1), ("foreign", 1), ("unreadable", 2)];
    for (name, count) in expected {
        assert_eq!(counts[name], count, "{name}: {counts}");
    }
    let captures = bench.captures("drives/out");
    assert_eq!(captures["notes.txt"]["state"], "foreign");
    assert!(captures["notes.txt"]["error"].contains("no Diag record"));
    assert_eq!(captures["sub/again.qmdl"]["same_as"], "a.qmdl");
    assert!(captures["self"]["error"].contains("symbolic links"), "{:?}", captures["self"]);
    let sum = Command::new("sha256sum").arg(bench.at("drives/a.qmdl")).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert_eq!(captures["a.qmdl"]["sha256"], sum[..64]);
    assert_eq!(captures["a.qmdl"]["capture"], sum[..16]);

    let rows = bench.rows("drives/out", "code=0xB064");
    let of = |path: &str| {
        let capture = &captures[path]["capture"];
        rows.iter().filter(|row| row["capture"] == *capture).count()
    };
    assert!(of("a.qmdl") > 0 && of("sub/longer.qmdl") > of("a.qmdl"));
    assert_eq!(of("a.qmdl") + of("sub/longer.qmdl"), rows.len());
    let days = fs::read_dir(bench.at("drives/out/code=0xB064")).unwrap();
    let days: Vec<_> = days.map(|day| day.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(days, ["day=2026-01-01"]);

    // The dataset is in the folder, and no capture.
    let before = bench.files("drives/out");
    let again = bench.convert("drives/out", &[]);
    assert_eq!((again, bench.files("drives/out")), (counts, before));
}

#[test]
fn captures_that_come_later_are_added_and_changed_ones_are_named() {
    let bench = Bench::with_slices(3, 20_000);
    bench.convert("out", &[]);
    let before = bench.files("out");
    fs::write(bench.at("drives/new.qmdl"), capture(1)).unwrap();
    let old = bench.at("drives/00/00001.qmdl");
    fs::write(&old, &fs::read(&old).unwrap()[..10_000]).unwrap();
    let counts = bench.convert("out", &[]);
    assert_eq!(counts["captures"], 4);
    assert_eq!(counts["changed"], serde_json::json!(["00/00001.qmdl"]));
    let after = bench.files("out");
    for (path, bytes) in before.iter().filter(|(path, _)| path.starts_with("code=0xB064")) {
        assert_eq!(after[path], *bytes, "{}", path.display());
    }
    for (more, says) in [
        (&["--no-redact"][..], "choice of identities"),
        (&["--only", "0xB064"], "choice of codes: all, and not 0xB064"),
    ] {
        let refused = bench.try_convert("out", more);
        assert!(!refused.status.success() && words(&refused).contains(says), "{}", words(&refused));
        assert_eq!(bench.files("out"), after);
    }
    fs::write(bench.at("out/notes.txt"), "mine").unwrap();
    let refused = bench.try_convert("out", &["--force", "--only", "0xB064"]);
    assert!(words(&refused).contains("holds notes.txt, which is no part of a dataset"));
    assert!(bench.at("out/notes.txt").exists());
    fs::remove_file(bench.at("out/notes.txt")).unwrap();
    let replaced = bench.convert("out", &["--force", "--only", "0xB064"]);
    assert_eq!(replaced["captures"], 4);
    assert!(bench.rows("out", "code=0xB063").is_empty());
}

#[test]
fn a_killed_run_goes_on_to_the_bytes_of_another_one() {
    // Two blocks. Padding is read fast, and its length makes each another file.
    let bench = Bench::new();
    for number in 0..5 {
        let mut bytes = capture(10);
        bytes.resize((17 << 20) + number, 0x7E);
        fs::write(bench.at(&format!("drives/{number}.qmdl")), bytes).unwrap();
    }
    bench.convert("whole", &["--jobs", "1"]);
    bench.convert("two", &["--jobs", "2"]);
    let expected = bench.files("whole");
    assert!(bench.files("two") == expected, "two jobs give other bytes");
    assert!(expected.keys().any(|path| path.ends_with("blocks/00001.jsonl")));
    let mut kills = 0;
    for jobs in ["1", "2", "1"] {
        let mut child = bench.command("killed", &["--jobs", jobs]).spawn().unwrap();
        let began = Instant::now();
        // Parts of this run are there, and a rest is not.
        while child.try_wait().unwrap().is_none() {
            let parts = bench.at("killed/code=0xB064");
            if began.elapsed() > Duration::from_millis(300) && parts.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        kills += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(kills > 0, "no run was killed");
    bench.convert("killed", &[]);
    assert!(bench.files("killed") == expected, "the killed run has other files or bytes");
}

#[test]
fn ctrl_c_leaves_a_dataset_that_goes_on() {
    let bench = Bench::with_slices(600, 20_000);
    let mut child = bench.command("out", &[]).stderr(Stdio::piped()).spawn().unwrap();
    while !bench.at("out/_about/blocks").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let interrupt = ["-INT", &child.id().to_string()];
    assert!(Command::new("kill").args(interrupt).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let said = words(&output);
    assert!(said.contains("interrupted") && said.contains("the same command goes on"), "{said}");
    bench.convert("out", &[]);
    bench.convert("other", &[]);
    assert!(bench.files("out") == bench.files("other"));
}

#[test]
fn ten_thousand_captures_take_at_most_one_and_a_half_times_the_memory_of_one() {
    const TIME: &str = "/usr/bin/time";
    if !Path::new(TIME).exists() {
        return skip(Need::Tools, "there is no /usr/bin/time: apt-get install time");
    }
    // A child of this process would have this process's peak too.
    let peak = |bench: &Bench| {
        let mut command = Command::new(TIME);
        command.args(["-f", "%M", PROGRAM, "convert"]).args([bench.at("drives"), bench.at("out")]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", words(&output));
        let text = String::from_utf8(output.stderr).unwrap();
        text.lines().last().unwrap().parse::<f64>().unwrap()
    };
    let (one, many) = (Bench::with_slices(1, 5_000), Bench::with_slices(10_000, 5_000));
    let (one, all) = (peak(&one), peak(&many));
    eprintln!("one capture takes {one} KiB, ten thousand {all} KiB: {:.2} times", all / one);
    assert!(all <= 1.5 * one, "{all} KiB are more than 1.5 times {one} KiB");
    let parts = many.files("out").into_keys().filter(|path| path.starts_with("code=0xB064"));
    assert_eq!(parts.count(), 1, "small captures share a part");
}

#[test]
fn a_folder_of_other_things_is_neither_read_nor_written() {
    let bench = Bench::new();
    let refused = bench.try_convert("out", &[]);
    assert!(words(&refused).contains("none of its 0 files is a capture"), "{}", words(&refused));
    fs::write(bench.at("drives/notes.txt"), "text").unwrap();
    let refused = bench.try_convert("out", &[]);
    let said = words(&refused);
    assert!(said.contains("none of its 1 files is a capture; the first, notes.txt"), "{said}");
    assert!(!bench.at("out").exists());
    fs::write(bench.at("drives/a.qmdl"), capture(1)).unwrap();
    fs::create_dir(bench.at("thesis")).unwrap();
    fs::write(bench.at("thesis/chapter"), "one").unwrap();
    for more in [&[][..], &["--force"]] {
        let refused = bench.try_convert("thesis", more);
        assert!(words(&refused).contains("holds chapter, which is no part of a dataset"));
        assert_eq!(fs::read(bench.at("thesis/chapter")).unwrap(), b"one");
    }
    for (out, more, says) in [
        ("-", &[][..], "cannot be streamed"),
        ("out", &["--to", "jsonl"], "is a folder, and becomes tables"),
    ] {
        let mut command = Command::new(PROGRAM);
        let output = command.arg("convert").arg(bench.at("drives")).arg(out).args(more).output();
        assert!(words(&output.unwrap()).contains(says));
    }
}

#[test]
fn identities_are_hidden_or_the_owners_alone() {
    let bench = Bench::with_slices(2, 20_000);
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o077;
    bench.convert("hidden", &[]);
    bench.convert("shown", &["--no-redact"]);
    assert_ne!(mode(bench.at("hidden")), 0);
    assert_eq!(mode(bench.at("shown")), 0);
    let files: Vec<PathBuf> = bench.files("shown").into_keys().collect();
    assert!(files.iter().any(|file| file.starts_with("code=0xB064")));
    for file in files {
        assert_eq!(mode(bench.at("shown").join(&file)), 0, "{}", file.display());
    }
}

#[test]
fn a_full_disk_is_an_error_and_the_same_command_goes_on() {
    let bench = Bench::with_slices(40, 200_000);
    fs::create_dir(bench.at("small")).unwrap();
    let [drives, small, kept] = ["drives", "small", "kept"].map(|name| bench.at(name));
    let (drives, small, kept) = (drives.display(), small.display(), kept.display());
    let convert = format!("{PROGRAM} convert {drives} {small}/out");
    let script = format!(
        "{convert} && exit 3; mount -o remount,size=256m {small}; {convert} --json >/dev/null 2>&1 || exit 4; \
         cp -r {small}/out {kept}"
    );
    let Some(output) = on_small_disk(&bench.at("small"), "256k", &script) else { return };
    let said = words(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("no space left") && said.contains("the same command goes on"), "{said}");
    bench.convert("out", &[]);
    assert!(bench.files("kept") == bench.files("out"));
}
