use std::io::{BufRead as _, BufReader, Write as _};

use crate::{ADOPT, MANAGE, Place, keep, program, rate};

#[test]
fn an_adopted_shaper_has_its_own_rate_back_when_the_pipe_closes() {
    let Some(place) = Place::new() else { return };
    let before = place.text();
    let mut keeper = place.keeper();
    let standing = keeper.keep(ADOPT);
    assert!(standing.contains(r#""kind":"htb","shaper":"htb 1: with pfifo","rate_bits_per_sec":10000000,"is_managed":false"#), "{standing}");
    keeper.rate(20);
    place.wait_until(|text| text.contains("rate 20Mbit ceil 20Mbit"));
    assert_eq!(place.notes(), 1);
    let said = keeper.end();
    assert_eq!((place.text(), place.notes(), said), (before, 0, String::new()));
}

#[test]
fn shapers_of_both_directions_are_gone_when_the_pipe_closes() {
    let Some(place) = Place::plain() else { return };
    let before = place.text();
    let mut keeper = place.keeper();
    let down = keeper.ask(&keep("downlink", "v0", MANAGE));
    assert!(down.contains(r#""place":"ifb4v0""#), "{down}");
    let up = keeper.keep(MANAGE);
    assert!(up.contains(r#""place":"v0""#) && up.contains(r#""is_managed":true"#), "{up}");
    keeper.tell(&rate("downlink", 7_000_000));
    place.wait_until(|text| {
        let classes = place.run("tc class show dev ifb4v0");
        classes.contains("rate 7065Kbit") || text.contains("bandwidth 7Mbit")
    });
    assert_eq!(place.notes(), 2);
    let said = keeper.end();
    assert_eq!((place.text(), place.notes(), said), (before, 0, String::new()));
}

#[test]
fn a_daemon_that_is_killed_has_its_shapers_restored() {
    let Some(place) = Place::new() else { return };
    let before = place.text();
    // A shell is the daemon: it alone has the other end of the keeper's pipe.
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let script = format!(
        "mkfifo {0}; {1} shape-keep <{0} >/dev/null & exec 3>{0}
         while read -r line; do echo \"$line\" >&3; done",
        pipe.display(),
        program()
    );
    let mut daemon = place.command("sh", &["-c", &script]).spawn().unwrap();
    let mut input = daemon.stdin.take().unwrap();
    let lines = [&keep("uplink", "v0", ADOPT), "\"close\"", &rate("uplink", 30_000_000)];
    writeln!(input, "{}", lines.join("\n")).unwrap();
    place.wait_until(|text| text.contains("rate 30Mbit"));
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    place.wait_for(&before);
    // It ends when the keeper does.
    let said: Vec<_> = BufReader::new(daemon.stderr.take().unwrap()).lines().collect();
    assert_eq!((said.len(), place.notes()), (0, 0), "{said:?}");
}

#[test]
fn the_next_keeper_restores_what_a_killed_one_left() {
    for way in [ADOPT, MANAGE] {
        let Some(place) = Place::of_way(way) else { return };
        let before = place.text();
        place.kept(way).kill();
        assert_ne!(place.text(), before);
        assert!(place.notes() > 0);
        // It restores before it reads a line.
        let said = place.keeper().end();
        assert_eq!((place.text(), place.notes()), (before, 0), "{said}");
        assert!(said.contains("v0: restored after a kill"), "{said}");
    }
}

#[test]
fn a_rate_that_another_program_has_set_since_a_kill_stays() {
    let Some(place) = Place::new() else { return };
    place.kept(ADOPT).kill();
    // It is within the limits, and the killed one did not set it.
    place.run("tc class change dev v0 parent 1: classid 1:1 htb rate 21mbit");
    let text = place.text();
    let said = place.keeper().end();
    assert_eq!((place.text(), place.notes()), (text, 0), "{said}");
    assert!(said.contains("another program has changed its shaper since"), "{said}");
}

#[test]
fn a_second_keeper_does_not_take_a_living_ones_shaper_for_an_earlier_runs() {
    let Some(place) = Place::plain() else { return };
    let keeper = place.kept(MANAGE);
    let text = place.text();
    let mut second = place.keeper();
    for direction in ["downlink", "uplink"] {
        let refused = second.ask(&keep(direction, "v0", MANAGE));
        assert!(refused.contains("another sounding shapes it"), "{refused}");
    }
    second.end();
    assert_eq!(place.text(), text);
    keeper.end();
}

#[test]
fn a_full_folder_keeps_no_draft_of_a_note() {
    let Some(place) = Place::new() else { return };
    let before = place.text();
    let full = place.folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    place.run(&format!("mount -t tmpfs -o size=4k,mode=755 none {}", full.display()));
    std::fs::write(full.join("fill"), [0; 4096]).unwrap();
    let mut command = place.command(program(), &["shape-keep"]);
    command.env("SOUNDING_RUN_DIR", &full);
    let mut keeper = crate::Keeper::of(command.spawn().unwrap());
    let refused = keeper.ask(&keep("uplink", "v0", ADOPT));
    keeper.end();
    let names: Vec<_> =
        std::fs::read_dir(&full).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    // Another test may hold it for a moment, in a process that has just been forked.
    place.run(&format!("umount -l {}", full.display()));
    assert!(refused.contains("nothing is changed"), "{refused}");
    assert_eq!((names.len(), place.text()), (1, before), "{names:?}");
}

#[test]
fn a_living_keeper_is_not_restored_from_under_its_feet() {
    let Some(place) = Place::new() else { return };
    let keeper = place.kept(ADOPT);
    let text = place.text();
    let mut second = place.keeper();
    let refused = second.ask(&keep("uplink", "v0", ADOPT));
    assert!(refused.contains("another sounding shapes it"), "{refused}");
    second.end();
    assert_eq!((place.text(), place.notes()), (text, 1));
    keeper.end();
}

#[test]
fn a_note_behind_a_link_is_not_believed() {
    let Some(place) = Place::new() else { return };
    place.kept(ADOPT).kill();
    let text = place.text();
    let entry = std::fs::read_dir(place.folder.path()).unwrap().next().unwrap().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("note");
    std::fs::rename(entry.path(), &target).unwrap();
    std::os::unix::fs::symlink(&target, entry.path()).unwrap();
    let said = place.keeper().end();
    assert_eq!(place.text(), text);
    assert!(said.contains(&*entry.file_name().to_string_lossy()), "{said}");
}
