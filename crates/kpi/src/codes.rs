use sounding_diag::LogCode;
use sounding_diag::record::{
    AperiodicCsf, LteRrc, MacDownlink, MacUplink, NrCsf, NrDownlinkData, NrPdschStatus, NrRrc,
    NrSearcher, NrUplink, NrUplinkBsr, NrUplinkSchedule, PdschDemapper, PdschStat, PeriodicCsf,
    PuschTxReport, ServingCells, UplinkBuffer,
};

use crate::Direction;

/// The log records that an estimate of one direction needs, the most important first: the minimum
/// to request from a modem.
///
/// Grants come first, from the layer that reports soonest; then the layer with padding; then
/// records of the remaining demand; then records of handovers; in the downlink last, records that
/// show that the device cannot receive its cell.
pub const fn codes(direction: Direction) -> &'static [LogCode] {
    match direction {
        Direction::Uplink => &[
            PuschTxReport::CODE,
            NrUplinkSchedule::CODE,
            MacUplink::CODE,
            NrUplink::CODE,
            NrUplinkBsr::CODE,
            UplinkBuffer::CODE,
            LteRrc::CODE,
            NrRrc::CODE,
        ],
        Direction::Downlink => &[
            PdschStat::CODE,
            NrPdschStatus::CODE,
            MacDownlink::CODE,
            NrDownlinkData::CODE,
            PdschDemapper::CODE,
            LteRrc::CODE,
            NrRrc::CODE,
            PeriodicCsf::CODE,
            AperiodicCsf::CODE,
            NrCsf::CODE,
        ],
    }
}

/// The log records that list grants of one direction, LTE's and NR's.
///
/// Several kinds list the same blocks; the most trusted kind comes first. PHY records that mark
/// repeats or arrivals come before MAC records, and those before the ones that only announce a
/// block.
pub const fn grant_codes(direction: Direction) -> &'static [&'static [LogCode]] {
    match direction {
        Direction::Uplink => {
            &[&[PuschTxReport::CODE, MacUplink::CODE], &[NrUplinkSchedule::CODE, NrUplink::CODE]]
        }
        Direction::Downlink => &[
            &[PdschStat::CODE, MacDownlink::CODE, PdschDemapper::CODE],
            &[NrPdschStatus::CODE, NrDownlinkData::CODE],
        ],
    }
}

/// The log records of channel quality, which estimates from CQI and from levels need in addition.
pub const fn channel_codes() -> &'static [LogCode] {
    &[PeriodicCsf::CODE, AperiodicCsf::CODE, NrCsf::CODE, ServingCells::CODE, NrSearcher::CODE]
}

/// Whether a log record holds KPIs that an estimate may need.
pub fn is_read(code: LogCode) -> bool {
    [codes(Direction::Uplink), codes(Direction::Downlink), channel_codes()]
        .iter()
        .any(|codes| codes.contains(&code))
}

/// The log records with the PDUs of RLC and the status reports about them: what
/// [`Extractor::pdus`](crate::Extractor::pdus) reads.
pub const fn rlc_codes() -> &'static [LogCode] {
    const CODES: [LogCode; 6] = [
        LogCode::new(0xB082),
        LogCode::new(0xB092),
        LogCode::new(0xB84E),
        LogCode::new(0xB857),
        LogCode::new(0xB869),
        LogCode::new(0xB870),
    ];
    &CODES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract;
    use sounding_diag::LogRecord;

    #[test]
    fn a_code_is_read_if_its_records_hold_kpis() {
        for number in 0..=u16::MAX {
            let code = LogCode::new(number);
            let at = Default::default();
            let record = LogRecord { code, at, stamp: 0, radio: None, body: &[] };
            let has_none = extract(&record, |_| {}) == Ok(false);
            assert_eq!(is_read(code), !has_none, "{code}");
        }
    }

    #[test]
    fn every_code_that_is_asked_for_is_one_that_is_read() {
        let lists = [codes(Direction::Uplink), codes(Direction::Downlink), channel_codes()];
        for &code in lists.into_iter().flatten() {
            let at = Default::default();
            let record = LogRecord { code, at, stamp: 0, radio: None, body: &[] };
            // An empty body fits no layout. For a code without KPIs the body is not read at all.
            assert_ne!(extract(&record, |_| {}), Ok(false), "{code}");
        }
    }
}
