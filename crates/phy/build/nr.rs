//! Constants of NR.

use crate::csv::{NONE, array, numbers, rate_2048, rows, timers};
use crate::lte::cqi;

pub(crate) fn tables() -> String {
    let mut code = String::new();
    for (name, file) in MCS_TABLES {
        // Columns: I_MCS, Q_m, R x 1024; rows without a rate are retransmissions.
        let rows = rows(file);
        let order = |row: &Vec<String>| row[1].parse::<u8>().expect("a modulation order");
        let mcs: Vec<(u8, u16)> = rows
            .iter()
            .filter(|row| !row[2].is_empty())
            .map(|row| (order(row), rate_2048(&row[2])))
            .collect();
        code += &array(name, "(u8, u16)", &mcs);
        let reserved: Vec<u8> = rows.iter().filter(|row| row[2].is_empty()).map(order).collect();
        code += &array(&format!("{name}_RESERVED"), "u8", &reserved);
    }

    let tbs: Vec<u32> = numbers("ts38214_5.1.3.2-1_tbs").iter().map(|r| r[1]).collect();
    code += &array("TBS", "u16", &tbs);

    for (name, file) in [
        ("CQI_TABLE_1", "ts38214_5.2.2.1-2_cqi_table1"),
        ("CQI_TABLE_2", "ts38214_5.2.2.1-3_cqi_table2"),
        ("CQI_TABLE_3", "ts38214_5.2.2.1-4_cqi_table3"),
    ] {
        code += &cqi(name, file);
    }

    for (name, file) in [
        ("BSR_UPPER_SHORT", "ts38321_6.1.3.1-1_bsr_5bit"),
        ("BSR_UPPER_LONG", "ts38321_6.1.3.1-2_bsr_8bit"),
    ] {
        let upper: Vec<u32> = numbers(file).iter().map(|r| r[2]).collect();
        code += &array(name, "u32", &upper);
    }

    let carriers: Vec<(bool, u32, u32, u32)> = rows("ts38101_5.3.2-1_bandwidth")
        .iter()
        .map(|row| {
            let number = |at: usize| row[at].parse().expect("a number");
            (row[0] == "FR2", number(1), number(2), number(3))
        })
        .collect();
    code += &array("CARRIERS", "(bool, u16, u16, u16)", &carriers);

    let rbg: Vec<(u32, [u32; 2])> =
        numbers("ts38214_5.1.2.2.1-1_rbg").iter().map(|r| (r[0], [r[1], r[2]])).collect();
    code += &array("RBG", "(u16, [u8; 2])", &rbg);

    code += &allocations();
    code += &patterns();
    code += &retransmissions();
    code + &timers("ts38331_timers")
}

const MCS_TABLES: [(&str, &str); 6] = [
    ("MCS_64QAM", "ts38214_5.1.3.1-1_mcs_64qam"),
    ("MCS_256QAM", "ts38214_5.1.3.1-2_mcs_256qam"),
    ("MCS_64QAM_LOW_SE", "ts38214_5.1.3.1-3_mcs_64qam_lowse"),
    ("MCS_1024QAM", "ts38214_5.1.3.1-4_mcs_1024qam"),
    ("MCS_PRECODING", "ts38214_6.1.4.1-1_mcs_pusch_tp"),
    ("MCS_PRECODING_LOW_SE", "ts38214_6.1.4.1-2_mcs_pusch_tp_lowse"),
];

/// Default time domain allocations: mapping type B?, K0 or K2 - j, first symbol, symbols; no
/// symbols where a table has no such row.
fn allocations() -> String {
    let mut code = String::new();
    let pdsch = rows("ts38214_5.1.2.1.1-2_pdsch_tdra");
    for table in ["A", "B", "C"] {
        let mut found = [[(false, 0, 0, 0); 16]; 2];
        for row in pdsch.iter().filter(|row| row[0] == table) {
            let number = |at: usize| row[at].parse::<u8>().expect("a number");
            found[usize::from(number(1)) - 2][usize::from(number(2)) - 1] =
                (row[3] == "B", number(4), number(5), number(6));
        }
        code += &array(&format!("PDSCH_DEFAULT_{table}"), "[(bool, u8, u8, u8); 16]", &found);
    }
    let pusch: Vec<(bool, u8, u8, u8)> = rows("ts38214_6.1.2.1.1-2_pusch_tdra")
        .iter()
        .map(|row| {
            let number = |at: usize| row[at].parse::<u8>().expect("a number");
            (row[1] == "B", number(2), number(3), number(4))
        })
        .collect();
    code += &array("PUSCH_DEFAULT_A", "(bool, u8, u8, u8)", &pusch);
    let j: Vec<(u32, u32)> =
        numbers("ts38214_6.1.2.1.1-4_j_delta").iter().map(|r| (r[1], r[2])).collect();
    code + &array("J_DELTA", "(u8, u8)", &j)
}

/// Patterns of live networks by name: subcarrier spacing, then period, slots and symbols, and the
/// same of a second one.
fn patterns() -> String {
    const FILE: &str = "ts38331_tdd_patterns";
    let names: Vec<(String, u32)> =
        rows(FILE).iter().zip(numbers(FILE)).map(|(text, row)| (text[0].clone(), row[1])).collect();
    let pattern = |row: &[u32]| (row[0] != NONE).then(|| row.to_vec());
    let periods: Vec<[Option<Vec<u32>>; 2]> =
        numbers(FILE).iter().map(|row| [pattern(&row[2..7]), pattern(&row[7..12])]).collect();
    array("TDD_NAMES", "(&str, u16)", &names)
        + &array("TDD_PERIODS", "[Option<[u16; 5]>; 2]", &periods)
}

/// Retransmission timing that was measured: (K1, Kd) or (K2, Ku) by the slot within ten, (0, 0)
/// where there was none.
fn retransmissions() -> String {
    let rows = rows("gandalf_4-6_retransmission");
    let mut code = String::new();
    for (name, configuration, direction) in [
        ("RETRANSMISSION_DL_A", "a", "DL"),
        ("RETRANSMISSION_DL_B", "b", "DL"),
        ("RETRANSMISSION_UL_A", "a", "UL"),
        ("RETRANSMISSION_UL_B", "b", "UL"),
    ] {
        let mut delays = [(0, 0); 20];
        for row in rows.iter().filter(|row| row[0] == configuration && row[3] == direction) {
            let number = |at: usize| row[at].parse::<u8>().expect("a number");
            delays[usize::from(number(2))] = (number(4), number(5));
        }
        code += &array(name, "(u8, u8)", &delays);
    }
    code
}
