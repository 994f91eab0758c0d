//! 0xB16E, 0xB16F.

use serde_json::{Value as Json, json};

use super::{DCI_FORMAT, PUCCH_FORMAT, differently, error, list, record, same, text};
use crate::agree::Rule;
use crate::tree::Item;

/// The reference takes two's complement numbers for plain ones.
fn plain(item: &Item, name: &str) -> Json {
    json!(item.number(name).map(|number| number & 255))
}

fn records(mut rules: Vec<Rule>) -> Vec<Rule> {
    rules.extend([
        same("frame", "SFN"),
        same("subframe", "Sub-FN"),
        text("dci_format", "DCI Format", DCI_FORMAT),
        same("path_loss_db", "DL Path Loss"),
    ]);
    record(vec![same("count", "Number of Records"), list("records", "Records", rules)])
}

/// The reference has a name for two commands, and numbers for the others.
fn command(item: &Item, none: (i64, &str)) -> Json {
    match item.number("tpc_db") {
        Some(-1) => json!("-1"),
        Some(number) if number == none.0 => json!(none.1),
        number => json!(number),
    }
}

pub(super) fn pusch(version: u8) -> Vec<Rule> {
    let mut rules = vec![
        error("power_dbm", "PUSCH Tx Power (dBm)", |item| plain(item, "power_dbm")),
        error("actual_power_dbm", "PUSCH Actual Tx Power", |item| plain(item, "actual_power_dbm")),
        text("tx_type", "Tx Type", &[(1, "Dynamic"), (2, "RACH MSG3")]),
        same("rbs", "Num RBs"),
        same("tb_bytes", "Transport Block Size"),
        same("f_i_db", "F(i)"),
        differently("tpc_db", "TPC", |item| command(item, (15, "N/A"))),
    ];
    if version == 25 {
        rules.extend([
            same("cell", "Cell Index"),
            same("tpc_frozen", "TPC Frozen"),
            same("max_power_dbm", "Max Power"),
        ]);
    }
    records(rules)
}

pub(super) fn pucch(version: u8) -> Vec<Rule> {
    records(vec![
        error("power_dbm", "PUCCH Tx Power (dBm)", |item| plain(item, "power_dbm")),
        error("actual_power_dbm", "PUCCH Actual Tx Power", |item| plain(item, "actual_power_dbm")),
        text("format", "PUCCH Format", PUCCH_FORMAT),
        same("n_harq", "N_HARQ"),
        differently("tpc_db", "TPC Command", |item| command(item, (31, "Not present"))),
        same("n_cqi", "N_CQI"),
        match version {
            // The reference takes 65535 off, one too few, and off positive numbers too.
            4 => error("g_i_db", "g(i)", |item| {
                json!(item.number("g_i_db").map(|db| (db & 0xFFFF) - 0xFFFF))
            }),
            _ => same("g_i_db", "g(i)"),
        },
    ])
}
