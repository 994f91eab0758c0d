//! Comma-separated values: a line of names, and a line for each packet.

use std::io::{BufRead, Read};

use sounding_units::without_mark;

use super::{Packets, PacketsError};

/// The longest line.
const LONGEST: u64 = 4_096;

/// Where the columns are.
struct Columns {
    time: usize,
    sent: Option<usize>,
    bytes: Option<usize>,
    flow: Option<usize>,
}

impl Columns {
    fn of(head: &str) -> Option<Self> {
        let names: Vec<&str> = head.split(',').map(str::trim).collect();
        let place = |name: &str| names.iter().position(|of| *of == name);
        Some(Self {
            time: place("time_s")?,
            sent: place("sent_s"),
            bytes: place("bytes"),
            flow: place("flow"),
        })
    }
}

/// Seconds with a point as nanoseconds, exactly. Digits after the ninth are dropped.
fn nanos(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || whole.is_empty() && part.is_empty() {
        return None;
    }
    let seconds: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part = part.get(..9).unwrap_or(part);
    let part: u64 = format!("{part:0<9}").parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(part)
}

impl Packets {
    pub(super) fn read_csv(&mut self, mut input: impl BufRead) -> Result<(), PacketsError> {
        let mut line = Vec::new();
        let mut columns: Option<Columns> = None;
        for number in 1.. {
            line.clear();
            let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            let wrong = |what: &str| PacketsError::Line { line: number, what: what.to_owned() };
            let text = if columns.is_none() { without_mark(&line) } else { &line };
            let text = std::str::from_utf8(text).ok().filter(|_| (read as u64) < LONGEST);
            let Some(columns) = &columns else {
                columns = Some(text.and_then(Columns::of).ok_or(PacketsError::Unknown)?);
                continue;
            };
            let text = text.ok_or_else(|| wrong("is no text, or longer than 4096 bytes"))?.trim();
            if text.is_empty() {
                continue;
            }
            let cells: Vec<&str> = text.split(',').map(str::trim).collect();
            let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
            let known = |place: Option<usize>| place.map(cell).filter(|cell| !cell.is_empty());
            let Some(at) = nanos(cell(columns.time)) else {
                return Err(wrong("`time_s` is no time in seconds"));
            };
            let sent = match known(columns.sent) {
                Some(text) => {
                    Some(nanos(text).ok_or_else(|| wrong("`sent_s` is no time in seconds"))?)
                }
                None => None,
            };
            let bytes = match known(columns.bytes) {
                Some(text) => Some(text.parse().map_err(|_| wrong("`bytes` is no number"))?),
                None => None,
            };
            self.push(known(columns.flow).unwrap_or("all"), at, sent, bytes)?;
        }
        if columns.is_none() { Err(PacketsError::Unknown) } else { Ok(()) }
    }
}
