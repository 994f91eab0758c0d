use sounding_phy::nr::{
    self, BsrFormat, CqiTable, DefaultPdschTable, FrequencyRange, MappingType, McsTable,
    MeasuredPattern, Numerology, SlotKind, TbScaling, timing,
};
use sounding_phy::{Modulation, Scheme};
use sounding_units::{Bytes, Prb};

use super::csv::{list, number, some, table};
use super::lte::assert_allowed;

/// A scheme beside Q_m, code rate x 1024 and spectral efficiency.
pub(crate) fn assert_scheme(found: Option<Scheme>, cells: &[String], at: &str) {
    let rate = number::<f64>(&cells[1]);
    let wanted = number(&cells[0]).and_then(Modulation::of_order).zip(rate);
    let same = found.map(|scheme| (scheme.modulation, f64::from(scheme.rate_2048) / 2.0));
    assert_eq!(same, wanted, "{at}");
    if let (Some(found), Some(efficiency)) = (found, number::<f64>(&cells[2])) {
        // The tables round to four digits.
        assert!((f64::from(found.efficiency()) - efficiency).abs() < 0.0001, "{at}: {efficiency}");
    }
}

#[test]
fn modulation_and_coding_schemes() {
    for (mcs_table, name) in [
        (McsTable::Qam64, "nr_38214_5.1.3.1-1_mcs_64qam"),
        (McsTable::Qam256, "nr_38214_5.1.3.1-2_mcs_256qam"),
        (McsTable::Qam64LowSe, "nr_38214_5.1.3.1-3_mcs_64qam_lowse"),
        (McsTable::Qam1024, "nr_38214_5.1.3.1-4_mcs_1024qam"),
        (McsTable::Precoding, "nr_38214_6.1.4.1-1_mcs_pusch_tp"),
        (McsTable::PrecodingLowSe, "nr_38214_6.1.4.1-2_mcs_pusch_tp_lowse"),
    ] {
        let Some(rows) = table(name) else { continue };
        assert_eq!(rows.len(), 32);
        for row in rows {
            let i_mcs = some(&row[0]);
            let modulation = number(&row[1]).and_then(Modulation::of_order);
            if some::<u8>(&row[4]) == 0 {
                assert_scheme(nr::mcs(mcs_table, i_mcs), &row[1..4], &format!("{name} {i_mcs}"));
                assert_eq!(nr::reserved(mcs_table, i_mcs), None, "{name} {i_mcs}");
            } else {
                assert_eq!(nr::mcs(mcs_table, i_mcs), None, "{name} {i_mcs}");
                assert_eq!(nr::reserved(mcs_table, i_mcs), modulation, "{name} {i_mcs}");
            }
        }
    }
}

#[test]
fn channel_quality_indicators() {
    for (cqi_table, name) in [
        (CqiTable::Table1, "nr_38214_5.2.2.1-2_cqi_table1"),
        (CqiTable::Table2, "nr_38214_5.2.2.1-3_cqi_table2"),
        (CqiTable::Table3, "nr_38214_5.2.2.1-4_cqi_table3"),
    ] {
        let Some(rows) = table(name) else { continue };
        assert_eq!(rows.len(), 16);
        for row in rows {
            assert_scheme(nr::cqi(cqi_table, some(&row[0])), &row[1..4], name);
        }
    }
}

#[test]
fn schemes_of_a_reported_quality() {
    let Some(rows) = table("nr_cqi_to_mcs_same_se") else { return };
    for row in rows {
        for (cqi_table, cell) in CqiTable::ALL.into_iter().zip(&row[1..4]) {
            // -1 is out of range.
            let wanted = number::<i8>(cell).and_then(|i_mcs| u8::try_from(i_mcs).ok());
            let found = nr::mcs_of_cqi(cqi_table, some(&row[0]), cqi_table.mcs_table());
            assert_eq!(found, wanted, "{cqi_table:?} CQI {}", row[0]);
        }
    }
}

#[test]
fn small_transport_blocks_are_those_of_the_table_and_all_of_them_are_reached() {
    let Some(rows) = table("nr_38214_5.1.3.2-1_tbs") else { return };
    let listed: Vec<u32> = rows.iter().map(|row| some(&row[1])).collect();
    assert_eq!(listed.len(), 93);
    let mut reached: Vec<u32> = McsTable::ALL
        .into_iter()
        .flat_map(|table| (0..29).filter_map(move |i_mcs| nr::mcs(table, i_mcs)))
        .flat_map(|scheme| {
            (1..10_000).filter_map(move |n| nr::tbs_bits(n, scheme, 1, TbScaling::One))
        })
        .filter(|bits| *bits <= 3824)
        .collect();
    reached.sort_unstable();
    reached.dedup();
    assert_eq!(reached, listed);
}

#[test]
fn buffer_sizes() {
    for (formats, name) in [
        ([BsrFormat::Short, BsrFormat::ShortTruncated], "nr_38321_6.1.3.1-1_bsr_5bit"),
        ([BsrFormat::Long, BsrFormat::LongTruncated], "nr_38321_6.1.3.1-2_bsr_8bit"),
    ] {
        let Some(rows) = table(name) else { continue };
        for row in rows {
            let at: u8 = some(&row[0]);
            for format in formats {
                // The notes repeat the upper end of each row as the lower of the next, but for one
                // slip: 52 for 55.
                let slip = (row[0].as_str(), row[1].as_str()) == ("28", "52");
                let lower = if slip { Some(55) } else { number(&row[1]) };
                assert_eq!(format.lower(at), lower.map(Bytes::new), "{name} {at}");
                assert_eq!(format.upper(at), number(&row[2]).map(Bytes::new), "{name} {at}");
            }
        }
    }
}

#[test]
fn carriers() {
    let Some(rows) = table("nr_38101_nrb") else { return };
    for row in &rows {
        let range = if row[0] == "FR1" { FrequencyRange::Fr1 } else { FrequencyRange::Fr2 };
        let numerology = Numerology::of_khz(some(&row[1])).expect("a spacing");
        let found = nr::carrier_prb(range, numerology, some(&row[2]));
        assert_eq!(found, Some(Prb::new(some(&row[3]))), "{row:?}");
    }
    let mut known = 0;
    for range in [FrequencyRange::Fr1, FrequencyRange::Fr2] {
        for numerology in (0..=6).filter_map(Numerology::new) {
            known +=
                (0..=1000).filter(|mhz| nr::carrier_prb(range, numerology, *mhz).is_some()).count();
        }
    }
    assert_eq!(known, rows.len());
}

#[test]
fn numerologies() {
    let Some(rows) = table("nr_38211_numerology") else { return };
    for row in rows {
        let numerology = Numerology::new(some(&row[0])).expect("a numerology");
        assert_eq!(numerology.khz(), some::<u16>(&row[1]));
        assert_eq!(numerology.slots_per_frame(), some::<u16>(&row[3]));
        assert_eq!(numerology.slots_per_subframe(), some::<u16>(&row[4]));
        let slot_ms = numerology.slot().as_nanos() as f64 / 1e6;
        assert_eq!(slot_ms, some::<f64>(&row[5]));
        let symbol_us = slot_ms * 1000.0 / f64::from(nr::SYMBOLS_PER_SLOT);
        assert!((symbol_us - some::<f64>(&row[6])).abs() < 0.0001);
        assert_eq!(numerology.prb_khz(), some::<u16>(&row[7]));
    }
}

#[test]
fn default_downlink_allocations() {
    let Some(rows) = table("nr_38214_pdsch_default_tdra") else { return };
    let mut known = 0;
    for (default, letter) in
        [(DefaultPdschTable::A, "A"), (DefaultPdschTable::B, "B"), (DefaultPdschTable::C, "C")]
    {
        for position in 2..=3u8 {
            for number in 1..=16u8 {
                let found = nr::pdsch_default(default, position, number);
                let row = rows.iter().find(|row| {
                    row[0] == letter
                        && some::<u8>(&row[1]) == position
                        && some::<u8>(&row[2]) == number
                });
                assert_eq!(found.is_some(), row.is_some(), "{letter} {position} {number}");
                let (Some(found), Some(row)) = (found, row) else { continue };
                assert_eq!(found.mapping == MappingType::B, row[3] == "B");
                let cells = [found.delay, found.start, found.symbols];
                assert_eq!(cells.map(|cell| cell.to_string()), row[4..7], "{row:?}");
                known += 1;
            }
        }
    }
    assert_eq!(known, rows.len());
}

#[test]
fn default_uplink_allocations() {
    let (Some(rows), Some(delays)) =
        (table("nr_38214_6.1.2.1.1-2_pusch_default_tdra"), table("nr_38214_6.1.2.1.1-4_j_delta"))
    else {
        return;
    };
    for delay in delays {
        let numerology = Numerology::new(some(&delay[0])).expect("a numerology");
        assert_eq!(nr::pusch_msg3_delay(numerology), number(&delay[2]));
        for row in &rows {
            let found = nr::pusch_default(numerology, some(&row[0])).expect("a row");
            assert_eq!(found.mapping == MappingType::B, row[1] == "B");
            assert_eq!(found.delay, some::<u8>(&delay[1]) + some::<u8>(&row[2]));
            assert_eq!([found.start, found.symbols].map(|cell| cell.to_string()), row[3..5]);
        }
    }
}

#[test]
fn patterns_of_networks() {
    let Some(rows) = table("nr_tdd_patterns") else { return };
    for row in rows {
        let letters: String = row[3].chars().take_while(char::is_ascii_uppercase).collect();
        // No source has the special slot of one kind of private network.
        if letters == "DSUUU" {
            continue;
        }
        let special: Vec<u8> = match row[0].as_str() {
            "srsRAN default" => vec![8, 6, 0],
            _ => row[4].split(" / ").next().unwrap_or_default().split(':').map(some).collect(),
        };
        let found = nr::named_patterns().find(|named| {
            let pattern = named.pattern;
            let kind = |slot| match pattern.slot(slot).kind() {
                SlotKind::Downlink => 'D',
                SlotKind::Mixed => 'S',
                SlotKind::Uplink => 'U',
            };
            let kinds: String = (0..pattern.period()).map(kind).collect();
            let mixed = (0..pattern.period())
                .map(|slot| pattern.slot(slot))
                .filter(|format| format.kind() == SlotKind::Mixed);
            kinds == letters
                && named.numerology.khz() == some::<u16>(&row[1])
                && mixed.clone().all(|format| {
                    [format.downlink, format.flexible(), format.uplink] == special[..]
                })
        });
        let found = found.unwrap_or_else(|| panic!("no pattern like {row:?}"));
        let period = found.numerology.slot() * found.pattern.period();
        assert_eq!(period.as_micros() as f64 / 1000.0, some::<f64>(&row[2]), "{row:?}");
    }
}

#[test]
fn retransmissions_that_were_measured() {
    let Some(rows) = table("gandalf_tdd_retx_timing") else { return };
    for measured in [MeasuredPattern::A, MeasuredPattern::B] {
        for slot in 0..20 {
            for (direction, found) in
                [("DL", measured.downlink(slot)), ("UL", measured.uplink(slot))]
            {
                let letter = if measured == MeasuredPattern::A { "a" } else { "b" };
                let row = rows.iter().find(|row| {
                    row[0] == letter && some::<u32>(&row[2]) == slot && row[3] == direction
                });
                assert_eq!(found.is_some(), row.is_some(), "{letter} {direction} {slot}");
                if let (Some(found), Some(row)) = (found, row) {
                    let cells = [found.first, found.then, found.total()];
                    assert_eq!(cells.map(|cell| cell.to_string()), row[4..7]);
                }
            }
        }
    }
}

#[test]
fn delays_and_timers() {
    let Some(rows) = table("nr_timing_facts") else { return };
    let cell = |item: &str| {
        let row = rows.iter().find(|row| row[0].starts_with(item));
        row.map_or_else(|| panic!("no {item}"), |row| row[1].trim())
    };
    let processes = format!("{} / {}", timing::HARQ_PROCESSES, timing::HARQ_PROCESSES_MOST);
    assert!(cell("HARQ processes DL").starts_with(&processes));
    assert!(cell("K0").ends_with(&format!("0..{}", timing::K0_K2_MOST)));
    assert!(cell("K2").ends_with(&format!("0..{}", timing::K0_K2_MOST)));
    let [first, .., last] = timing::K1_FALLBACK;
    let k1 = format!("DCI 1_0: {first}..{last} ; DCI 1_1: dl-DataToUL-ACK 0..{}", timing::K1_MOST);
    assert_eq!(cell("K1"), k1);
    assert_eq!(list(cell("redundancy version order")), timing::REDUNDANCY_VERSIONS.map(u32::from));
    let ssb = format!("{} / {} ", timing::SSB_PERIOD_MS, timing::SIB1_PERIOD_MS);
    assert!(cell("SSB period default").starts_with(&ssb));

    let symbols = |of: fn(Numerology) -> Option<u8>| -> Vec<String> {
        (0..=3)
            .filter_map(Numerology::new)
            .filter_map(of)
            .map(|symbols| symbols.to_string())
            .collect()
    };
    let plain = symbols(|numerology| timing::processing_symbols(numerology, false)).join(",");
    let more = symbols(|numerology| timing::processing_symbols(numerology, true)).join(",");
    let wanted = format!("{plain} symbols for mu 0..3 (no add. DMRS); {more} (add. DMRS)");
    assert_eq!(cell("UE PDSCH processing N1"), wanted);
    let wanted = format!("{} for mu 0..3", symbols(timing::preparation_symbols).join(","));
    assert_eq!(cell("UE PUSCH preparation N2"), wanted);

    assert_allowed(&timing::PERIODIC_BSR, cell("periodicBSR-Timer"), "periodicBSR-Timer");
    assert_allowed(&timing::RETX_BSR, cell("retxBSR-Timer"), "retxBSR-Timer");
    assert_allowed(&timing::SR_DELAY, cell("logicalChannelSR-DelayTimer"), "SR delay");
    // Periods shorter than a slot are counted in symbols.
    let slots = cell("SR period").replace("sl", "").replace("sym", "-");
    assert_allowed(&timing::SR_PERIOD_SLOTS, &slots, "SR period");
}
