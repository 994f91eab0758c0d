//! A modem that does not tell its masks keeps them.

use sounding_modem::Behaviour;

use crate::{RECORD, Rig};

/// A modem that does not tell its masks, which are all on.
fn hiding() -> Rig {
    Rig::of(Behaviour { all_on: true, hides_masks: true, ..Behaviour::default() })
}

const RESTORED: &str = "log mask is as it was";
const KEPT: &str = "does not tell the log mask of equipment";

fn has_read(rig: &Rig) -> bool {
    let file = std::fs::metadata(rig.folder.path().join("drive.qmdl"));
    let records = file.is_ok_and(|file| file.len() > 30_000);
    rig.said().contains(KEPT) && (records || rig.said().lines().count() > 40)
}

#[test]
fn a_mask_that_the_modem_does_not_tell_stays_and_what_comes_is_read() {
    for arguments in [
        &RECORD[..],
        &["kpi", "modem", "--kpi", "lte.pusch.tbs"],
        &["link", "modem", "--bin", "10ms"],
    ] {
        let rig = hiding();
        rig.run(arguments, has_read, libc::SIGINT);
        let said = rig.said();
        assert!(said.contains("--set-untold-mask"), "{arguments:?}: {said}");
        assert!(!said.contains(RESTORED), "nothing was set: {said}");
        assert!(rig.notes().is_empty(), "{:?}", rig.notes());
        let tally = rig.end();
        assert_eq!(tally.masked, 0, "{arguments:?} switched records off: {tally:?}");
        assert!(tally.sent > 0 && tally.refused > 0, "{tally:?}");
    }
}

#[test]
fn a_mask_that_the_modem_does_not_tell_is_set_on_demand_and_the_end_says_what_stays() {
    let rig = hiding();
    let arguments = ["kpi", "modem", "--kpi", "lte.pusch.tbs", "--set-untold-mask"];
    rig.run(&arguments, |rig| rig.said().lines().count() > 100, libc::SIGINT);
    let said = rig.said();
    assert!(!said.contains(KEPT) && !said.contains(RESTORED), "{said}");
    assert!(said.contains("cannot be restored: 1 kind of records stays on"), "{said}");
    let tally = rig.end();
    assert!(tally.masked > 0, "the mask is the verb's: {tally:?}");
}

#[test]
fn the_daemon_leaves_a_mask_alone_that_the_modem_does_not_tell() {
    let name = format!("{}_untold", std::process::id() % 1_000_000);
    let missing = sounding_bpf::preflight(&name).into_iter().find(|check| !check.ok);
    if let Some(check) = missing {
        sounding_testdata::skip(sounding_testdata::Need::Kernel, &check.detail);
        return;
    }
    let rig = hiding();
    let arguments = ["run", "--device", "modem", "--name", &name, "--json"];
    rig.run(&arguments, |rig| rig.said().matches(r#""active""#).count() > 10, libc::SIGINT);
    assert!(rig.said().contains(r#""masks_kept":[11]"#), "{}", rig.said());
    assert_eq!(rig.end().masked, 0);
}
