//! What the fuzz target does with its input; the test `corpus` does the same with its seeds.

use core::time::Duration;

use sounding_diag::capture::{Format, Kind};
use sounding_kpi::Direction;
use sounding_link::{Arrival, Bins, Config, Counts, LinkEstimate, Method, Seen, Sounder};
use sounding_units::HostInstant;

/// Ways in which a capture tells its records apart.
pub(crate) const FORMATS: [Format; 4] = [Format::Hdlc, Format::NonHdlc, Format::Hdf, Format::Dlf];

/// A configuration and a size of chunks in two bytes, and a stream: what the link carries is the same however the
/// stream is cut. How many KPIs were found.
pub(crate) fn link(data: &[u8]) -> Option<u64> {
    let (&[knobs, size], stream) = data.split_first_chunk::<2>()?;
    let way = if knobs & 1 == 0 { Direction::Uplink } else { Direction::Downlink };
    let method = if knobs & 2 == 0 { Method::Grants } else { Method::Formula };
    let config = Config { method, ..Config::new(way) };
    let kind = Kind::of(FORMATS[usize::from(knobs >> 2) % FORMATS.len()]);
    let whole = estimates(config, kind, stream, stream.len().max(1));
    assert_eq!(whole, estimates(config, kind, stream, usize::from(size).max(1)));
    Some(whole.0.kpis)
}

/// What was met, and the estimate at the end of each bin.
fn estimates(
    config: Config,
    kind: Kind,
    stream: &[u8],
    size: usize,
) -> (Counts, Vec<LinkEstimate>) {
    let mut sounder = Sounder::new(config).reading(kind);
    let mut bins = Bins::new(Duration::from_millis(100));
    let mut found = Vec::new();
    let mut watch = |sounder: &Sounder, seen: Seen<'_>| {
        if let Seen::Record(record) = seen {
            let now = HostInstant::from_nanos(record.at.as_nanos());
            let mut ended = 0;
            bins.handle_record(record.at, |_, _| ended += 1);
            if ended > 0 {
                found.push(sounder.estimate(now));
            }
            // A minute of bins, and no row of them where a clock jumps.
            assert!(ended <= 601, "{ended} bins");
        }
    };
    for chunk in stream.chunks(size) {
        sounder.handle_bytes(Arrival::AsStamped, chunk, &mut watch);
    }
    sounder.handle_end(Arrival::AsStamped, &mut watch);
    found.push(sounder.estimate(HostInstant::from_nanos(u64::MAX)));
    let counts = sounder.counts();
    assert_eq!(counts.stream.frames.bytes, stream.len() as u64);
    (counts, found)
}
