//! The delays that the radio itself made, as a table, as JSON lines or as comma-separated values.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use miette::{Result, miette};
use sounding_kpi::Direction;
use sounding_link::shift::{self, Burst, Shift};
use sounding_link::{Arrival, Config, Counts, DelayKind, RanDelay, Seen, Sounder};
use sounding_modem::Source;
use sounding_units::{HostInstant, ModemInstant};

use super::{Stopped, packets, records};
use crate::input;
use crate::skipped::Skipped;

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Table,
    Json,
    Csv,
}

/// The columns of a table and of comma-separated values, and what a receiver's packets add.
const TABLE: &str =
    "   time s  direction  kind           held ms  radio's ms  known after ms  confidence";
const CSV: &str = "time_s,unix_ns,direction,kind,held_ms,amount_ms,age_ms,confidence";
const CSV_RECEIVER: &str = ",receiver_unix_ns";
const TABLE_RECEIVER: &str = "  receiver's unix s";

/// The clocks of a receiver and a modem differ by less than this, leap seconds included, if both know the date.
const FARTHEST: Duration = Duration::from_secs(60);
/// Events that are compared with a receiver's packets at once. The clocks drift from one run of them to the next, by less than this.
const RUN: usize = 128;
const DRIFT: Duration = Duration::from_millis(50);
/// The most events that wait until the clocks are compared.
const KEPT: usize = 1_000_000;

struct Events {
    format: Format,
    out: BufWriter<io::StdoutLock<'static>>,
    began: Option<ModemInstant>,
    direction: Option<Direction>,
    /// Those that wait until they can be dated on a receiver's clock.
    kept: Option<Vec<RanDelay>>,
}

impl Events {
    fn head(&mut self) -> io::Result<()> {
        let is_received = self.kept.is_some();
        let more = |receiver| if is_received { receiver } else { "" };
        match self.format {
            Format::Table => writeln!(self.out, "{TABLE}{}", more(TABLE_RECEIVER)),
            Format::Csv => writeln!(self.out, "{CSV}{}", more(CSV_RECEIVER)),
            Format::Json => Ok(()),
        }
    }

    /// An event, and its end on a receiver's clock: `None` without one, `Some(None)` where it is unknown.
    fn print(&mut self, event: &RanDelay, received: Option<Option<HostInstant>>) -> io::Result<()> {
        // A capture's host time is the modem's.
        let to = ModemInstant::from_nanos(event.to.as_nanos());
        let time = (to - self.began.unwrap_or(to)).as_secs_f64();
        let held = (event.to - event.from).as_secs_f64() * 1e3;
        let [amount, age] = [event.amount, event.age].map(|span| span.as_secs_f64() * 1e3);
        let RanDelay { direction, kind, confidence, .. } = event;
        let unix = to.unix_nanos();
        match self.format {
            Format::Table => {
                let received = match received {
                    None => String::new(),
                    Some(None) => format!("  {:>17}", "-"),
                    Some(Some(at)) => format!("  {:>17.6}", at.as_nanos() as f64 / 1e9),
                };
                writeln!(
                    self.out,
                    "{time:>9.4}  {direction:<9}  {kind:<10}  {held:>10.3}  {amount:>10.3}  {age:>14.3}  {confidence:<10}{received}"
                )
            }
            Format::Csv => {
                let received = match received {
                    None => String::new(),
                    Some(None) => ",".to_owned(),
                    Some(Some(at)) => format!(",{}", at.as_nanos()),
                };
                writeln!(
                    self.out,
                    "{time:.6},{unix},{direction},{kind},{held:.3},{amount:.3},{age:.3},{confidence}{received}"
                )
            }
            Format::Json => {
                let mut line = serde_json::json!({
                    "time_s": time,
                    "unix_ns": unix,
                    "direction": direction.to_string(),
                    "kind": kind.to_string(),
                    "held_ms": held,
                    "amount_ms": amount,
                    "age_ms": age,
                    "confidence": confidence.to_string(),
                });
                if let Some(received) = received {
                    line["receiver_unix_ns"] = received.map(HostInstant::as_nanos).into();
                }
                writeln!(self.out, "{line}")
            }
        }
    }

    fn take(&mut self, sounder: &mut Sounder) -> Result<(), Stopped> {
        while let Some(event) = sounder.poll_delay() {
            if self.direction.is_some_and(|wanted| wanted != event.direction) {
                continue;
            }
            match &mut self.kept {
                None => self.print(&event, None).map_err(Stopped::Output)?,
                Some(kept) if kept.len() < KEPT => kept.push(event),
                Some(_) => {
                    let text = "more than a million events: cut the capture into parts";
                    return Err(Stopped::Input(miette!("{text}")));
                }
            }
        }
        Ok(())
    }
}

/// A time of a modem as its clock says it since 1970.
fn unix(at: HostInstant) -> HostInstant {
    HostInstant::from_nanos(ModemInstant::from_nanos(at.as_nanos()).unix_nanos())
}

/// The shift of clocks of each run of events, as far as it is believed; an error where that of none is.
fn shifts(events: &[RanDelay], bursts: &[Burst]) -> Result<Vec<Option<Shift>>> {
    let again: Vec<RanDelay> = events
        .iter()
        .filter(|event| event.kind == DelayKind::Harq)
        .map(|event| RanDelay { from: unix(event.from), to: unix(event.to), ..*event })
        .collect();
    let mut last: Option<Shift> = None;
    let mut best: Option<Shift> = None;
    let mut found = Vec::new();
    for run in again.chunks(RUN) {
        let shift = match (last, run.first(), run.last()) {
            (Some(last), Some(begin), Some(end)) => {
                let [from, to] = [begin.from, end.to].map(|at| last.receivers(at));
                let from = bursts.partition_point(|burst| burst.at + FARTHEST < from);
                let to = bursts.partition_point(|burst| burst.at <= to + FARTHEST);
                shift::search(&bursts[from..to.max(from)], run, last.nanos, DRIFT)
            }
            _ => shift::search(bursts, run, 0, FARTHEST),
        };
        best = best.or(shift);
        let shift = shift.filter(Shift::is_accepted);
        last = shift.or(last);
        found.push(shift);
    }
    if last.is_some() {
        return Ok(found);
    }
    let (matched, of) = best.map_or((0, again.len()), |shift| (shift.matched, shift.events));
    let (is, few) = (if matched == 1 { "has" } else { "have" }, bursts.len());
    Err(miette!(
        "no shift of the clocks fits: {matched} of {of} repeats of the uplink {is} a burst of packets, six of ten are needed; the packets have {few} bursts"
    ))
}

/// Reads a capture and prints its events in the order in which records show them; with a pcap of the uplink's receiver those of the
/// uplink, with its time of each.
pub(super) fn print(
    source: &Source,
    direction: Option<Direction>,
    format: Format,
    receiver: Option<&Path>,
) -> Result<Skipped, Stopped> {
    let failed = |error: input::CaptureError| Stopped::Input(error.into());
    let bursts = receiver.map(packets::arrivals).transpose().map_err(Stopped::Input)?;
    let bursts = bursts.map(shift::bursts);
    let mut capture = input::Source::of(source).map_err(failed)?;
    let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_all_delays();
    sounder.read(capture.kind());
    let out = BufWriter::new(io::stdout().lock());
    let direction = if receiver.is_some() { Some(Direction::Uplink) } else { direction };
    let kept = bursts.is_some().then(Vec::new);
    let mut events = Events { format, out, began: None, direction, kept };
    if events.kept.is_none() {
        events.head().map_err(Stopped::Output)?;
    }
    while let Some(chunk) = capture.next_chunk().map_err(failed)? {
        let began = &mut events.began;
        sounder.handle_bytes(Arrival::AsStamped, chunk, |_, seen| note(began, &seen));
        events.take(&mut sounder)?;
    }
    let began = &mut events.began;
    sounder.handle_end(Arrival::AsStamped, |_, seen| note(began, &seen));
    events.take(&mut sounder)?;
    if let (Some(bursts), Some(kept)) = (bursts, &events.kept) {
        let kept = kept.clone();
        let shifts = shifts(&kept, &bursts).map_err(Stopped::Input)?;
        events.head().map_err(Stopped::Output)?;
        let mut repeats = 0;
        for event in &kept {
            // Between two runs the clocks are those of the first.
            let shift = shifts.get(repeats / RUN).or(shifts.last()).copied().flatten();
            repeats += usize::from(event.kind == DelayKind::Harq);
            let at = shift.map(|shift| shift.receivers(unix(event.to)));
            events.print(event, Some(at)).map_err(Stopped::Output)?;
        }
        tell(&shifts);
    }
    events.out.flush().map_err(Stopped::Output)?;
    let counts: Counts = sounder.counts();
    Ok(Skipped { records: records(&counts), ..capture.skipped(counts.stream) })
}

/// One line says how far apart the clocks are, and how sure that is.
fn tell(shifts: &[Option<Shift>]) {
    let believed = shifts.iter().flatten();
    let sum = |of: fn(&Shift) -> usize| believed.clone().map(of).sum::<usize>();
    let (matched, events) = (sum(|shift| shift.matched), sum(|shift| shift.events));
    let Some((first, last)) = believed.clone().next().zip(believed.clone().last()) else { return };
    let ms = |shift: &Shift| shift.nanos as f64 / 1e6;
    eprintln!(
        "receiver's clock less the modem's, with the way between: {:.3} ms at first, {:.3} ms at last; {matched} of {events} repeats have a burst",
        ms(first),
        ms(last)
    );
}

fn note(began: &mut Option<ModemInstant>, seen: &Seen<'_>) {
    if let Seen::Record(record) = seen {
        began.get_or_insert(record.at);
    }
}
