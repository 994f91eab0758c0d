//! Constants of HSPA.

use crate::csv::{array, rows};

pub(crate) fn tables() -> String {
    let mut code = String::new();
    for letter in ["a", "b", "c", "d", "e", "f", "g"] {
        // Columns: CQI, TBS, codes, modulation, power adjustment, N_IR, X_RV; CQI 0 is out of
        // range.
        let rows: Vec<(u32, u8, u8, i8, u32)> = rows(&format!("ts25214_7{letter}_cqi"))[1..]
            .iter()
            .map(|row| {
                let number = |at: usize| row[at].parse::<u32>().expect("a number");
                let order = match row[3].as_str() {
                    "QPSK" => 2,
                    "16QAM" => 4,
                    "64QAM" => 6,
                    other => panic!("modulation {other:?}"),
                };
                assert!(row[6] == "0", "X_RV is 0 throughout");
                let power = row[4].parse().expect("decibels");
                (number(1), number(2) as u8, order, power, number(5))
            })
            .collect();
        code += &array(&format!("CQI_{}", letter.to_uppercase()), "(u32, u8, u8, i8, u32)", &rows);
    }
    let categories: Vec<(String, String, u32)> = rows("ts25306_5.1a_hsdsch_category")
        .iter()
        .map(|row| (row[1].clone(), row[2].clone(), row[3].parse().expect("bits")))
        .collect();
    code + &array("CATEGORIES", "(&str, &str, u32)", &categories)
}
