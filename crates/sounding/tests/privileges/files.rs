//! Results: root writes them for a user of sudo, into folders where that user may change every name
//! at every moment.

use std::fs::{self, File, Permissions};
use std::io::Read as _;
use std::os::unix::fs::{
    MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown, symlink,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sounding_testbed::radio::RadioLink;
use sounding_testdata::{Need, may_emulate, skip};

use crate::{STRANGER, said, skipped};

/// Another user than the one of sudo.
const OTHER: u32 = STRANGER + 1;

const PLAN: &str = "duration = \"2s\"\n[[links]]\nup = \"12Mbit\"\ndown = \"12Mbit\"\n[[flows]]\ndirection = \"up\"\n";

/// A folder of root's with a file in it, one of the stranger's, a capture and a plan.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let machine = Self(folder);
        for name in ["roots", "theirs"] {
            fs::create_dir(machine.at(name)).unwrap();
        }
        fs::write(machine.at("roots/file"), "root's").unwrap();
        let capture = RadioLink::generated(5, Duration::from_secs(2)).unwrap().capture;
        fs::write(machine.at("drive.qmdl"), capture).unwrap();
        fs::write(machine.at("plan.toml"), PLAN).unwrap();
        machine.give("theirs");
        machine
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn give(&self, name: &str) {
        chown(self.at(name), Some(STRANGER), Some(STRANGER)).unwrap();
    }

    fn link(&self, from: &str, to: &str) {
        let _ = fs::remove_file(self.at(from));
        symlink(self.at(to), self.at(from)).unwrap();
    }

    /// The program as root, which the stranger became by sudo, or another way.
    fn sounding(&self, by_sudo: bool) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("sounding"));
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command.env_remove("SUDO_UID").env_remove("SUDO_GID");
        if by_sudo {
            command.env("SUDO_UID", STRANGER.to_string()).env("SUDO_GID", STRANGER.to_string());
        }
        command
    }

    /// Fails if anything of root's is not as it was.
    fn check(&self, after: &str) {
        for (name, is_file) in [("roots", false), ("roots/file", true)] {
            let about = fs::metadata(self.at(name)).unwrap();
            assert_eq!((about.uid(), about.is_file()), (0, is_file), "{name}: {after}");
        }
        assert_eq!(fs::read(self.at("roots/file")).unwrap(), b"root's", "{after}");
        assert_eq!(names(&self.at("roots")), ["file"], "{after}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Every file below, and the folder itself.
fn all(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![path.to_path_buf()];
    for entry in fs::read_dir(path).into_iter().flatten() {
        found.extend(all(&entry.unwrap().path()));
    }
    found
}

/// Verbs with a result, which is at OUT.
const VERBS: &[&str] = &[
    "convert --no-redact drive.qmdl OUT --to jsonl",
    "convert --no-redact drive.qmdl OUT --to parquet",
    "convert --redact drive.qmdl OUT --to parquet --only 0xB139",
    "record drive.qmdl OUT",
    "link drive.qmdl --method cqi --cqi-rates OUT",
    "sim plan.toml --out OUT --series 100ms",
    "lab sweep plan.toml --out OUT --series 100ms",
    "lab dataset OUT --traces 1 --duration 1s --data .",
    "lab report results --out OUT",
    "lab run bound --seeds 1 --json OUT",
    "lab run bound --seeds 1 --markdown OUT",
    "background --loaded=reno --json OUT -- true",
];

fn run(command: &mut Command, verb: &str, out: &Path) -> Output {
    for word in verb.split(' ') {
        match word {
            "OUT" => command.arg(out),
            _ => command.arg(word),
        };
    }
    command.output().unwrap()
}

/// Results that `lab report` reads.
fn results(machine: &Machine) {
    let made = run(&mut machine.sounding(false), VERBS[5], &machine.at("results"));
    assert!(made.status.success(), "{}", said(&made));
}

#[test]
fn every_result_of_a_command_under_sudo_belongs_to_its_user_alone() {
    if skipped() {
        return;
    }
    let machine = Machine::new();
    results(&machine);
    fs::create_dir(machine.at("theirs/data")).unwrap();
    machine.give("theirs/data");
    for (number, verb) in VERBS.iter().enumerate() {
        let new = format!("new-{number}");
        machine.link("theirs/link", "theirs/data");
        let made = run(&mut machine.sounding(true), verb, &machine.at("theirs/link").join(&new));
        assert!(made.status.success(), "{verb}: {}", said(&made));
        let made = all(&machine.at("theirs/data").join(&new));
        for file in &made {
            let about = fs::symlink_metadata(file).unwrap();
            let whose = (about.uid(), about.gid());
            assert_eq!(whose, (STRANGER, STRANGER), "{verb}: {}", file.display());
        }
        assert_eq!(names(&machine.at("theirs/data")).len(), number + 1, "{verb}: it left more");
        machine.link("theirs/link", "roots");
        let refused = run(&mut machine.sounding(true), verb, &machine.at("theirs/link").join(&new));
        machine.check(&format!("{verb}: {}", said(&refused)));
        assert!(!refused.status.success(), "{verb}: {}", said(&refused));
        assert!(said(&refused).contains("4242421"), "{verb}: {}", said(&refused));
        // A link instead of the result: what was made through it would be root's no more.
        machine.link("theirs/link", "roots/file");
        let linked = run(&mut machine.sounding(true), verb, &machine.at("theirs/link"));
        machine.check(&format!("{verb}: {}", said(&linked)));
        let _ = fs::remove_file(machine.at("theirs/link"));
        let _ = fs::remove_dir_all(machine.at("theirs/link"));
    }
}

#[test]
fn root_without_sudo_follows_no_link_of_another_user() {
    if skipped() {
        return;
    }
    let machine = Machine::new();
    results(&machine);
    for verb in VERBS {
        machine.link("theirs/link", "roots");
        let refused = run(&mut machine.sounding(false), verb, &machine.at("theirs/link/new"));
        machine.check(&format!("{verb}: {}", said(&refused)));
        let refused = (refused.status.success(), said(&refused));
        let is_said = refused.1.contains("symbolic link") && refused.1.contains("of your own");
        assert!(!refused.0 && is_said, "{verb}: {}", refused.1);
    }
}

#[test]
fn a_result_through_a_link_that_the_command_makes_meanwhile_changes_no_file_of_root() {
    if skipped() {
        return;
    }
    let machine = Machine::new();
    let [file, roots, theirs] = ["roots/file", "roots", "theirs"].map(|name| machine.at(name));
    let (file, roots, theirs) = (file.display(), roots.display(), theirs.display());
    let as_file = format!("ln -sf {file} {theirs}/result");
    let as_folder = format!(
        "mkdir {theirs}/folder; mv {theirs}/folder {theirs}/away; ln -s {roots} {theirs}/folder"
    );
    let mut verbs = vec![("background", "--loaded=reno")];
    if may_emulate() {
        verbs.push(("emu", "--up=1Mbit"));
    }
    for (verb, option) in verbs {
        for (script, out) in [(&as_file, "theirs/result"), (&as_folder, "theirs/folder/file")] {
            let mut command = machine.sounding(true);
            command.args([verb, option, "--json"]).arg(machine.at(out));
            let output = command.args(["--", "sh", "-c", script]).output().unwrap();
            machine.check(&format!("{verb} {script}: {}", said(&output)));
        }
        // The file in the link's place is the user's own.
        let about = fs::symlink_metadata(machine.at("theirs/result")).unwrap();
        assert_eq!((about.is_file(), about.uid()), (true, STRANGER), "{verb}");
        fs::remove_file(machine.at("theirs/result")).unwrap();
        fs::remove_file(machine.at("theirs/folder")).unwrap();
        fs::remove_dir(machine.at("theirs/away")).unwrap();
    }
}

#[test]
fn logs_and_links_of_an_emulation_are_its_users() {
    if skipped() {
        return;
    }
    if !may_emulate() {
        return skip(Need::Root, "this machine makes no emulated networks");
    }
    let machine = Machine::new();
    let plan = "duration = \"2s\"\n[cell]\ncarriers = [{ prb = 25 }]\n[cell.sniffer]\n[[cell.devices]]\nname = \"phone\"\nmodem = { sniffer = true }\n[[flows]]\ndirection = \"up\"\n";
    fs::write(machine.at("cell.toml"), plan).unwrap();
    let emu = |words: &str, out: &str| {
        let mut command = machine.sounding(true);
        let words = words.replace("CMD", "-- stat -Lc %U:%F:%n OUT");
        run(&mut command, &words, &machine.at(out))
    };
    for words in ["emu --up-log OUT CMD", "emu --down-log OUT CMD"] {
        let made = emu(words, "theirs/new");
        assert!(made.status.success(), "{words}: {}", said(&made));
        assert_eq!(fs::metadata(machine.at("theirs/new")).unwrap().uid(), STRANGER, "{words}");
        fs::remove_file(machine.at("theirs/new")).unwrap();
        machine.link("theirs/link", "roots/file");
        machine.check(&format!("{words}: {}", said(&emu(words, "theirs/link"))));
        machine.link("theirs/link", "roots");
        machine.check(&format!("{words}: {}", said(&emu(words, "theirs/link/file"))));
    }
    machine.link("theirs/link", "roots");
    for words in ["emu cell.toml --link OUT CMD", "emu cell.toml --sniffer OUT CMD"] {
        let made = emu(words, "theirs/new");
        assert!(made.status.success(), "{words}: {}", said(&made));
        machine.check(&format!("{words}: {}", said(&emu(words, "theirs/link/new"))));
    }
    let logs = all(&machine.at("theirs/new"));
    assert!(logs.len() > 1, "{logs:?}");
    for log in logs {
        assert_eq!(fs::metadata(&log).unwrap().uid(), STRANGER, "{}", log.display());
    }
    // The link to the modem's port goes with it; what has come in its place does not.
    let replaced = "emu cell.toml --link OUT -- sh -c";
    let mut command = machine.sounding(true);
    command.args(replaced.split(' ').map(|word| match word {
        "OUT" => machine.at("theirs/port"),
        word => word.into(),
    }));
    let theirs = machine.at("theirs");
    let script = format!("cd {}; rm port; echo kept >port", theirs.display());
    let output = command.arg(script).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(fs::read_to_string(theirs.join("port")).unwrap(), "kept\n");
}

#[test]
fn a_folder_swapped_for_a_link_during_a_conversion_gives_nothing_of_root_away() {
    if skipped() {
        return;
    }
    let machine = Machine::new();
    let [folder, away, link] =
        ["theirs/folder", "theirs/away", "theirs/link"].map(|name| machine.at(name));
    fs::create_dir(&folder).unwrap();
    machine.give("theirs/folder");
    machine.link("theirs/link", "roots");
    for by_sudo in [true, false] {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    // Each may fail, at either end of the swap.
                    let _ = fs::rename(&folder, &away).and_then(|()| fs::rename(&link, &folder));
                    let _ = fs::rename(&folder, &link).and_then(|()| fs::rename(&away, &folder));
                }
            });
            let _stops = Stops(&stop);
            for number in 0..10 {
                let verb = format!("{} --force", VERBS[number % 2]);
                let out = folder.join("out.parquet");
                let output = run(&mut machine.sounding(by_sudo), &verb, &out);
                machine.check(&format!("{verb}: {}", said(&output)));
            }
        });
    }
}

/// Ends the other thread, also after a panic.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn identities_go_into_no_pipe_of_another_user() {
    if skipped() {
        return;
    }
    let machine = Machine::new();
    let pipe = machine.at("theirs/pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::empty()).unwrap();
    fs::set_permissions(&pipe, Permissions::from_mode(0o666)).unwrap();
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NONBLOCK);
    let mut reader = options.open(&pipe).unwrap();
    for (owner, by_sudo, may) in [
        (OTHER, true, false),
        (OTHER, false, false),
        (STRANGER, false, false),
        (STRANGER, true, true),
    ] {
        chown(&pipe, Some(owner), Some(owner)).unwrap();
        let is_over = AtomicBool::new(false);
        let (output, got) = std::thread::scope(|scope| {
            // The program waits while the pipe is full.
            let reading = scope.spawn(|| {
                let (mut got, mut piece) = (0, vec![0; 1 << 16]);
                loop {
                    let was_over = is_over.load(Ordering::Relaxed);
                    match reader.read(&mut piece).unwrap_or(0) {
                        0 if was_over => return got,
                        0 => std::thread::sleep(Duration::from_millis(1)),
                        count => got += count,
                    }
                }
            });
            let output = run(
                &mut machine.sounding(by_sudo),
                "convert --no-redact drive.qmdl OUT --to jsonl --only 0xB139",
                &pipe,
            );
            is_over.store(true, Ordering::Relaxed);
            (output, reading.join().unwrap())
        });
        let case = format!("pipe of {owner}, by sudo {by_sudo}: {}", said(&output));
        assert_eq!((output.status.success(), got > 0), (may, may), "{case}");
        assert!(may || said(&output).contains(&format!("user {owner}")), "{case}");
    }
}

#[test]
fn results_go_to_the_descriptors_that_the_program_was_given() {
    if skipped() {
        return;
    }
    let machine = Machine::new();
    let program = assert_cmd::cargo::cargo_bin!("sounding").display().to_string();
    for (words, path) in [
        ("lab run bound --seeds 1 --json", "/dev/stdout"),
        ("lab run bound --seeds 1 --json", "/dev/fd/1"),
        ("lab run bound --seeds 1 --json", "/dev/fd/3"),
        ("background --loaded=reno --json", "/dev/fd/3"),
        ("convert --no-redact drive.qmdl --to jsonl --only 0xB139", "/dev/stdout"),
        ("convert --no-redact drive.qmdl --to jsonl --only 0xB139", "/proc/self/fd/3"),
    ] {
        let more = if words.starts_with("background") { "-- true" } else { "" };
        // A pipe and a file of root's, which the user of sudo could not open.
        for sink in ["| cat >got", ">got"] {
            let _ = fs::remove_file(machine.at("got"));
            let given = if path.ends_with('3') { "3>&1 >/dev/null" } else { "" };
            let script =
                format!("umask 077; {{ {program} {words} {path} {more} {given}; }} {sink}");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).current_dir(machine.0.path()).stdin(Stdio::null());
            shell.env("SUDO_UID", STRANGER.to_string()).env("SUDO_GID", STRANGER.to_string());
            let output = shell.output().unwrap();
            let got = fs::read_to_string(machine.at("got")).unwrap();
            assert!(got.contains('{'), "{script}: {got:?} {}", said(&output));
            assert!(Path::new("/dev/stdout").is_symlink(), "{script}");
        }
    }
}

#[test]
fn a_name_in_a_plan_leads_out_of_no_folder_of_results() {
    if skipped() {
        return;
    }
    let machine = Machine::new();
    let roots = machine.at("roots/new");
    for name in [roots.to_str().unwrap(), "../../roots/new", "..", ""] {
        let cell = format!(
            "duration = \"2s\"\n[cell]\ncarriers = [{{ prb = 25 }}]\n[[cell.devices]]\nname = \"{name}\"\nmodem = {{}}\n[[flows]]\ndirection = \"up\"\n"
        );
        let link = PLAN.replace("[[links]]\n", &format!("[[links]]\nname = \"{name}\"\n"));
        let flow = PLAN.replace("[[flows]]\n", &format!("[[flows]]\nname = \"{name}\"\n"));
        for (plan, line) in [(&cell, 5), (&link, 3), (&flow, 6)] {
            fs::write(machine.at("named.toml"), plan).unwrap();
            let verb = "sim named.toml --out OUT --captures --traces";
            let output = run(&mut machine.sounding(false), verb, &machine.at("out"));
            machine.check(&format!("{plan}: {}", said(&output)));
            assert!(!machine.at("out").exists(), "{plan}: something is written");
            assert!(!output.status.success(), "{plan}");
            assert!(said(&output).contains(&format!("named.toml:{line}:")), "{}", said(&output));
        }
    }
}
