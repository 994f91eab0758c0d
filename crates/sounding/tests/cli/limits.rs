//! Files that are larger than what a verb reads of them.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::stderr;

#[test]
fn plans_above_a_mebibyte_and_traces_above_four_gibibytes_are_refused_unread() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let sparse = |name: &str, bytes: u64| {
        File::create(place(name)).and_then(|file| file.set_len(bytes)).unwrap();
        place(name)
    };
    let text = sparse("plan.toml", 2 << 20);
    let trace = sparse("huge.up", 5 << 30);
    let plan = place("links.toml");
    let link = "duration = \"1s\"\n[[links]]\nup = \"huge.up\"\ndown = \"1Mbit\"\n[[flows]]\ndirection = \"up\"\n";
    std::fs::write(&plan, link).unwrap();
    let fifo = place("fifo");
    let made = nix::unistd::mkfifo(Path::new(&fifo), nix::sys::stat::Mode::S_IRWXU);
    made.unwrap();
    let out = place("out.csv");
    for (arguments, figures) in [
        (&["run", "--check-config", "--config", &text][..], ["2097152 bytes", "1 MiB"]),
        (&["run", "--check-config", "--config", "/dev/zero"], ["more than 1048576 bytes", "1 MiB"]),
        (&["run", "--check-config", "--config", &fifo], ["more than 1048576 bytes", "1 MiB"]),
        (&["sim", &text], ["2097152 bytes", "1 MiB"]),
        (&["sim", &fifo], ["more than 1048576 bytes", "1 MiB"]),
        (&["sim", &plan], ["5368709120 bytes", "4 GiB"]),
        (&["emu", "--up", &trace, "--", "true"], ["5368709120 bytes", "4 GiB"]),
        (&["emu", "--up", "/dev/zero", "--", "true"], ["is a device", "/dev/zero"]),
        (&["convert", &trace, &out], ["huge.up", "4 GiB"]),
    ] {
        // Without the limit it would take all memory.
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -v 2000000; exec \"$0\" \"$@\""]);
        command.arg(assert_cmd::cargo::cargo_bin!("sounding")).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        if arguments.contains(&fifo.as_str()) {
            // It waits for a reader. Its writing ends when the reader does.
            let mut pipe = OpenOptions::new().write(true).open(&fifo).unwrap();
            let written = std::iter::repeat_with(|| pipe.write_all(&[b'#'; 1 << 16]));
            assert!(written.take(1 << 10).any(|written| written.is_err()), "{arguments:?}");
        }
        let output = child.wait_with_output().unwrap();
        let said: String = stderr(&output).chars().take(500).collect();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        for figure in figures {
            assert!(said.contains(figure), "{arguments:?}: {said}");
        }
    }
}
