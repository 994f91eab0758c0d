//! What the radio added to each packet of an upload, from a modem's records and from when a
//! receiver got the packets.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use miette::{Result, miette};
use sounding_export::packets::{Packet, Packets, PacketsError};
use sounding_kpi::Direction;
use sounding_link::align::{Alignment, align};
use sounding_link::packets::{Added, Received, added};
use sounding_link::shift::bursts;
use sounding_link::{Arrival, Config, Delays, RanDelay, Sounder};
use sounding_modem::Source;
use sounding_units::{HostInstant, ModemInstant};

use super::{Format, Stopped, records};
use crate::left_out::REMEDY;
use crate::skipped::Skipped;
use crate::{input, screen};

/// The clocks may differ by this more than was guessed.
const REACH: Duration = Duration::from_secs(120);
/// Events of a capture that are kept: those of some hours.
const MOST_EVENTS: usize = 1 << 22;

const TABLE: &str = "   time s   bytes  sent again ms  RLC again ms  waited ms  all ms";
const CSV: &str = "time_s,at_ns,bytes,harq_ms,rlc_ms,scheduling_ms,added_ms";

/// What is asked for.
pub(super) struct Wanted<'a> {
    pub(super) packets: &'a Path,
    /// A part of the flow's name.
    pub(super) flow: Option<&'a str>,
    /// By how many seconds the receiver's clock is ahead of the modem's, within two minutes.
    pub(super) offset: f64,
    pub(super) format: Format,
}

/// The uplink's events of a capture. Times are those of the modem since 1970.
fn events(source: &Source) -> Result<(Vec<RanDelay>, Skipped), Stopped> {
    let failed = |error: input::CaptureError| Stopped::Input(error.into());
    let mut capture = input::Source::of(source).map_err(failed)?;
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
    sounder.read(capture.kind());
    let mut events = Vec::new();
    let mut take = |sounder: &mut Sounder| {
        while let Some(event) = sounder.poll_delay() {
            if event.direction == Direction::Uplink && events.len() < MOST_EVENTS {
                events.push(of_unix(&event));
            }
        }
    };
    while let Some(chunk) = capture.next_chunk().map_err(failed)? {
        for piece in chunk.chunks(Delays::PIECE) {
            sounder.handle_bytes(Arrival::AsStamped, piece, |_, _| {});
            take(&mut sounder);
        }
    }
    sounder.handle_end(Arrival::AsStamped, |_, _| {});
    take(&mut sounder);
    let counts = sounder.counts();
    Ok((events, Skipped { records: records(&counts), ..capture.skipped(counts.stream) }))
}

fn of_unix(event: &RanDelay) -> RanDelay {
    let unix = |at: HostInstant| {
        HostInstant::from_nanos(ModemInstant::from_nanos(at.as_nanos()).unix_nanos())
    };
    event.with_from(unix(event.from)).with_to(unix(event.to))
}

/// One flow of the file.
struct Flow {
    name: String,
    packets: Vec<Packet>,
    /// How many flows there are besides.
    others: usize,
    cut: Option<String>,
}

fn flow(wanted: &Wanted<'_>) -> Result<Flow> {
    let name = screen::path(wanted.packets).to_string();
    let file = input::Incoming::open(wanted.packets).map_err(|error| miette!("{name}: {error}"))?;
    let read = Packets::read(file).map_err(|error| match error {
        PacketsError::Unknown => miette!(
            help = "a table's first line names its columns: time_s, and if known bytes, flow and sent_s",
            "{name}: {error}"
        ),
        PacketsError::LeftOut => miette!(
            help = format!("{REMEDY}; or give a table of comma-separated values"),
            "{name}: {error}"
        ),
        error => miette!("{name}: {error}"),
    })?;
    let place = match wanted.flow {
        Some(part) => read.named(part).ok_or_else(|| {
            let some: Vec<&str> = read.flows.iter().take(5).map(|of| of.name.as_str()).collect();
            miette!(
                "{name}: not exactly one of its {} flows has {part:?} in its name; the first are: {}",
                read.flows.len(),
                screen::inline(&some.join(", "))
            )
        })?,
        None => read.largest().ok_or_else(|| miette!("{name}: has no packet of IP"))?,
    };
    let packets = read.packets.iter().filter(|packet| packet.flow == place).copied();
    Ok(Flow {
        packets: packets.collect(),
        name: read.flows.get(place as usize).map(|of| of.name.clone()).unwrap_or_default(),
        others: read.flows.len().saturating_sub(1),
        cut: read.cut,
    })
}

/// Reads both files and prints what the radio added to each packet.
pub(super) fn print(source: &Source, wanted: &Wanted<'_>) -> Result<Skipped, Stopped> {
    let flow = flow(wanted).map_err(Stopped::Input)?;
    let name = screen::path(wanted.packets).to_string();
    if let Some(cut) = &flow.cut {
        eprintln!("sounding: {name}: {cut}: only what is before that is read");
    }
    let (events, skipped) = events(source)?;
    let received: Vec<Received> = flow.packets.iter().map(received).collect();
    let bursts = bursts(received.iter().map(|packet| packet.at));
    let guess = (wanted.offset * 1e9) as i64;
    let clocks = align(&bursts, &events, guess, REACH);
    let clocks = clocks.ok_or_else(|| Stopped::Input(apart(&name, &received, &events)))?;
    if !clocks.is_accepted() {
        return Err(Stopped::Input(refused(&name, &flow, &clocks)));
    }
    let added = added(&received, &events, &clocks);
    write(&flow, &clocks, &added, wanted.format).map_err(Stopped::Output)?;
    Ok(skipped)
}

fn received(packet: &Packet) -> Received {
    let sent = packet.sent_ns.map(HostInstant::from_nanos);
    Received { at: HostInstant::from_nanos(packet.at_ns), sent }
}

/// Nothing of one file is near anything of the other.
fn apart(name: &str, packets: &[Received], events: &[RanDelay]) -> miette::Report {
    let seconds = |at: HostInstant| at.as_nanos() as f64 / 1e9;
    let first = packets.first().map(|packet| seconds(packet.at));
    let event = events.iter().map(|event| event.to).min().map(seconds);
    let (Some(first), Some(event)) = (first, event) else {
        return miette!(
            help = "the uplink's retransmissions are in 0xB139 (LTE), 0xB883 and 0xB872 (NR)",
            "the capture has no event of the uplink, so that nothing says how both clocks differ"
        );
    };
    miette!(
        help = "--offset SECONDS says how far the packets' clock is ahead of the modem's; clocks may differ by two minutes more",
        "{name}: no packet that came at once with others is within two minutes of an event: packets begin at {first:.3} s, events at {event:.3} s"
    )
}

fn refused(name: &str, flow: &Flow, clocks: &Alignment) -> miette::Report {
    let Alignment { matched, events, .. } = clocks;
    miette!(
        help = "the packets must be those of an upload of this device, as its receiver got them; --flow names another flow of the file",
        "{name}: the packets of {} do not fit the modem's events: at the best difference of the clocks {matched} of {events} events end with several packets at once, {:.2}; at least 20 events and 0.60 of them are needed",
        screen::inline(&flow.name),
        clocks.ratio()
    )
}

/// What is said of all packets.
struct Summary<'a> {
    flow: &'a Flow,
    clocks: &'a Alignment,
    /// In the middle of the packets.
    offset_s: f64,
    /// Packets that anything was added to.
    late: usize,
}

impl Summary<'_> {
    fn json(&self) -> serde_json::Value {
        let Self { flow, clocks, offset_s, late } = self;
        serde_json::json!({
            "flow": flow.name,
            "other_flows": flow.others,
            "packets": flow.packets.len(),
            "late_packets": late,
            "late_share": share(*late, flow.packets.len()),
            "offset_s": offset_s,
            "drift_ppm": clocks.drift_ppm(),
            "events": clocks.events,
            "matched_events": clocks.matched,
            "matched_share": clocks.ratio(),
        })
    }

    fn lines(&self) -> String {
        let Self { flow, clocks, offset_s, late } = self;
        let drift = clocks.drift_ppm().map_or(String::new(), |ppm| format!(", drift {ppm:.1} ppm"));
        format!(
            "flow      {}, {} others\n\
             offset    {offset_s:.6} s from the modem's clock to the packets', with the way to the receiver{drift}\n\
             events    {} of {} end with several packets at once: {:.2}\n\
             packets   {late} of {} are later by what the radio added: {:.2}\n",
            screen::inline(&flow.name),
            flow.others,
            clocks.matched,
            clocks.events,
            clocks.ratio(),
            flow.packets.len(),
            share(*late, flow.packets.len()),
        )
    }
}

fn share(part: usize, of: usize) -> f64 {
    part as f64 / of.max(1) as f64
}

fn write(flow: &Flow, clocks: &Alignment, added: &[Added], format: Format) -> io::Result<()> {
    let middle = flow.packets.get(flow.packets.len() / 2).map_or(0, |packet| packet.at_ns);
    let near = clocks.nanos_at(HostInstant::from_nanos(middle));
    let device = HostInstant::from_nanos(middle.saturating_add_signed(near.saturating_neg()));
    let late = added.iter().filter(|of| !of.total().is_zero()).count();
    let summary = Summary { flow, clocks, offset_s: clocks.nanos_at(device) as f64 / 1e9, late };
    let mut out = BufWriter::new(io::stdout().lock());
    match format {
        Format::Table => writeln!(out, "{}\n{TABLE}", summary.lines())?,
        Format::Json => writeln!(out, "{}", summary.json())?,
        Format::Csv => {
            eprint!("{}", summary.lines());
            writeln!(out, "{CSV}")?;
        }
    }
    let began = flow.packets.first().map_or(0, |packet| packet.at_ns);
    for (packet, of) in flow.packets.iter().zip(added) {
        let time = (packet.at_ns - began) as f64 / 1e9;
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        let [harq, rlc, wait, all] = [of.harq, of.rlc, of.scheduling, of.total()].map(ms);
        let bytes = packet.bytes;
        let (at, absent) = (packet.at_ns, String::new());
        match format {
            Format::Table => {
                let bytes = bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
                writeln!(
                    out,
                    "{time:>9.4}  {bytes:>6}  {harq:>13.3}  {rlc:>12.3}  {wait:>9.3}  {all:>6.3}"
                )?;
            }
            Format::Csv => {
                let bytes = bytes.map_or(absent, |bytes| bytes.to_string());
                writeln!(out, "{time:.6},{at},{bytes},{harq:.3},{rlc:.3},{wait:.3},{all:.3}")?;
            }
            Format::Json => {
                let line = serde_json::json!({
                    "time_s": time,
                    "at_ns": at,
                    "bytes": bytes,
                    "harq_ms": harq,
                    "rlc_ms": rlc,
                    "scheduling_ms": wait,
                    "added_ms": all,
                });
                writeln!(out, "{line}")?;
            }
        }
    }
    out.flush()
}
