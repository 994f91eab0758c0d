//! A copy of the program with file capabilities, as other programs' manuals advise.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nix::sys::statvfs::{FsFlags, statvfs};
use sounding_emu::Netns;

use crate::{Copy, default_of, ended, said, skipped};
use sounding_testdata::{Need, skip};

/// Every verb, with what it would otherwise do something by.
const VERBS: &[&[&str]] = &[
    &["run", "--device", "/dev/null"],
    &["run", "--peers"],
    &["guard-restore"],
    &["background", "--", "true"],
    &["background-keep"],
    &["emu", "--up", "1Mbit", "--", "true"],
    &["demo"],
    &["lab", "run", "emu-cells"],
    &["lab", "run", "soak"],
    &["lab", "list"],
    &["modem", "sim"],
    &["record", "/dev/null", "drive.qmdl"],
    &["board", "/dev/null"],
    &["link", "/dev/null"],
    &["kpi", "/dev/null", "--kpi", "lte.pusch.tbs"],
    &["doctor", "--no-ports"],
    &["decode", "/etc/shadow"],
    &["convert", "/etc/shadow", "drive.csv"],
    &["sim", "/etc/shadow"],
    &["--version"],
];

/// What `setcap cap_bpf,cap_perfmon,cap_net_admin+ep` writes (linux/capability.h, `struct
/// vfs_cap_data`, revision 2).
fn give_capabilities(program: &Path) {
    const REVISION_2_EFFECTIVE: u32 = 0x0200_0001;
    const NET_ADMIN: u32 = 1 << 12;
    const PERFMON_AND_BPF: u32 = 1 << (38 - 32) | 1 << (39 - 32);
    let words = [REVISION_2_EFFECTIVE, NET_ADMIN, 0, PERFMON_AND_BPF, 0];
    let value: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let path = CString::new(program.as_os_str().as_bytes()).unwrap();
    let name = c"security.capability";
    // SAFETY: two strings that end, and a value of the length that is given.
    let set = unsafe {
        libc::setxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0)
    };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}

/// A way to give a copy rights, by its name.
type Raising = (&'static str, fn(&Copy));

const RAISINGS: [Raising; 3] = [
    ("file capabilities", |copy| give_capabilities(&copy.program())),
    ("setuid", |copy| copy.set_mode(0o4755)),
    ("setgid", |copy| copy.set_mode(0o2755)),
];

/// A copy that every user may run, in a place where capabilities count.
fn copy() -> Option<Copy> {
    if skipped() {
        return None;
    }
    let copy = Copy::new();
    if statvfs(&copy.program()).unwrap().flags().contains(FsFlags::ST_NOSUID) {
        skip(
            Need::Root,
            "the folder for temporary files is mounted nosuid: rights of files are nothing there",
        );
        return None;
    }
    Some(copy)
}

#[test]
fn a_program_with_rights_of_its_own_does_nothing_for_anybody() {
    let Some(plain) = copy() else { return };
    let netns = Netns::new().unwrap();
    let version = ended(plain.as_stranger(&netns, &["--version"]), "");
    assert!(version.status.success(), "without rights it runs: {}", said(&version));
    for (raised, raise) in RAISINGS {
        let copy = Copy::new();
        raise(&copy);
        for arguments in VERBS {
            let output = ended(copy.as_stranger(&netns, arguments), "");
            let said = said(&output);
            assert_eq!(output.status.code(), Some(1), "{raised}, {arguments:?}: {said}");
            assert!(said.contains("AT_SECURE"), "{raised}, {arguments:?}: {said}");
            assert!(output.stdout.is_empty(), "{raised}, {arguments:?}: {said}");
        }
    }
}

#[test]
fn the_guard_of_a_program_with_capabilities_sets_no_default_algorithm() {
    let Some(_) = copy() else { return };
    for (raised, raise) in RAISINGS {
        let copy = Copy::new();
        raise(&copy);
        let netns = Netns::new().unwrap();
        let before = default_of(&netns);
        let other = if before == "reno" { "cubic" } else { "reno" };
        for told in [
            // As the guard of earlier versions was instructed.
            format!(
                r#"{{"Sysctl":{{"path":"/proc/sys/net/ipv4/tcp_congestion_control","ours":"{before}","was":"{other}"}}}}"#
            ),
            format!(r#"{{"Undo":{{"Default":{{"ours":"{before}","was":"{other}"}}}}}}"#),
        ] {
            let output = ended(copy.as_stranger(&netns, &["guard-restore"]), &format!("{told}\n"));
            assert_eq!(default_of(&netns), before, "{raised}: {told}: {}", said(&output));
        }
    }
}

#[test]
fn no_text_advises_to_give_a_program_capabilities() {
    let Some(copy) = copy() else { return };
    let netns = Netns::new().unwrap();
    let output = ended(copy.as_stranger(&netns, &["doctor", "--no-ports"]), "");
    let said = said(&output);
    assert!(said.contains("lacks CAP_NET_ADMIN"), "{said}");
    assert!(said.contains("sounding@.service") && !said.contains("setcap"), "{said}");
}
