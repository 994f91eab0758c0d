//! Channel reports of LTE on the control channel, as a stream of them gives KPIs.

use sounding_diag::record::{Form, compose};
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::{Extractor, Kpi};
use sounding_units::ModemInstant;

const OPEN_LOOP: u8 = 3;
const DIVERSITY: u8 = 2;

struct Stream(Extractor);

impl Stream {
    /// CQI, that of the second codeword, and rank of the KPIs of one record.
    fn read(&mut self, version: u32, form: Form) -> Vec<(u8, Option<u8>, Option<u8>)> {
        let (code, mut body) = (LogCode::new(0xB14D), Vec::new());
        compose(code, version, &form, &mut body).expect("it can be written");
        let at = ModemInstant::default();
        let log = LogRecord { code, at, stamp: 0, radio: None, body: &body };
        let mut found = Vec::new();
        let read = self.0.extract(&log, |kpi| match kpi {
            Kpi::Channel(channel) => found.push((channel.cqi, channel.second, channel.rank)),
            other => panic!("{other:?}"),
        });
        assert_eq!(read, Ok(true));
        found
    }
}

fn report(kind: u8, mode: u8, carrier: u8) -> Form {
    Form::new()
        .number("report_type", kind)
        .number("transmission_mode", mode)
        .number("carrier", carrier)
}

#[test]
fn open_loop_has_quality_of_the_last_rank_in_every_version() {
    // The oldest version counts its kinds from 0, the others from 1.
    for (version, rank, quality) in
        [(22, 2, 3), (24, 3, 4), (43, 3, 4), (101, 3, 4), (102, 3, 4), (103, 3, 4), (142, 3, 4)]
    {
        let mut stream = Stream(Extractor::default());
        let cqi = |mode, carrier| report(quality, mode, carrier).number("cqi_0", 9);
        assert_eq!(stream.read(version, cqi(OPEN_LOOP, 0)), [(9, None, None)], "v{version}");
        let ranked = report(rank, OPEN_LOOP, 0).number("rank", 1);
        assert_eq!(stream.read(version, ranked), [], "v{version}");
        assert_eq!(stream.read(version, cqi(OPEN_LOOP, 0)), [(9, None, Some(2))], "v{version}");
        // Neither another carrier nor another mode has that rank.
        assert_eq!(stream.read(version, cqi(OPEN_LOOP, 1)), [(9, None, None)], "v{version}");
        assert_eq!(stream.read(version, cqi(DIVERSITY, 0)), [(9, None, None)], "v{version}");
    }
}

#[test]
fn a_report_with_a_precoder_has_its_own_rank() {
    const CLOSED_LOOP: u8 = 4;
    let mut stream = Stream(Extractor::default());
    assert_eq!(stream.read(102, report(3, CLOSED_LOOP, 0)), []);
    let quality = report(2, CLOSED_LOOP, 0).number("cqi_0", 9).number("cqi_1", 7).number("rank", 1);
    assert_eq!(stream.read(102, quality), [(9, Some(7), Some(2))]);
}
