//! Turns the 3GPP tables in `tables/` into constant arrays, so that the numbers stay readable, diffable CSV and the
//! crate still reads no file.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=tables");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let mut code = String::new();

    let tbs = rows("ts36213_7.1.7.2.1-1_tbs");
    writeln!(code, "pub(crate) const TBS: [[u32; 110]; {}] = [", tbs.len()).expect("string");
    for row in &tbs {
        writeln!(code, "{:?},", &row[1..]).expect("string");
    }
    writeln!(code, "];").expect("string");

    for (name, file) in [
        ("MCS_DL", "ts36213_7.1.7.1-1_mcs_dl"),
        ("MCS_DL_256QAM", "ts36213_7.1.7.1-1a_mcs_dl_256qam"),
        ("MCS_UL", "ts36213_8.6.1-1_mcs_ul"),
    ] {
        // Columns: I_MCS, Q_m, I_TBS; rows without an I_TBS are retransmissions.
        let mcs: Vec<(u32, u32)> =
            rows(file).iter().filter(|r| r[2] != NONE).map(|r| (r[1], r[2])).collect();
        writeln!(code, "pub(crate) const {name}: [(u8, u8); {}] = {mcs:?};", mcs.len())
            .expect("string");
    }

    for (name, file) in [
        ("TWO_LAYERS", "ts36213_7.1.7.2.2-1_two_layers"),
        ("THREE_LAYERS", "ts36213_7.1.7.2.4-1_three_layers"),
        ("FOUR_LAYERS", "ts36213_7.1.7.2.5-1_four_layers"),
    ] {
        let pairs: Vec<(u32, u32)> = rows(file).iter().map(|r| (r[0], r[1])).collect();
        writeln!(code, "pub(crate) const {name}: [(u32, u32); {}] = {pairs:?};", pairs.len())
            .expect("string");
    }

    let bsr: Vec<u32> = rows("ts36321_6.1.3.1-1_bsr").iter().map(|r| r[2]).collect();
    writeln!(code, "pub(crate) const BSR_UPPER: [u32; {}] = {bsr:?};", bsr.len()).expect("string");

    fs::write(Path::new(&out).join("tables.rs"), code).expect("OUT_DIR can be written");

    let mut nr = String::new();
    for (name, file) in [
        ("BSR_UPPER_SHORT", "ts38321_6.1.3.1-1_bsr_5bit"),
        ("BSR_UPPER_LONG", "ts38321_6.1.3.1-2_bsr_8bit"),
    ] {
        let bsr: Vec<u32> = rows(file).iter().map(|r| r[2]).collect();
        writeln!(nr, "pub(crate) const {name}: [u32; {}] = {bsr:?};", bsr.len()).expect("string");
    }
    fs::write(Path::new(&out).join("tables_nr.rs"), nr).expect("OUT_DIR can be written");
}

/// An empty cell of a table.
const NONE: u32 = u32::MAX;

fn rows(file: &str) -> Vec<Vec<u32>> {
    let path = format!("tables/{file}.csv");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.trim().parse().unwrap_or(NONE)).collect())
        .collect()
}
