//! A time series of the flows of a log, in bins.

use std::io;
use std::time::Duration;

use sounding_export::figures::{Cell, Figures, Kind};
use sounding_export::table::TableError;
use sounding_trace::log::{Source, TUN_HEADER};
use sounding_units::Bytes;

use super::log::Recorded;
use crate::results::Results;
use crate::simulate::FlowOutcome;

/// Columns of a simulated run's series that a log can fill too.
const COLUMNS: [(&str, Kind); 10] = [
    ("flow", Kind::Int),
    ("name", Kind::Text),
    ("device", Kind::Text),
    ("direction", Kind::Text),
    ("from_s", Kind::Real),
    ("throughput_mbit_per_sec", Kind::Real),
    ("packets", Kind::Int),
    ("one_way_mean_ms", Kind::Real),
    ("queueing_mean_ms", Kind::Real),
    ("capacity_mbit_per_sec", Kind::Real),
];

/// Chosen: a day of ten flows in bins of a second, in 40 MB.
const MAX_BINS: usize = 1_000_000;

#[derive(Clone, Copy, Default)]
struct Bin {
    packets: u64,
    carried: Bytes,
    delay: Duration,
}

/// Writes the series of a run: bins from the log's beginning to the last departure, each flow's in
/// each.
pub(super) fn write(
    results: &Results,
    run: usize,
    recorded: &Recorded,
    flows: &[(u32, FlowOutcome)],
    width: Duration,
) -> Result<(), TableError> {
    let width = width.max(Duration::from_millis(1));
    let bin =
        |at: Duration| (at.saturating_sub(recorded.base).as_nanos() / width.as_nanos()) as usize;
    let departures = recorded.flows.values().flat_map(|flow| &flow.departed);
    let bins = departures.map(|&(at, ..)| bin(at)).max().map_or(0, |last| last + 1);
    let header = match recorded.source() {
        Source::MmLink => TUN_HEADER,
        Source::Pantheon => Bytes::ZERO,
    };
    if bins.saturating_mul(flows.len()) > MAX_BINS {
        let message = format!("more than {MAX_BINS} bins; make them wider");
        return Err(io::Error::other(message).into());
    }
    let mut capacity = vec![Bytes::ZERO; bins];
    for &(at, size) in recorded.opportunities.iter().filter(|&&(at, _)| bin(at) < bins) {
        capacity[bin(at)] += size.saturating_sub(header);
    }
    let mut counted = vec![vec![Bin::default(); bins]; flows.len()];
    for (own, (number, _)) in counted.iter_mut().zip(flows) {
        let Some(packets) = recorded.flows.get(number) else { continue };
        for &(at, size, delay) in &packets.departed {
            let bin = &mut own[bin(at)];
            bin.packets += 1;
            bin.carried += size.saturating_sub(header);
            bin.delay += delay;
        }
    }
    let mut place = results.place(run)?;
    let mut figures = Figures::new(place.create("series.parquet")?, &COLUMNS, &[])?;
    let is_queueing = recorded.source() == Source::MmLink;
    let mbit = |bytes: Bytes| Cell::from(bytes.per(width).mbit_per_sec());
    for at in 0..bins {
        for ((_, flow), own) in flows.iter().zip(&counted) {
            let Bin { packets, carried, delay } = own[at];
            let mean = (packets > 0).then(|| delay.as_secs_f64() * 1e3 / packets as f64);
            let behind = recorded.delay.map(|delay| delay.as_secs_f64() * 1e3);
            let one_way = if is_queueing {
                mean.zip(behind).map(|(mean, behind)| mean + behind)
            } else {
                mean
            };
            figures.push([
                Some((flow.flow as u64).into()),
                Some(flow.name.as_str().into()),
                Some(flow.device.as_str().into()),
                Some(flow.direction.as_str().into()),
                Some((at as f64 * width.as_secs_f64()).into()),
                Some(mbit(carried)),
                Some(packets.into()),
                one_way.map(Cell::from),
                mean.filter(|_| is_queueing).map(Cell::from),
                (!recorded.opportunities.is_empty()).then(|| mbit(capacity[at])),
            ])?;
        }
    }
    figures.finish()?;
    place.finish()?;
    Ok(())
}
