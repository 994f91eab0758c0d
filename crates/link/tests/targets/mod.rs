//! The code of the fuzz target. The test `corpus` runs it with the seeds.

mod rows;

use core::time::Duration;

use sounding_diag::capture::{Format, Kind};
use sounding_kpi::{Direction, Kpi};
use sounding_link::{
    Account, Arrival, Bins, Captured, Config, Counts, Granted, LinkEstimate, Method, Seen, Sounder,
    Step,
};
use sounding_trace::dci::{self, Heard, Reader};
use sounding_units::{HostInstant, ModemInstant};

pub(crate) use rows::{Event, rows};

/// How a capture separates its records.
pub(crate) const FORMATS: [Format; 4] = [Format::Hdlc, Format::NonHdlc, Format::Hdf, Format::Dlf];

/// The first byte for the method with this number in `Method::ALL`.
pub(crate) const fn method_knobs(number: u8) -> u8 {
    (number & 1) << 1 | (number >> 1) << 4
}

/// Bit of the first byte: the stream is used as a sniffer's log too.
pub(crate) const SNIFFED: u8 = 1 << 6;

/// The input is a configuration and a chunk size in two bytes, and a stream. The estimates must not
/// depend on how the stream is cut, and the rate must be possible for a link. Returns the number of
/// KPIs.
pub(crate) fn link(data: &[u8]) -> Option<u64> {
    let (&[knobs, size], stream) = data.split_first_chunk::<2>()?;
    let way = if knobs & 1 == 0 { Direction::Uplink } else { Direction::Downlink };
    let number = usize::from(knobs >> 1 & 1 | (knobs >> 4 & 3) << 1);
    let method = Method::ALL[number % Method::ALL.len()];
    let config = Config { method, ..Config::new(way) };
    let kind = Kind::of(FORMATS[usize::from(knobs >> 2) % FORMATS.len()]);
    let log = if knobs & SNIFFED == 0 { &[][..] } else { stream };
    let heard: Vec<Heard> =
        Reader::new(dci::Format::DciLog(Direction::Downlink), 0, log).flatten().collect();
    let whole = estimates(config, kind, &heard, stream, stream.len().max(1));
    assert_eq!(whole, estimates(config, kind, &heard, stream, usize::from(size).max(1)));
    Some(whole.0.kpis)
}

/// The events, the estimate at the end of each bin, the granted bytes, and the link.
fn estimates(
    config: Config,
    kind: Kind,
    heard: &[Heard],
    stream: &[u8],
    size: usize,
) -> (Counts, Vec<LinkEstimate>, u64, Option<(usize, Account)>) {
    let log = (0..).zip(heard).map(|(at, heard)| (HostInstant::from_nanos(at), *heard));
    let mut sounder = Sounder::new(config).reading(kind).hearing(log);
    let mut bins = Bins::new(Duration::from_millis(100));
    let mut granted = Granted::new(config.direction);
    let mut link = Captured::new(config.direction);
    let (mut sum, mut stamped) = (0_u64, ModemInstant::default());
    let mut found = Vec::new();
    let mut watch = |sounder: &Sounder, seen: Seen<'_>| {
        link.handle_seen(sounder, &seen);
        if let Seen::Next(record) = seen {
            let mut ended = 0;
            bins.handle_record(record.at, |step| {
                ended += 1;
                let Step::Bin(bin) = step else { return };
                let now = HostInstant::from_nanos(bin.end.as_nanos());
                let _ = sounder.cell(now);
                found.push(sounder.estimate(now));
            });
            for (_, bytes) in core::iter::from_fn(|| granted.poll()) {
                sum = sum.saturating_add(bytes.count());
            }
            granted.handle_time(record.at);
            stamped = record.at;
            // Ten seconds of bins, the bin in progress, a row for a pause, and a jump of the clock.
            assert!(ended <= 104, "{ended} bins");
        }
        if let Seen::Kpi(Kpi::Grant(grant)) = seen {
            granted.handle_grant(stamped, grant);
        }
    };
    for chunk in stream.chunks(size) {
        sounder.handle_bytes(Arrival::AsStamped, chunk, &mut watch);
    }
    sounder.handle_end(Arrival::AsStamped, &mut watch);
    found.push(sounder.estimate(HostInstant::from_nanos(u64::MAX)));
    granted.handle_end();
    let rest = core::iter::from_fn(|| granted.poll()).map(|(_, bytes)| bytes.count());
    let sum = rest.fold(sum, u64::saturating_add);
    let counts = sounder.counts();
    assert_eq!(counts.stream.frames.bytes, stream.len() as u64);
    let link = link.finish(&sounder).ok();
    let link = link.map(|(trace, account)| (trace.millis().len(), account));
    (counts, found, sum, link)
}
