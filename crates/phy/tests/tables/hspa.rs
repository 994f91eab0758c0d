use sounding_phy::Modulation;
use sounding_phy::hspa::{self, CqiTable};

use super::csv::{some, table};

#[test]
fn channel_quality_indicators() {
    for cqi_table in CqiTable::ALL {
        let name = format!("hspa_25214_7{cqi_table:?}_cqi");
        let Some(rows) = table(&name) else { continue };
        assert_eq!(rows.len(), 31);
        for row in rows {
            let at = some(&row[0]);
            let Some(found) = hspa::cqi(cqi_table, at) else {
                assert_eq!((at, row[2].as_str()), (0, "out of range"));
                continue;
            };
            let modulation = match row[3].as_str() {
                "QPSK" => Modulation::Qpsk,
                "16QAM" => Modulation::Qam16,
                _ => Modulation::Qam64,
            };
            assert_eq!(found.tbs_bits, some::<u32>(&row[1]), "{name} {at}");
            assert_eq!(found.codes, some::<u8>(&row[2]), "{name} {at}");
            assert_eq!(found.modulation, modulation, "{name} {at}");
            assert_eq!(found.reference_power_db, some::<i8>(&row[4]), "{name} {at}");
            assert_eq!(found.incremental_redundancy, some::<u32>(&row[5]), "{name} {at}");
            assert_eq!(some::<u8>(&row[6]), 0, "{name} {at}: X_RV");
        }
    }
}

#[test]
fn categories() {
    let Some(rows) = table("hspa_ue_category_to_cqi_table") else { return };
    assert_eq!(rows.len(), 24);
    for row in rows {
        let category = hspa::category(some(&row[0])).expect("a category");
        assert_eq!(category.most_bits, some::<u32>(&row[2]));
        // The table without 64QAM comes first; a separate table for 64QAM follows a slash.
        let mut letters = row[1].split('/').map(|part| part.trim()[..1].to_owned());
        let plain = letters.next().expect("a table");
        assert_eq!(format!("{:?}", category.table), plain);
        assert_eq!(format!("{:?}", category.table_64qam), letters.next().unwrap_or(plain));
    }
}
