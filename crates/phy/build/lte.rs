//! Constants of LTE.

use crate::csv::{NONE, array, numbers, rate_2048, rows, timers};

pub(crate) fn tables() -> String {
    let mut code = String::new();

    let tbs = numbers("ts36213_7.1.7.2.1-1_tbs");
    let sizes: Vec<&[u32]> = tbs.iter().map(|row| &row[1..]).collect();
    code += &array("TBS", "[u32; 110]", &sizes);

    for (name, file) in [
        ("MCS_DL", "ts36213_7.1.7.1-1_mcs_dl"),
        ("MCS_DL_256QAM", "ts36213_7.1.7.1-1a_mcs_dl_256qam"),
        ("MCS_UL", "ts36213_8.6.1-1_mcs_ul"),
    ] {
        // Columns: I_MCS, Q_m, I_TBS, and what is reserved; rows without an I_TBS are
        // retransmissions.
        let rows = numbers(file);
        let first = |row: &&Vec<u32>| row[2] != NONE;
        let mcs: Vec<(u32, u32)> = rows.iter().filter(first).map(|r| (r[1], r[2])).collect();
        code += &array(name, "(u8, u8)", &mcs);
        // Downlink rows of retransmissions have a modulation, uplink ones a redundancy version.
        let repeats: Vec<u32> = rows
            .iter()
            .filter(|row| !first(row))
            .map(|row| if row[1] == NONE { row[3] } else { row[1] })
            .collect();
        code += &array(&format!("{name}_RESERVED"), "u8", &repeats);
    }

    for (name, file) in [
        ("TWO_LAYERS", "ts36213_7.1.7.2.2-1_two_layers"),
        ("TWO_LAYERS_UNVERIFIED", "ts36213_7.1.7.2.2-1_two_layers_rel12_unverified"),
        ("THREE_LAYERS", "ts36213_7.1.7.2.4-1_three_layers"),
        ("FOUR_LAYERS", "ts36213_7.1.7.2.5-1_four_layers"),
    ] {
        let pairs: Vec<(u32, u32)> = numbers(file).iter().map(|r| (r[0], r[1])).collect();
        code += &array(name, "(u32, u32)", &pairs);
    }

    for (name, file) in
        [("CQI_64QAM", "ts36213_7.2.3-1_cqi"), ("CQI_256QAM", "ts36213_7.2.3-2_cqi_256qam")]
    {
        code += &cqi(name, file);
    }

    for (name, file) in [
        ("BSR_UPPER", "ts36321_6.1.3.1-1_bsr"),
        ("BSR_UPPER_EXTENDED", "ts36321_6.1.3.1-2_bsr_extended"),
    ] {
        let upper: Vec<u32> = numbers(file).iter().map(|r| r[2]).collect();
        code += &array(name, "u32", &upper);
    }

    let carriers: Vec<(u16, u32, u32)> = rows("ts36101_5.6-1_bandwidth")
        .iter()
        .map(|row| {
            let number = |at: usize| row[at].parse().expect("a number");
            ((crate::csv::decimal(&row[0]) * 10.0) as u16, number(1), number(2))
        })
        .collect();
    code += &array("CARRIERS", "(u16, u16, u8)", &carriers);

    let kinds: Vec<String> = rows("ts36211_4.2-2_tdd").into_iter().map(|r| r[2].clone()).collect();
    code += &array("TDD", "&str", &kinds);
    let special: Vec<(u32, u32, u32)> =
        numbers("ts36211_4.2-1_special_subframe").iter().map(|r| (r[1], r[2], r[3])).collect();
    code += &array("SPECIAL_SUBFRAME", "(u8, u8, u8)", &special);

    for (name, file) in
        [("GRANT_DELAY", "ts36213_8-2_grant"), ("PHICH_DELAY", "ts36213_9.1.2-1_phich")]
    {
        let delays: Vec<Vec<u32>> = numbers(file)
            .iter()
            .map(|row| row[1..].iter().map(|&k| if k == NONE { 0 } else { k }).collect())
            .collect();
        code += &array(name, "[u8; 10]", &delays);
    }
    code += &array("FEEDBACK_DELAY", "[u8; 10]", &feedback_delays());
    code + &timers("ts36331_timers")
}

/// The association set says which earlier subframes an uplink subframe acknowledges; turned around
/// it says for each downlink subframe how much later its acknowledgement is sent, 0 where there is
/// nothing to acknowledge.
fn feedback_delays() -> Vec<[u8; 10]> {
    rows("ts36213_10.1.3.1-1_association")
        .iter()
        .map(|row| {
            let mut delays = [0; 10];
            for (uplink, cell) in row[1..].iter().enumerate() {
                for k in cell.split(' ').filter(|k| !k.is_empty()) {
                    let k: usize = k.parse().expect("a number of subframes");
                    let downlink = (uplink + 20 - k) % 10;
                    assert!(delays[downlink] == 0, "subframe {downlink} acknowledged twice");
                    delays[downlink] = k as u8;
                }
            }
            delays
        })
        .collect()
}

/// CQI 1..=15: modulation order and code rate.
pub(crate) fn cqi(name: &str, file: &str) -> String {
    let rows: Vec<(u8, u16)> = rows(file)[1..]
        .iter()
        .map(|row| (row[1].parse().expect("a modulation order"), rate_2048(&row[2])))
        .collect();
    array(name, "(u8, u16)", &rows)
}
