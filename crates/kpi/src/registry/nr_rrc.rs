//! Facts from NR's RRC messages: the state of the connection, timers, time-domain allocations,
//! carriers and measurements. Without its own core network, NR's messages come inside LTE's, for a
//! secondary group of cells. The modem logs them as NR's records then too, and they are read there.
//! No identity and no location is among them, because everyone can read a board.

use sounding_diag::layout::Item;
use sounding_rrc::facts::{Event, Facts, MeasuredCell, Measurement, Period, Place, Rat};

use super::allocation::{k0, k0_at, k0_least, k2, k2_at, k2_least};
use super::fact::{Give, facts, maybe, or_never, scells_added, some, state_of};

facts! {
/// Events of the connection.
CONNECTION = 0xB821 {
    "nr.rrc.state" Index 0..=2 "UL-CCCH, DL-CCCH, UL-DCCH, DL-DCCH" [by state]
        "TS 38.331 §4.2.1" "state after the message, of a device whose connection is NR's own: 0 idle, 1 connected, 2 inactive";
    "nr.rrc.request" Count 0..=1 "rrcSetupRequest" [event Request]
        "TS 38.331 §5.3.3" "1 each time the device asks for a connection";
    "nr.rrc.setup" Count 0..=1 "rrcSetup" [event Setup]
        "TS 38.331 §5.3.3; Gandalf Table 7" "1 each time a connection is set up";
    "nr.rrc.reject" Count 0..=1 "rrcReject" [event Reject]
        "TS 38.331 §5.3.15" "1 each time a connection is refused";
    "nr.rrc.reconfiguration" Count 0..=1 "rrcReconfiguration" [event Reconfiguration | Handover]
        "TS 38.331 §5.3.5; Gandalf Table 7" "1 each time the connection changes, handovers included";
    "nr.rrc.handover" Count 0..=1 "masterCellGroup, reconfigurationWithSync" [event Handover]
        "TS 38.331 §5.3.5.5.2" "1 each time the connection goes to another cell, or to the same one anew";
    "nr.rrc.reestablishment_request" Count 0..=1 "rrcReestablishmentRequest" [event ReestablishmentRequest]
        "TS 38.331 §5.3.7" "1 each time the device has lost the connection and requests reestablishment";
    "nr.rrc.reestablishment" Count 0..=1 "rrcReestablishment" [event Reestablishment]
        "TS 38.331 §5.3.7" "1 each time it may";
    "nr.rrc.release" Count 0..=1 "rrcRelease" [event Release]
        "TS 38.331 §5.3.8" "1 each time the connection ends";
    "nr.rrc.suspend" Count 0..=1 "rrcRelease, suspendConfig" [event Suspend]
        "TS 38.331 §5.3.8" "1 each time the connection ends so that it can be taken up again";
    "nr.rrc.resume" Count 0..=1 "rrcResume" [event Resume]
        "TS 38.331 §5.3.13" "1 each time it is taken up again";
    "nr.rrc.security_mode" Count 0..=1 "securityModeCommand" [event SecurityMode]
        "TS 38.331 §5.3.4" "1 each time encryption and integrity begin";
    "nr.rrc.measurement_report" Count 0..=1 "measurementReport" [event MeasurementReport]
        "TS 38.331 §5.5.5" "1 for each measurement report";
    "nr.rrc.scg_failure" Count 0..=1 "scgFailureInformation" [event SecondaryFailure]
        "TS 38.331 §5.7.3" "1 each time the secondary group of cells fails";
}

/// Timers of MAC.
TIMERS = 0xB821 {
    "nr.rrc.periodic_bsr_timer" Ms 0..=2560 "periodicBSR-Timer" [group PeriodicBsrTimer(timer) => or_never(*timer)]
        "TS 38.331 §6.3.2; Gandalf B.2" "how often buffer status is reported; 0 for never";
    "nr.rrc.retx_bsr_timer" Ms 0..=10240 "retxBSR-Timer" [group RetxBsrTimer(timer) => or_never(*timer)]
        "TS 38.331 §6.3.2" "how long after a buffer status report without a grant the next one comes; 0 for never";
    "nr.rrc.sr_period" Count 0..=5120 "periodicityAndOffset" [cell SchedulingRequest(request) => match request.period {
            Period::Slots(count) => some(count),
            Period::Symbols(count) => Some(f64::from(count) / 14.0),
            Period::Subframes(_) => None,
        }]
        "TS 38.331 §6.3.2" "slots in which the device may ask for a grant once";
    "nr.rrc.sr_offset" Count 0..=5119 "periodicityAndOffset" [cell SchedulingRequest(request) => some(request.offset)]
        "TS 38.331 §6.3.2" "slots into that period";
    "nr.rrc.drx_cycle" Ms 0..=10240 "drx-Config" [group Drx(drx) => or_never(drx.map(|drx| drx.cycle_ms))]
        "TS 38.331 §6.3.2" "long cycle of discontinuous reception; 0 for none";
    "nr.rrc.drx_offset" Ms 0..=10240 "drx-Config" [group Drx(drx) => maybe(drx.map(|drx| drx.offset_ms))]
        "TS 38.331 §6.3.2" "where in the cycle it begins";
    "nr.rrc.drx_on" Ms 0..=1600 "drx-onDurationTimer" [group Drx(drx) => drx.map(|drx| f64::from(drx.on_us) / 1000.0)]
        "TS 38.331 §6.3.2" "how long the device wakes at the beginning of a cycle";
    "nr.rrc.drx_inactivity" Ms 0..=2560 "drx-InactivityTimer" [group Drx(drx) => drx.map(|drx| f64::from(drx.inactivity_us) / 1000.0)]
        "TS 38.331 §6.3.2" "how long it stays awake after a grant";
    "nr.rrc.drx_short_cycle" Ms 0..=640 "drx-ShortCycle" [group Drx(drx) => or_never(drx.and_then(|drx| drx.short_cycle_ms))]
        "TS 38.331 §6.3.2" "short cycle before long ones; 0 for none";
}

/// Time-domain allocations of the first cell: which slots and symbols a grant can choose, by the
/// number it chooses with.
ALLOCATIONS = 0xB821 {
    "nr.rrc.pdsch.allocations" Count 1..=16 "pdsch-TimeDomainAllocationList" [cell PdschTimeAllocations(list) => some(list.len() as u32)]
        "TS 38.331 §6.3.2; Gandalf B.3.1" "entries of the list that a downlink assignment chooses from";
    "nr.rrc.pdsch.k0" Count 0..=32 "k0" [by k0]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "slots from an assignment to its block, of every entry in order";
    "nr.rrc.pdsch.k0_least" Count 0..=32 "k0" [by k0_least]
        "TS 38.214 §5.1.2.1" "the least of them";
    "nr.rrc.pdsch.start_symbol" Index 0..=13 "startSymbolAndLength" [cell PdschTimeAllocations(list) each list.iter().map(|entry| some(entry.start))]
        "TS 38.214 §5.1.2.1" "first symbol of the block, of every entry in order";
    "nr.rrc.pdsch.symbols" Count 1..=14 "startSymbolAndLength" [cell PdschTimeAllocations(list) each list.iter().map(|entry| some(entry.symbols))]
        "TS 38.214 §5.1.2.1" "symbols of the block, of every entry in order";
    "nr.rrc.pdsch.k0_0" Count 0..=32 "k0" [by k0_at::<0>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 0";
    "nr.rrc.pdsch.k0_1" Count 0..=32 "k0" [by k0_at::<1>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 1";
    "nr.rrc.pdsch.k0_2" Count 0..=32 "k0" [by k0_at::<2>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 2";
    "nr.rrc.pdsch.k0_3" Count 0..=32 "k0" [by k0_at::<3>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 3";
    "nr.rrc.pdsch.k0_4" Count 0..=32 "k0" [by k0_at::<4>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 4";
    "nr.rrc.pdsch.k0_5" Count 0..=32 "k0" [by k0_at::<5>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 5";
    "nr.rrc.pdsch.k0_6" Count 0..=32 "k0" [by k0_at::<6>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 6";
    "nr.rrc.pdsch.k0_7" Count 0..=32 "k0" [by k0_at::<7>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 7";
    "nr.rrc.pdsch.k0_8" Count 0..=32 "k0" [by k0_at::<8>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 8";
    "nr.rrc.pdsch.k0_9" Count 0..=32 "k0" [by k0_at::<9>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 9";
    "nr.rrc.pdsch.k0_10" Count 0..=32 "k0" [by k0_at::<10>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 10";
    "nr.rrc.pdsch.k0_11" Count 0..=32 "k0" [by k0_at::<11>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 11";
    "nr.rrc.pdsch.k0_12" Count 0..=32 "k0" [by k0_at::<12>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 12";
    "nr.rrc.pdsch.k0_13" Count 0..=32 "k0" [by k0_at::<13>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 13";
    "nr.rrc.pdsch.k0_14" Count 0..=32 "k0" [by k0_at::<14>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 14";
    "nr.rrc.pdsch.k0_15" Count 0..=32 "k0" [by k0_at::<15>]
        "TS 38.214 §5.1.2.1; Gandalf B.3.1" "K0 of entry 15";
    "nr.rrc.pusch.allocations" Count 1..=16 "pusch-TimeDomainAllocationList" [cell PuschTimeAllocations(list) => some(list.len() as u32)]
        "TS 38.331 §6.3.2; Gandalf B.3.1" "entries of the list that an uplink grant chooses from";
    "nr.rrc.pusch.k2" Count 0..=32 "k2" [by k2]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "slots from a grant to its block, of every entry in order";
    "nr.rrc.pusch.k2_least" Count 0..=32 "k2" [by k2_least]
        "TS 38.214 §6.1.2.1" "the least of them";
    "nr.rrc.pusch.start_symbol" Index 0..=13 "startSymbolAndLength" [cell PuschTimeAllocations(list) each list.iter().map(|entry| some(entry.start))]
        "TS 38.214 §6.1.2.1" "first symbol of the block, of every entry in order";
    "nr.rrc.pusch.symbols" Count 1..=14 "startSymbolAndLength" [cell PuschTimeAllocations(list) each list.iter().map(|entry| some(entry.symbols))]
        "TS 38.214 §6.1.2.1" "symbols of the block, of every entry in order";
    "nr.rrc.pusch.k2_0" Count 0..=32 "k2" [by k2_at::<0>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 0";
    "nr.rrc.pusch.k2_1" Count 0..=32 "k2" [by k2_at::<1>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 1";
    "nr.rrc.pusch.k2_2" Count 0..=32 "k2" [by k2_at::<2>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 2";
    "nr.rrc.pusch.k2_3" Count 0..=32 "k2" [by k2_at::<3>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 3";
    "nr.rrc.pusch.k2_4" Count 0..=32 "k2" [by k2_at::<4>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 4";
    "nr.rrc.pusch.k2_5" Count 0..=32 "k2" [by k2_at::<5>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 5";
    "nr.rrc.pusch.k2_6" Count 0..=32 "k2" [by k2_at::<6>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 6";
    "nr.rrc.pusch.k2_7" Count 0..=32 "k2" [by k2_at::<7>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 7";
    "nr.rrc.pusch.k2_8" Count 0..=32 "k2" [by k2_at::<8>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 8";
    "nr.rrc.pusch.k2_9" Count 0..=32 "k2" [by k2_at::<9>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 9";
    "nr.rrc.pusch.k2_10" Count 0..=32 "k2" [by k2_at::<10>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 10";
    "nr.rrc.pusch.k2_11" Count 0..=32 "k2" [by k2_at::<11>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 11";
    "nr.rrc.pusch.k2_12" Count 0..=32 "k2" [by k2_at::<12>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 12";
    "nr.rrc.pusch.k2_13" Count 0..=32 "k2" [by k2_at::<13>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 13";
    "nr.rrc.pusch.k2_14" Count 0..=32 "k2" [by k2_at::<14>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 14";
    "nr.rrc.pusch.k2_15" Count 0..=32 "k2" [by k2_at::<15>]
        "TS 38.214 §6.1.2.1; Gandalf B.3.1" "K2 of entry 15";
}

/// When the answer to a downlink block goes up, by the number that an assignment chooses with.
ANSWERS = 0xB821 {
    "nr.rrc.pucch.k1" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) each list.iter().map(|slots| some(*slots))]
        "TS 38.213 §9.2.3; Gandalf B.3.1" "slots from a downlink block to its HARQ answer, of every entry in order";
    "nr.rrc.pucch.k1_least" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) => maybe(list.iter().copied().min())]
        "TS 38.213 §9.2.3" "the least of them";
    "nr.rrc.pucch.k1_0" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) => maybe(list.first().copied())]
        "TS 38.213 §9.2.3; Gandalf B.3.1" "K1 of entry 0";
    "nr.rrc.pucch.k1_1" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) => maybe(list.get(1).copied())]
        "TS 38.213 §9.2.3; Gandalf B.3.1" "K1 of entry 1";
    "nr.rrc.pucch.k1_2" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) => maybe(list.get(2).copied())]
        "TS 38.213 §9.2.3; Gandalf B.3.1" "K1 of entry 2";
    "nr.rrc.pucch.k1_3" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) => maybe(list.get(3).copied())]
        "TS 38.213 §9.2.3; Gandalf B.3.1" "K1 of entry 3";
    "nr.rrc.pucch.k1_4" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) => maybe(list.get(4).copied())]
        "TS 38.213 §9.2.3; Gandalf B.3.1" "K1 of entry 4";
    "nr.rrc.pucch.k1_5" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) => maybe(list.get(5).copied())]
        "TS 38.213 §9.2.3; Gandalf B.3.1" "K1 of entry 5";
    "nr.rrc.pucch.k1_6" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) => maybe(list.get(6).copied())]
        "TS 38.213 §9.2.3; Gandalf B.3.1" "K1 of entry 6";
    "nr.rrc.pucch.k1_7" Count 0..=15 "dl-DataToUL-ACK" [cell AnswerOffsets(list) => maybe(list.get(7).copied())]
        "TS 38.213 §9.2.3; Gandalf B.3.1" "K1 of entry 7";
}

/// Cells, carriers and slots.
CELLS = 0xB821 {
    "nr.rrc.mib.scs" Khz 15..=60 "subCarrierSpacingCommon" [cell MasterInformation(block) => maybe(block.spacing_khz)]
        "TS 38.331 §6.2.2; Gandalf B.1" "subcarrier spacing of the first messages below 6 GHz; above, four times as much";
    "nr.rrc.dl_carrier_scs" Khz 15..=960 "SCS-SpecificCarrier" [down Carrier(carrier) => some(carrier.spacing_khz)]
        "TS 38.331 §6.3.2; Gandalf B.1" "subcarrier spacing that the downlink carrier can be used with";
    "nr.rrc.dl_carrier_bandwidth" Prb 1..=275 "SCS-SpecificCarrier" [down Carrier(carrier) => some(carrier.bandwidth_prb)]
        "TS 38.331 §6.3.2" "its resource blocks with that spacing";
    "nr.rrc.ul_carrier_scs" Khz 15..=960 "SCS-SpecificCarrier" [up Carrier(carrier) => some(carrier.spacing_khz)]
        "TS 38.331 §6.3.2; Gandalf B.1" "subcarrier spacing that the uplink carrier can be used with";
    "nr.rrc.ul_carrier_bandwidth" Prb 1..=275 "SCS-SpecificCarrier" [up Carrier(carrier) => some(carrier.bandwidth_prb)]
        "TS 38.331 §6.3.2" "its resource blocks with that spacing";
    "nr.rrc.dl_bwp_scs" Khz 15..=960 "subcarrierSpacing" [down BandwidthPart(part) => some(part.spacing_khz)]
        "TS 38.331 §6.3.2; Gandalf B.1" "subcarrier spacing of a downlink bandwidth part";
    "nr.rrc.dl_bwp_bandwidth" Prb 1..=275 "locationAndBandwidth" [down BandwidthPart(part) => some(part.bandwidth_prb)]
        "TS 38.213 §12" "its resource blocks";
    "nr.rrc.ul_bwp_scs" Khz 15..=960 "subcarrierSpacing" [up BandwidthPart(part) => some(part.spacing_khz)]
        "TS 38.331 §6.3.2; Gandalf B.1" "subcarrier spacing of an uplink bandwidth part";
    "nr.rrc.ul_bwp_bandwidth" Prb 1..=275 "locationAndBandwidth" [up BandwidthPart(part) => some(part.bandwidth_prb)]
        "TS 38.213 §12" "its resource blocks";
    "nr.rrc.dl_mcs_table" Index 1..=3 "mcs-Table" [down McsTable(table) => mcs_table(table)]
        "TS 38.214 Tables 5.1.3.1-1 to 5.1.3.1-3" "table that downlink MCS count in, where it is not the first";
    "nr.rrc.ul_mcs_table" Index 1..=3 "mcs-Table" [up McsTable(table) => mcs_table(table)]
        "TS 38.214 §6.1.4.1" "table that uplink MCS count in, where it is not the first";
    "nr.rrc.tdd_scs" Khz 15..=960 "referenceSubcarrierSpacing" [cell NrTdd(tdd) => some(tdd.reference_khz)]
        "TS 38.213 §11.1; Gandalf B.3.3" "subcarrier spacing whose slots the uplink-downlink pattern counts";
    "nr.rrc.tdd_period" Ms 0..=10 "dl-UL-TransmissionPeriodicity" [cell NrTdd(tdd) => Some(f64::from(tdd.first.period_us) / 1000.0)]
        "TS 38.213 §11.1; Gandalf B.3.3" "length of the pattern";
    "nr.rrc.tdd_down_slots" Count 0..=320 "nrofDownlinkSlots" [cell NrTdd(tdd) => Some(f64::from(tdd.first.down_slots))]
        "TS 38.213 §11.1; Gandalf B.3.3" "whole slots down at the beginning of the pattern";
    "nr.rrc.tdd_down_symbols" Count 0..=13 "nrofDownlinkSymbols" [cell NrTdd(tdd) => Some(f64::from(tdd.first.down_symbols))]
        "TS 38.213 §11.1; Gandalf B.3.3" "symbols down after them in the pattern";
    "nr.rrc.tdd_up_slots" Count 0..=320 "nrofUplinkSlots" [cell NrTdd(tdd) => Some(f64::from(tdd.first.up_slots))]
        "TS 38.213 §11.1; Gandalf B.3.3" "whole slots up at the end of the pattern";
    "nr.rrc.tdd_up_symbols" Count 0..=13 "nrofUplinkSymbols" [cell NrTdd(tdd) => Some(f64::from(tdd.first.up_symbols))]
        "TS 38.213 §11.1; Gandalf B.3.3" "symbols up before them in the pattern";
    "nr.rrc.tdd_second_period" Ms 0..=10 "dl-UL-TransmissionPeriodicity" [cell NrTdd(tdd) => Some(tdd.second.map_or(0.0, |pattern| f64::from(pattern.period_us) / 1000.0))]
        "TS 38.213 §11.1; Gandalf B.3.3" "length of the pattern that alternates with it; 0 for none";
    "nr.rrc.tdd_second_down_slots" Count 0..=320 "nrofDownlinkSlots" [cell NrTdd(tdd) => tdd.second.map(|pattern| f64::from(pattern.down_slots))]
        "TS 38.213 §11.1; Gandalf B.3.3" "whole slots down at the beginning of the second pattern";
    "nr.rrc.tdd_second_down_symbols" Count 0..=13 "nrofDownlinkSymbols" [cell NrTdd(tdd) => tdd.second.map(|pattern| f64::from(pattern.down_symbols))]
        "TS 38.213 §11.1; Gandalf B.3.3" "symbols down after them in the second pattern";
    "nr.rrc.tdd_second_up_slots" Count 0..=320 "nrofUplinkSlots" [cell NrTdd(tdd) => tdd.second.map(|pattern| f64::from(pattern.up_slots))]
        "TS 38.213 §11.1; Gandalf B.3.3" "whole slots up at the end of the second pattern";
    "nr.rrc.tdd_second_up_symbols" Count 0..=13 "nrofUplinkSymbols" [cell NrTdd(tdd) => tdd.second.map(|pattern| f64::from(pattern.up_symbols))]
        "TS 38.213 §11.1; Gandalf B.3.3" "symbols up before them in the second pattern";
    "nr.rrc.handover_pci" Index 0..=1007 "physCellId" [cell Handover(target) => maybe(target.pci)]
        "TS 38.331 §5.3.5.5.2" "physical cell identity of the cell that a group goes to; the secondary group too";
    "nr.rrc.handover_arfcn" Index 0..=3279165 "absoluteFrequencySSB" [cell Handover(target) => maybe(target.arfcn)]
        "TS 38.331 §6.3.2" "frequency number of its synchronisation block";
    "nr.rrc.handover_band" Index 1..=1024 "frequencyBandList" [cell Handover(target) => maybe(target.band)]
        "TS 38.331 §6.3.2" "its operating band";
    "nr.rrc.handover_bandwidth" Prb 1..=275 "carrierBandwidth" [cell Handover(target) => maybe(target.bandwidth_prb)]
        "TS 38.331 §6.3.2" "its downlink bandwidth";
    "nr.rrc.handover_timeout" Ms 50..=10000 "t304" [cell Handover(target) => maybe(target.timeout_ms)]
        "TS 38.331 §7.1.1" "how long the device may try";
    "nr.rrc.scell_added" Index 1..=31 "sCellToAddModList" [by |facts, give| scells_added(facts, scell, give)]
        "TS 38.331 §5.3.5.5.9" "index of a secondary cell that begins or changes";
    "nr.rrc.scell_pci" Index 0..=1007 "physCellId" [scell ScellAdded(target) => maybe(target.pci)]
        "TS 38.331 §6.3.2" "its physical cell identity";
    "nr.rrc.scell_arfcn" Index 0..=3279165 "absoluteFrequencySSB" [scell ScellAdded(target) => maybe(target.arfcn)]
        "TS 38.331 §6.3.2" "frequency number of its synchronisation block";
    "nr.rrc.scell_band" Index 1..=1024 "frequencyBandList" [scell ScellAdded(target) => maybe(target.band)]
        "TS 38.331 §6.3.2" "its operating band";
    "nr.rrc.scell_bandwidth" Prb 1..=275 "carrierBandwidth" [scell ScellAdded(target) => maybe(target.bandwidth_prb)]
        "TS 38.331 §6.3.2" "its downlink bandwidth";
    "nr.rrc.scell_released" Index 1..=31 "sCellToReleaseList" [group ScellReleased(index) => some(*index)]
        "TS 38.331 §5.3.5.5.8" "index of a secondary cell that ends";
}

/// Measurement reports.
MEASUREMENTS = 0xB821 {
    "nr.rrc.meas.id" Index 1..=64 "measId" [group Measurement(report) => some(report.id)]
        "TS 38.331 §6.3.2" "which measurement is reported";
    "nr.rrc.meas.serving_pci" Index 0..=1007 "physCellId" [group Measurement(report) each cells(report, true).map(|cell| maybe(cell.pci))]
        "TS 38.331 §6.3.2" "physical cell identity of a serving cell";
    "nr.rrc.meas.serving_rsrp" Dbm -157..=-30 "rsrp" [group Measurement(report) each cells(report, true).map(|cell| maybe(cell.rsrp_dbm))]
        "TS 38.133 Table 10.1.6.1-1" "its reported power, lower end of its step";
    "nr.rrc.meas.serving_rsrq" Db -44..=20 "rsrq" [group Measurement(report) each cells(report, true).map(|cell| maybe(cell.rsrq_db))]
        "TS 38.133 Table 10.1.11.1-1" "its reported quality, lower end of its step";
    "nr.rrc.meas.serving_sinr" Db -24..=40 "sinr" [group Measurement(report) each cells(report, true).map(|cell| maybe(cell.sinr_db))]
        "TS 38.133 Table 10.1.16.1-1" "its reported signal to interference and noise, lower end of its step";
    "nr.rrc.meas.pci" Index 0..=1007 "physCellId" [group Measurement(report) each cells(report, false).map(|cell| maybe(cell.pci))]
        "TS 38.331 §6.3.2" "physical cell identity of a neighbour";
    "nr.rrc.meas.rsrp" Dbm -157..=-30 "rsrp" [group Measurement(report) each cells(report, false).map(|cell| maybe(cell.rsrp_dbm))]
        "TS 38.133 Table 10.1.6.1-1" "its reported power";
    "nr.rrc.meas.rsrq" Db -44..=20 "rsrq" [group Measurement(report) each cells(report, false).map(|cell| maybe(cell.rsrq_db))]
        "TS 38.133 Table 10.1.11.1-1" "its reported quality";
    "nr.rrc.meas.sinr" Db -24..=40 "sinr" [group Measurement(report) each cells(report, false).map(|cell| maybe(cell.sinr_db))]
        "TS 38.133 Table 10.1.16.1-1" "its reported signal to interference and noise";
}
}

fn group(place: &Place) -> bool {
    place.nr
}

/// The group's first cell, and facts about all cells of the group.
fn cell(place: &Place) -> bool {
    group(place) && place.scell.is_none()
}

fn down(place: &Place) -> bool {
    cell(place) && !place.uplink
}

fn up(place: &Place) -> bool {
    cell(place) && place.uplink
}

/// A secondary cell.
fn scell(place: &Place) -> bool {
    group(place) && place.scell.is_some()
}

/// The state after a reconfiguration depends on its connection, which the message does not name.
/// Only a handover of the master group shows it.
fn state(facts: &Facts, give: &mut Give<'_>) {
    let state = facts.event.and_then(|event| match event {
        Event::Handover => (facts.message == "rrcReconfiguration").then_some(1.0),
        other => state_of(other),
    });
    if let Some(state) = state {
        give(Item::default(), state);
    }
}

/// The numbers of the tables in TS 38.214 §5.1.3.1.
fn mcs_table(name: &str) -> Option<f64> {
    match name {
        "qam256" => Some(2.0),
        "qam64LowSE" => Some(3.0),
        _ => None,
    }
}

fn cells(report: &Measurement, serving: bool) -> impl Iterator<Item = &MeasuredCell> {
    report.cells.iter().filter(move |cell| cell.serving == serving && cell.rat == Rat::Nr)
}
