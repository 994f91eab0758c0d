//! Runs the fuzz target with its seeds, and generates the seeds.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[path = "../../diag/tests/synthetic/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod synthetic;
mod targets;

use std::path::PathBuf;

use sounding_diag::capture::Format;
use sounding_diag::packet::Packet;
use sounding_kpi::registry;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/libod"))
}

#[test]
fn seeds_of_every_kind_of_source_do_what_the_header_says() {
    let mut kinds = [0; 4];
    for file in std::fs::read_dir(corpus()).unwrap() {
        let path = file.unwrap().path();
        let seed = std::fs::read(&path).unwrap();
        kinds[usize::from(seed[0])] += 1;
        let samples = targets::libod(&seed);
        let is_read = path.file_name().unwrap().to_str().unwrap().starts_with("capture");
        assert!(!is_read || samples > 0, "{path:?} has samples");
    }
    assert!(kinds.iter().all(|seeds| *seeds > 0), "{kinds:?}");
}

/// `cargo test -p sounding-libod --test corpus -- --ignored`
#[test]
#[ignore = "writes the seeds anew"]
fn regenerate() {
    std::fs::create_dir_all(corpus()).unwrap();
    let write = |name: &str, kind: u8, calls: &[[u8; 2]], file: &[u8]| {
        let head = [kind, calls.len() as u8];
        std::fs::write(corpus().join(name), [&head, calls.as_flattened(), file].concat()).unwrap();
    };
    let place = |name| registry::all().position(|kpi| kpi.name == name).unwrap() as u8;
    let (rsrp, tbs) = (place("lte.cell.rsrp"), place("lte.pusch.tbs"));
    let whole = [
        [0, 0],
        [1, rsrp],
        [1, tbs],
        [5, 0],
        [3, 1],
        [4, 0],
        [3, 200],
        [3, 200],
        [4, 1],
        [6, 0],
        [3, 1],
    ];
    let wrong = [
        [3, 1],
        [0, 0],
        [3, 0],
        [5, 0],
        [4, 200],
        [6, 1],
        [1, tbs],
        [3, 0],
        [1, rsrp],
        [2, 9],
        [7, 3],
        [7, 255],
        [0, 0],
    ];
    for format in [Format::Hdlc, Format::NonHdlc, Format::Hdf, Format::Dlf] {
        let mut file = Vec::new();
        for (code, body) in synthetic::bodies(0) {
            if [0xB193, 0xB139].contains(&code.number()) && file.len() < 2000 {
                format.emit(&Packet::Log(synthetic::record(code, &body)), &mut file).unwrap();
            }
        }
        let name = format!("{format:?}").to_lowercase();
        write(&format!("capture-{name}"), 0, &whole, &file);
        if format == Format::Hdlc {
            write("misused-capture", 0, &wrong, &file);
            let rows = [[8, 0], [0, 0], [8, 0], [8, 1], [9, 5], [8, 2], [9, 0], [8, 0], [9, 9]];
            write("capture-rows", 0, &[&rows[..], &whole[..]].concat(), &file);
            write("device", 2, &whole, &file);
            write("misused-device", 2, &wrong, &file);
        }
    }
    let board = std::fs::read(corpus().join("../board/posted")).unwrap();
    write("board", 1, &whole, &board);
    write("misused-board", 1, &wrong, &board);
    write("board-cut", 1, &whole, &board[..300]);
    write("words", 3, &[[0, 0], [6, 1]], b"kettle:1");
    write("words-of-a-board", 3, &[[0, 0], [1, 0]], b"no-such-board");
}
