use sounding_diag::LogCode;
use sounding_diag::record::{
    LteRrc, MacDownlink, MacUplink, PdschDemapper, PdschStat, PuschTxReport, UplinkBuffer,
};

use crate::Direction;

/// The log records that an estimate of one direction is made from, the most important first: the least that a modem
/// has to be asked for.
///
/// Grants come first, from the layer that is there soonest; then the layer that knows padding; then what says whether
/// there was more to send; then what says that the device goes to another cell.
pub const fn codes(direction: Direction) -> &'static [LogCode] {
    match direction {
        Direction::Uplink => {
            &[PuschTxReport::CODE, MacUplink::CODE, UplinkBuffer::CODE, LteRrc::CODE]
        }
        Direction::Downlink => {
            &[PdschStat::CODE, MacDownlink::CODE, PdschDemapper::CODE, LteRrc::CODE]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract;
    use sounding_diag::LogRecord;

    #[test]
    fn every_code_that_is_asked_for_is_one_that_is_read() {
        for direction in [Direction::Uplink, Direction::Downlink] {
            for &code in codes(direction) {
                let at = Default::default();
                let record = LogRecord { code, at, stamp: 0, radio: None, body: &[] };
                // An empty body fits no layout; of a code that holds no KPI not even that is looked at.
                assert_ne!(extract(&record, |_| {}), Ok(false), "{code}");
            }
        }
    }
}
