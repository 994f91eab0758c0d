//! The rows of a live modem whose records have any time.

use core::iter::from_fn;
use core::time::Duration;

use sounding_diag::capture::Framing;
use sounding_diag::mac::MacPdu;
use sounding_diag::radio::{Rnti, Tti};
use sounding_diag::record::{BsrEvent, BsrTrigger, MacUplink, UplinkBlock};
use sounding_diag::{LogCode, LogRecord};
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Line, Series, Sounder};
use sounding_units::{Bytes, HostInstant, ModemInstant};

/// Something that happens: nine bytes of the input.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A record with blocks of the uplink, stamped so.
    Read(u64),
    /// The same, later by so many milliseconds than the newest record that is believed.
    Later(i64),
    /// A record that no estimate reads, stamped so.
    Other(u64),
    /// So many nanoseconds pass.
    Passes(u64),
}

impl Event {
    fn of(bytes: [u8; 9]) -> Self {
        let [kind, number @ ..] = bytes;
        let number = u64::from_le_bytes(number);
        match kind % 4 {
            0 => Self::Read(number),
            1 => Self::Later(number.cast_signed()),
            2 => Self::Other(number),
            _ => Self::Passes(number),
        }
    }

    /// As the input has it.
    #[allow(dead_code, reason = "only what makes seeds needs it")]
    pub(crate) fn bytes(self) -> Vec<u8> {
        let (kind, number) = match self {
            Self::Read(stamp) => (0, stamp),
            Self::Later(ms) => (1, ms.cast_unsigned()),
            Self::Other(stamp) => (2, stamp),
            Self::Passes(nanos) => (3, nanos),
        };
        [&[kind][..], &number.to_le_bytes()].concat()
    }
}

/// Rows of 100 ms in the ten seconds after which a pause is one row. A record that is believed at
/// once may be preceded by three that waited. The last rows of the time before are held until then.
const MOST: usize = 4 * 104 + 120;

/// The input is events; the rows of each are limited, and what is not believed changes nothing.
/// Returns the number of lines.
pub(crate) fn rows(data: &[u8]) -> usize {
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
    let mut series = Series::new(Duration::from_millis(100), &sounder);
    let mut now = HostInstant::from_nanos(1_000_000_000);
    let mut lines = 0;
    let mut last = Duration::ZERO;
    for event in data.chunks_exact(9).filter_map(|chunk| chunk.try_into().ok()).map(Event::of) {
        let before = (sounder.clock(), sounder.counts().untimed);
        let record = match event {
            Event::Passes(nanos) => {
                now = now + Duration::from_nanos(nanos);
                None
            }
            Event::Read(stamp) => Some((MacUplink::CODE, stamp)),
            Event::Other(stamp) => Some((LogCode::new(0x1FFB), stamp)),
            Event::Later(ms) => {
                let newest = sounder.clock().unwrap_or_default().as_nanos() / 1_000_000;
                let millis = newest.saturating_add_signed(ms);
                let at = ModemInstant::from_nanos(millis.saturating_mul(1_000_000));
                Some((MacUplink::CODE, at.to_diag()))
            }
        };
        let mut found = Vec::new();
        if let Some((code, stamp)) = record {
            let payload = payload(code, stamp);
            let heard = sounder.estimate(now);
            sounder.handle_read(
                Framing::Packet,
                Arrival::Stamped(now),
                &payload,
                |sounder, seen| {
                    series.handle_seen(sounder, &seen);
                    found.extend(from_fn(|| series.poll()));
                },
            );
            if sounder.counts().untimed > before.1 {
                assert_eq!((sounder.clock(), sounder.estimate(now)), (before.0, heard));
            }
            while sounder.poll_delay().is_some() {}
        }
        series.handle_host_time(&sounder, now);
        found.extend(from_fn(|| series.poll()));
        assert!(found.len() <= MOST, "{} lines of {event:?}", found.len());
        for line in &found {
            let elapsed = match line {
                Line::Row(row) => row.bin.elapsed,
                Line::Jump(jump) => jump.elapsed,
            };
            assert!(last <= elapsed, "{line:?} after {last:?}");
            last = elapsed;
        }
        lines += found.len();
    }
    series.handle_end(&sounder);
    let rest = from_fn(|| series.poll()).count();
    assert!(rest <= MOST, "{rest} lines at the end");
    lines + rest
}

/// A record's packet: of the uplink's blocks if its code is that.
fn payload(code: LogCode, stamp: u64) -> Vec<u8> {
    let mut body = Vec::new();
    if code == MacUplink::CODE {
        let block = UplinkBlock {
            tti: Tti::from_count((stamp >> 16) % u64::from(Tti::CYCLE)),
            cell: 0,
            harq: 1,
            rnti: Rnti::Cell,
            grant: Bytes::new(700),
            padding: Bytes::ZERO,
            rlc_pdus: 1,
            event: BsrEvent::None,
            trigger: BsrTrigger::None,
            pdu: MacPdu::new(&[], Rnti::Cell, true),
        };
        MacUplink::emit(&[block], &mut body).expect("one block fits");
    }
    let at = ModemInstant::from_diag(stamp);
    let mut payload = Vec::new();
    LogRecord { code, at, stamp, radio: None, body: &body }.emit(&mut payload).expect("it fits");
    payload
}
