//! Facts from LTE's RRC messages: the state of the connection, timers, carriers and measurements of
//! the master group. They contain no identity and no location, because every user can read a board.

use sounding_diag::layout::Item;
use sounding_rrc::facts::{Event, Facts, MeasuredCell, Measurement, Period, Place, Rat};

use super::fact::{Give, facts, maybe, or_never, scells_added, some, state_of};

facts! {
/// Events of the connection.
CONNECTION = 0xB0C0 {
    "lte.rrc.state" Index 0..=2 "UL-CCCH, DL-CCCH, UL-DCCH, DL-DCCH" [by state]
        "TS 36.331 §4.2.1" "state after the message: 0 idle, 1 connected, 2 suspended or inactive";
    "lte.rrc.request" Count 0..=1 "rrcConnectionRequest" [event Request]
        "TS 36.331 §5.3.3" "1 each time the device requests a connection";
    "lte.rrc.setup" Count 0..=1 "rrcConnectionSetup" [event Setup]
        "TS 36.331 §5.3.3; Gandalf Table 8" "1 each time a connection is set up";
    "lte.rrc.reject" Count 0..=1 "rrcConnectionReject" [event Reject]
        "TS 36.331 §5.3.3" "1 each time a connection is refused";
    "lte.rrc.reconfiguration" Count 0..=1 "rrcConnectionReconfiguration" [event Reconfiguration | Handover]
        "TS 36.331 §5.3.5; Gandalf Table 8" "1 each time the connection changes, handovers included";
    "lte.rrc.handover" Count 0..=1 "mobilityControlInfo" [event Handover]
        "TS 36.331 §5.3.5.4" "1 each time the connection is handed over to another cell, or to the same cell again";
    "lte.rrc.reestablishment_request" Count 0..=1 "rrcConnectionReestablishmentRequest" [event ReestablishmentRequest]
        "TS 36.331 §5.3.7" "1 each time the device has lost the connection and requests reestablishment";
    "lte.rrc.reestablishment" Count 0..=1 "rrcConnectionReestablishment" [event Reestablishment]
        "TS 36.331 §5.3.7" "1 each time the network reestablishes the connection";
    "lte.rrc.reestablishment_reject" Count 0..=1 "rrcConnectionReestablishmentReject" [event ReestablishmentReject]
        "TS 36.331 §5.3.7" "1 each time the network refuses a reestablishment";
    "lte.rrc.release" Count 0..=1 "rrcConnectionRelease" [event Release]
        "TS 36.331 §5.3.8" "1 each time the connection ends";
    "lte.rrc.suspend" Count 0..=1 "rrcConnectionRelease" [event Suspend]
        "TS 36.331 §5.3.8" "1 each time the connection is suspended";
    "lte.rrc.resume" Count 0..=1 "rrcConnectionResume" [event Resume]
        "TS 36.331 §5.3.3" "1 each time the connection is resumed";
    "lte.rrc.security_mode" Count 0..=1 "securityModeCommand" [event SecurityMode]
        "TS 36.331 §5.3.4" "1 each time encryption and integrity begin";
    "lte.rrc.measurement_report" Count 0..=1 "measurementReport" [event MeasurementReport]
        "TS 36.331 §5.5.5" "1 for each measurement report";
    "lte.rrc.scg_failure" Count 0..=1 "scgFailureInformation" [event SecondaryFailure]
        "TS 36.331 §5.6.13" "1 each time the secondary group of cells fails";
}

/// Timers of MAC.
TIMERS = 0xB0C0 {
    "lte.rrc.periodic_bsr_timer" Ms 0..=2560 "periodicBSR-Timer" [group PeriodicBsrTimer(timer) => or_never(*timer)]
        "TS 36.331 §6.3.2; Gandalf B.2" "how often buffer status is reported; 0 for never";
    "lte.rrc.retx_bsr_timer" Ms 0..=10240 "retxBSR-Timer" [group RetxBsrTimer(timer) => or_never(*timer)]
        "TS 36.331 §6.3.2" "time from a buffer status report without a grant to the next report; 0 for never";
    "lte.rrc.sr_period" Ms 1..=80 "sr-ConfigIndex" [cell SchedulingRequest(request) => match request.period {
            Period::Subframes(count) => some(count),
            Period::Slots(_) | Period::Symbols(_) => None,
        }]
        "TS 36.213 Table 10.1.5-1" "period of scheduling requests";
    "lte.rrc.sr_offset" Ms 0..=79 "sr-ConfigIndex" [cell SchedulingRequest(request) => some(request.offset)]
        "TS 36.213 Table 10.1.5-1" "offset of scheduling requests in their period";
    "lte.rrc.drx_cycle" Ms 0..=10240 "drx-Config" [group Drx(drx) => or_never(drx.map(|drx| drx.cycle_ms))]
        "TS 36.331 §6.3.2" "long cycle of discontinuous reception; 0 for none";
    "lte.rrc.drx_offset" Ms 0..=10240 "drx-Config" [group Drx(drx) => maybe(drx.map(|drx| drx.offset_ms))]
        "TS 36.331 §6.3.2" "start of the wake time in the cycle";
    "lte.rrc.drx_on" Ms 0..=2560 "onDurationTimer" [group Drx(drx) => drx.map(|drx| f64::from(drx.on_us) / 1000.0)]
        "TS 36.331 §6.3.2" "how long the device wakes at the beginning of a cycle";
    "lte.rrc.drx_inactivity" Ms 0..=2560 "drx-InactivityTimer" [group Drx(drx) => drx.map(|drx| f64::from(drx.inactivity_us) / 1000.0)]
        "TS 36.331 §6.3.2" "how long it stays awake after a grant";
    "lte.rrc.drx_short_cycle" Ms 0..=2560 "shortDRX-Cycle" [group Drx(drx) => or_never(drx.and_then(|drx| drx.short_cycle_ms))]
        "TS 36.331 §6.3.2" "short cycle before long ones; 0 for none";
}

/// Cells and carriers.
CELLS = 0xB0C0 {
    "lte.rrc.mib.dl_bandwidth" Prb 6..=100 "dl-Bandwidth" [cell MasterInformation(block) => maybe(block.bandwidth_prb)]
        "TS 36.331 §6.2.2" "downlink bandwidth of a cell that was received";
    "lte.rrc.sib1.band" Index 1..=256 "freqBandIndicator" [cell SystemInformation(block) => maybe(block.band)]
        "TS 36.331 §6.2.2" "operating band of a cell that was received";
    "lte.rrc.tdd_assignment" Index 0..=6 "subframeAssignment" [cell LteTdd(tdd) => some(tdd.assignment)]
        "TS 36.211 Table 4.2-2" "which subframes are uplink and which are downlink";
    "lte.rrc.tdd_special" Index 0..=10 "specialSubframePatterns" [cell LteTdd(tdd) => some(tdd.special)]
        "TS 36.211 Table 4.2-1" "how special subframes are divided";
    "lte.rrc.handover_pci" Index 0..=503 "targetPhysCellId" [cell Handover(target) => maybe(target.pci)]
        "TS 36.331 §6.3.4" "physical cell identity of a handover's target";
    "lte.rrc.handover_earfcn" Index 0..=262143 "carrierFreq" [cell Handover(target) => maybe(target.arfcn)]
        "TS 36.331 §6.3.4" "carrier frequency number of the target, if it is another carrier";
    "lte.rrc.handover_bandwidth" Prb 6..=100 "carrierBandwidth" [cell Handover(target) => maybe(target.bandwidth_prb)]
        "TS 36.331 §6.3.4" "downlink bandwidth of the target";
    "lte.rrc.handover_timeout" Ms 50..=10000 "t304" [cell Handover(target) => maybe(target.timeout_ms)]
        "TS 36.331 §7.3" "time limit of the handover";
    "lte.rrc.scell_added" Index 1..=31 "sCellToAddModList" [by |facts, give| scells_added(facts, scell, give)]
        "TS 36.331 §5.3.10.3b" "index of a secondary cell that is added or changed";
    "lte.rrc.scell_pci" Index 0..=503 "physCellId-r10" [scell ScellAdded(target) => maybe(target.pci)]
        "TS 36.331 §6.3.4" "its physical cell identity";
    "lte.rrc.scell_earfcn" Index 0..=262143 "dl-CarrierFreq-r10" [scell ScellAdded(target) => maybe(target.arfcn)]
        "TS 36.331 §6.3.4" "its carrier frequency number";
    "lte.rrc.scell_bandwidth" Prb 6..=100 "dl-Bandwidth-r10" [scell ScellAdded(target) => maybe(target.bandwidth_prb)]
        "TS 36.331 §6.3.2" "its downlink bandwidth";
    "lte.rrc.scell_released" Index 1..=31 "sCellToReleaseList" [group ScellReleased(index) => some(*index)]
        "TS 36.331 §5.3.10.3a" "index of a secondary cell that is released";
}

/// Measurement reports.
MEASUREMENTS = 0xB0C0 {
    "lte.rrc.meas.id" Index 1..=64 "measId" [group Measurement(report) => some(report.id)]
        "TS 36.331 §6.3.5" "which measurement is reported";
    "lte.rrc.meas.serving_rsrp" Dbm -141..=-44 "rsrpResult" [group Measurement(report) each serving(report).map(|cell| maybe(cell.rsrp_dbm))]
        "TS 36.133 Table 9.1.4-1" "reported power of the serving cell, lower end of its step";
    "lte.rrc.meas.serving_rsrq" Db -30..=3 "rsrqResult" [group Measurement(report) each serving(report).map(|cell| maybe(cell.rsrq_db))]
        "TS 36.133 Table 9.1.7-1" "reported quality of the serving cell, lower end of its step";
    "lte.rrc.meas.serving_sinr" Db -24..=40 "rs-sinr-Result" [group Measurement(report) each serving(report).map(|cell| maybe(cell.sinr_db))]
        "TS 36.133 Table 9.1.17.1-1" "reported signal to interference and noise of the serving cell, lower end of its step";
    "lte.rrc.meas.pci" Index 0..=503 "physCellId" [group Measurement(report) each neighbours(report, Rat::Lte).map(|cell| maybe(cell.pci))]
        "TS 36.331 §6.3.5" "physical cell identity of a neighbour";
    "lte.rrc.meas.rsrp" Dbm -141..=-44 "rsrpResult" [group Measurement(report) each neighbours(report, Rat::Lte).map(|cell| maybe(cell.rsrp_dbm))]
        "TS 36.133 Table 9.1.4-1" "its reported power";
    "lte.rrc.meas.rsrq" Db -30..=3 "rsrqResult" [group Measurement(report) each neighbours(report, Rat::Lte).map(|cell| maybe(cell.rsrq_db))]
        "TS 36.133 Table 9.1.7-1" "its reported quality";
    "lte.rrc.meas.nr_pci" Index 0..=1007 "pci-r15" [group Measurement(report) each neighbours(report, Rat::Nr).map(|cell| maybe(cell.pci))]
        "TS 36.331 §6.3.5" "physical cell identity of a cell of NR";
    "lte.rrc.meas.nr_rsrp" Dbm -157..=-30 "rsrpResult-r15" [group Measurement(report) each neighbours(report, Rat::Nr).map(|cell| maybe(cell.rsrp_dbm))]
        "TS 38.133 Table 10.1.6.1-1" "its reported power";
    "lte.rrc.meas.nr_rsrq" Db -44..=20 "rsrqResult-r15" [group Measurement(report) each neighbours(report, Rat::Nr).map(|cell| maybe(cell.rsrq_db))]
        "TS 38.133 Table 10.1.11.1-1" "its reported quality";
    "lte.rrc.meas.nr_sinr" Db -24..=40 "rs-sinr-Result-r15" [group Measurement(report) each neighbours(report, Rat::Nr).map(|cell| maybe(cell.sinr_db))]
        "TS 38.133 Table 10.1.16.1-1" "its reported signal to interference and noise";
}
}

/// Facts about LTE's master group. For NR, whose messages also come inside LTE's, the modem logs
/// its own records.
fn group(place: &Place) -> bool {
    !place.nr && !place.secondary
}

/// The group's first cell, and facts about all cells of the group.
fn cell(place: &Place) -> bool {
    group(place) && place.scell.is_none()
}

/// A secondary cell.
fn scell(place: &Place) -> bool {
    group(place) && place.scell.is_some()
}

/// A message that needs a connection shows that there is one, because a recording can begin during
/// a connection.
fn state(facts: &Facts, give: &mut Give<'_>) {
    let state = facts.event.and_then(|event| match event {
        Event::Reconfiguration | Event::ReconfigurationComplete | Event::MeasurementReport => {
            Some(1.0)
        }
        // A handover of the other kind leaves LTE.
        Event::Handover => (facts.message == "rrcConnectionReconfiguration").then_some(1.0),
        other => state_of(other),
    });
    if let Some(state) = state {
        give(Item::default(), state);
    }
}

fn serving(report: &Measurement) -> impl Iterator<Item = &MeasuredCell> {
    report.cells.iter().filter(|cell| cell.serving)
}

fn neighbours(report: &Measurement, rat: Rat) -> impl Iterator<Item = &MeasuredCell> {
    report.cells.iter().filter(move |cell| !cell.serving && cell.rat == rat)
}
