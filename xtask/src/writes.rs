//! A result is written in one place, `crates/host/src/files`, with the rights of the user for whom
//! it is. A file that is opened for writing elsewhere could be a link that another user has made,
//! which root would follow.

use std::fs;
use std::process::Command;

use cargo_metadata::Metadata;

/// Files that write in another way, and why that is no result of a user.
pub(crate) const ALLOWED: &[(&str, &str)] = &[
    ("crates/host/src/files", "the one place"),
    ("crates/host/src/files.rs", "the one place"),
    ("crates/board/src", "boards, in a folder of the daemon's user; opened without links"),
    ("crates/bpf/src/downlink", "claims, pins and cgroups, in folders of root in /run and /sys"),
    ("crates/emu/src/device.rs", "settings in /proc/sys, and /dev/net/tun"),
    ("crates/host/src/wakefulness.rs", "/dev/cpu_dma_latency"),
    (
        "crates/modem/src/memory.rs",
        "masks of a modem, in a folder of root in /run; opened without links",
    ),
    (
        "crates/feed/src/publisher.rs",
        "a socket that it has made, in a folder of the daemon's user; links are not followed",
    ),
    (
        "crates/modem/src/beside/server.rs",
        "a socket that it has made, in a folder of the daemon's user that others may not write",
    ),
    ("crates/modem/src/pty.rs", "a pty that it has made"),
    ("crates/modem/src/transport", "the port of a modem"),
    ("crates/serve/src/token.rs", "a token, in a file that it makes and that only its user reads"),
    ("crates/sounding/src/background", "cgroups"),
    (
        "crates/sounding/src/before.rs",
        "the old default, in a folder of root in /run; opened without links",
    ),
    ("crates/sounding/src/doctor.rs", "whether /dev/net/tun opens"),
    (
        "crates/sounding/src/doctor/udev.rs",
        "a rule in /etc/udev/rules.d, root's folder, as root; no link is followed",
    ),
    ("crates/sounding/src/guard/change.rs", "settings in /proc/sys"),
    ("crates/sounding/src/patient.rs", "a pipe or terminal that it was given, opened once more"),
    (
        "crates/sounding/src/run/outputs/shape/remembered.rs",
        "a link's rate, in a folder of root in /var/lib that is open; opened without links",
    ),
    (
        "crates/sounding/src/shapers/left.rs",
        "shapers before this program, in a folder of root in /run; opened without links",
    ),
    (
        "crates/testbed/src/call/processes.rs",
        "the words of a program, in a folder for this run alone",
    ),
];

/// Ways to make, change, rename or remove a file.
const WAYS: &[&str] = &[
    "File::create",
    "fs::write(",
    ".write(true)",
    ".append(true)",
    ".create(true)",
    ".create_new(true)",
    "fs::copy(",
    "fs::create_dir",
    "fs::hard_link(",
    "fs::remove_",
    "fs::rename(",
    "fs::set_permissions(",
    "unix::fs::symlink",
    "DirBuilder",
    "NamedTempFile",
    "dir_in(",
    "file_in(",
    "chown(",
    "O_CREAT",
    "O_WRONLY",
];

pub(crate) fn violations(metadata: &Metadata) -> Vec<String> {
    let root = &metadata.workspace_root;
    let listed = [
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "crates/*/src/*.rs",
        "python/src/*.rs",
    ];
    let Ok(listed) = Command::new("git").args(listed).current_dir(root).output() else {
        return vec!["git ls-files does not run".into()];
    };
    let paths = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut found = Vec::new();
    let mut used = vec![false; ALLOWED.len()];
    for path in
        paths.lines().filter(|path| !path.ends_with("/tests.rs") && !path.contains("/tests/"))
    {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        let faults = faults(&text);
        let allowed = ALLOWED.iter().position(|(allowed, _)| {
            path.strip_prefix(allowed).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        match allowed {
            Some(at) => used[at] |= !faults.is_empty(),
            None => found.extend(faults.into_iter().map(|(line, way)| {
                format!("{path}:{line}: {way}: write results with sounding_host::files")
            })),
        }
    }
    let unused = ALLOWED.iter().zip(used).filter(|(_, used)| !used);
    found.extend(unused.map(|((path, _), _)| format!("{path}: is allowed to write, and does not")));
    found
}

/// Lines that write, up to the tests at a file's end.
fn faults(text: &str) -> Vec<(usize, &'static str)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_tests = |at: usize| {
        lines[at] == "#[cfg(test)]"
            && lines.get(at + 1).is_some_and(|next| next.starts_with("mod "))
    };
    let own = (0..lines.len()).take_while(|&at| !is_tests(at));
    own.filter(|&at| !lines[at].trim_start().starts_with("//"))
        .filter_map(|at| Some((at + 1, *WAYS.iter().find(|way| lines[at].contains(**way))?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_elsewhere_is_found_and_one_of_a_test_is_not() {
        let text = "// fs::write(\nfn f() {\n    std::fs::write(path, text);\n    let options = options.write(true);\n}\n\n#[cfg(test)]\nmod tests {\n    fs::write(path, \"\");\n}";
        assert_eq!(faults(text), [(3, "fs::write("), (4, ".write(true)")]);
    }
}
