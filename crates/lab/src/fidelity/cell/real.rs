//! The same figures from real modems' captures and a real stack's logs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use lzma_rust2::XzReader;
use sounding_diag::capture::Capture;
use sounding_diag::packet::Packet;
use sounding_experiment::metrics::quantile;

use super::answer::answers_ms;
use super::held::{self, Held};
use super::reader::{Air, Heard};
use super::retransmission::{downlink_rlc_ms, error_percent, repeat_delays, uplink_rlc_ms};
use super::stack;

/// A figure's findings, as text: value, amount of data, and source.
pub(super) type Found = BTreeMap<&'static str, Vec<String>>;

/// A capture with fewer transmissions, all together or in a second, is no upload.
const UPLOAD: u64 = 500;
const BUSY_PER_SEC: f64 = 100.0;

/// A capture with fewer repeats of HARQ shows none, because records are missing.
const REPEATS: u64 = 10;

/// Searches the shared data; empty without such data.
pub(super) fn look(data: &Path, progress: &impl Fn(&str)) -> Found {
    let mut found = Found::new();
    captures(&data.join("captures"), progress, &mut found);
    for log in ["log25", "fade25"] {
        let path = data.join("srsran").join(log);
        if path.exists() {
            progress(&format!("srsRAN {log}"));
            stack(&path, log, &mut found);
        }
    }
    let uplink = data.join("srsran/uplink");
    for timer in stack::TIMERS_MS {
        progress(&format!("srsRAN a{timer}"));
        let Some(run) = stack::log::run(&uplink, timer) else { continue };
        for (figure, value) in stack::known(&run, timer) {
            let text = format!("{value:.1} {} in srsRAN a{timer}", figure.unit);
            found.entry(figure.id).or_default().push(text);
        }
    }
    found
}

fn captures(folder: &Path, progress: &impl Fn(&str), found: &mut Found) {
    let (mut errors, mut repeats, mut grants, mut up_errors) = (vec![], vec![], vec![], vec![]);
    let (mut rlc_down, mut rlc_up, mut answers) = (vec![], vec![], vec![]);
    let mut reports = [[0_usize; 2]; LOADS.len()];
    let (mut held, mut uploads) = (Held::default(), 0_u32);
    let mut files = files(folder);
    files.sort();
    for path in files {
        let Ok(bytes) = fs::read(&path) else { continue };
        let Ok(mut capture) = Capture::new(&bytes) else { continue };
        if let Some(name) = path.file_name() {
            progress(&format!("capture {}", name.display()));
        }
        let upload = held::read(&bytes, capture.kind());
        let is_busy = upload.sent as f64 >= BUSY_PER_SEC * upload.secs;
        if upload.sent >= UPLOAD && is_busy && upload.rows[0] >= REPEATS {
            held += upload;
            uploads += 1;
        }
        let mut heard = Heard::default();
        while let Some(packet) = capture.poll_packet() {
            if let Ok(located) = packet
                && let Packet::Log(log) = located.packet
            {
                heard.handle_log(&log);
            }
        }
        errors.extend(error_percent(&heard.down));
        up_errors.extend(error_percent(&heard.up));
        let ms = |delays: Vec<(u8, u64)>| delays.into_iter().map(|(_, nanos)| nanos as f64 / 1e6);
        repeats.extend(ms(repeat_delays(&heard.down)));
        grants.extend(ms(repeat_delays(&heard.grants)));
        rlc_down.extend(downlink_rlc_ms(&heard));
        rlc_up.extend(uplink_rlc_ms(&heard));
        answers.extend(answers_ms(&heard));
        for (load, [all, empty]) in by_load(&heard).into_iter().enumerate() {
            reports[load][0] += all;
            reports[load][1] += empty;
        }
    }
    let mut say = |figure, values: &[f64], unit: &str, what: &str| {
        if let Some(median) = quantile(values, 0.5) {
            let text = format!("{median:.1} {unit} in captures ({} {what})", values.len());
            found.entry(figure).or_default().push(text);
        }
    };
    say("mper.lte.down", &errors, "%", "seconds");
    say("mper.lte.up", &up_errors, "%", "seconds");
    say("harq.lte.down", &repeats, "ms", "repeats");
    say("harq.lte.up", &grants, "ms", "repeats");
    say("answer.lte", &answers, "ms", "answers");
    for (figure, value) in held.figures().into_iter().flatten() {
        let text = format!("{value:.1} in captures ({uploads} uploads)");
        found.entry(figure).or_default().push(text);
    }
    for (way, delays) in [("down", &rlc_down), ("up", &rlc_up)] {
        let at = |part| quantile(delays, part);
        if let (Some(few), Some(median), Some(most)) = (at(0.1), at(0.5), at(0.9)) {
            found.entry("rlc.lte.median").or_default().push(format!(
                "{few:.0}, {median:.0}, {most:.0} ms {way} in captures (deciles 1, 5, 9 of {})",
                delays.len()
            ));
        }
    }
    for ((figure, _, traffic), [all, empty]) in LOADS.into_iter().zip(reports) {
        if all > 0 {
            let part = 100.0 * empty as f64 / all as f64;
            let text = format!("{part:.1} % in captures, {traffic} ({all} reports)");
            found.entry(figure).or_default().push(text);
        }
    }
}

/// Seconds of an uplink by their blocks' bytes: the figure, the bytes until which it counts, and
/// the traffic. LTE only.
const LOADS: [(&str, u64, &str); 3] = [
    ("bsr.lte.zero.pings", 8_000, "up to 64 kbit/s up"),
    ("bsr.lte.zero.acks", 64_000, "64 to 512 kbit/s up"),
    ("bsr.lte.zero.stream", u64::MAX, "more than 512 kbit/s up"),
];

/// All reports and those of an empty buffer, by the load of their second.
fn by_load(heard: &Heard) -> [[usize; 2]; LOADS.len()] {
    const SECOND: u64 = 1_000_000_000;
    let mut bytes: BTreeMap<u64, u64> = BTreeMap::new();
    for block in &heard.blocks {
        *bytes.entry(block.at / SECOND).or_default() += block.size;
    }
    let mut found = [[0; 2]; LOADS.len()];
    for (at, told) in heard.blocks.iter().filter_map(|block| Some((block.at, block.told?))) {
        let sent = bytes[&(at / SECOND)];
        let load = LOADS.iter().position(|(_, most, _)| sent <= *most).unwrap_or(LOADS.len() - 1);
        found[load][0] += 1;
        found[load][1] += usize::from(told == 0);
    }
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The device side of srsRAN: MAC's report of each block, in the order of its TTIs.
fn stack(folder: &Path, name: &str, found: &mut Found) {
    let Ok(file) = File::open(folder.join("ue.log.xz")) else { return };
    let lines = BufReader::new(XzReader::new(file, true)).split(b'\n').map_while(Result::ok);
    let mut blocks = Vec::new();
    let mut now = 0_i64;
    for line in lines {
        let Ok(line) = std::str::from_utf8(&line) else { continue };
        blocks.extend(block(line, &mut now));
    }
    let delays: Vec<f64> =
        repeat_delays(&blocks).into_iter().map(|(_, nanos)| nanos as f64 / 1e6).collect();
    let mut say = |figure, values: &[f64], unit: &str, what: &str| {
        if let Some(median) = quantile(values, 0.5) {
            let text = format!("{median:.1} {unit} in srsRAN {name} ({} {what})", values.len());
            found.entry(figure).or_default().push(text);
        }
    };
    say("mper.lte.down", &error_percent(&blocks), "%", "seconds");
    say("harq.lte.down", &delays, "ms", "repeats");
}

/// `… [MAC    ] [I] [ 6892] DL 5 (TB 0):  newTX tbs=2292, rv=0, ack=OK, ndi=1`
fn block(line: &str, now: &mut i64) -> Option<Air> {
    /// TTIs are counted so far.
    const TURN: i64 = 10_240;
    let (_, rest) = line.split_once("[MAC    ] [I] [")?;
    let (tti, rest) = rest.split_once("] DL ")?;
    let (process, rest) = rest.split_once(" (TB")?;
    let (_, rest) = rest.split_once(":  ")?;
    let tti: i64 = tti.trim().parse().ok()?;
    let ahead = (tti - *now + TURN / 2).rem_euclid(TURN) - TURN / 2;
    *now = (*now + ahead).max(0);
    Some(Air {
        at: *now as u64 * 1_000_000,
        slot: (tti % 10) as u8,
        process: Some(process.parse().ok()?),
        ndi: Some(rest.contains("ndi=1")),
        again: rest.starts_with("reTX"),
        arrived: Some(rest.contains("ack=OK")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_a_block_and_its_ttis_go_on() {
        let mut now = 10_239;
        let line = "2026-11-20T20:57:50.52 [MAC    ] [I] [    4] DL 2 (TB 0):  reTX  tbs=2292, rv=2, ack=KO, ndi=1";
        let block = block(line, &mut now).expect("it is one");
        assert_eq!(block.at, 10_244 * 1_000_000);
        assert_eq!((block.process, block.ndi), (Some(2), Some(true)));
        assert_eq!((block.again, block.arrived), (true, Some(false)));
        assert!(super::block("2026 [MAC    ] [I] [ 1307] UL 0:  New TX", &mut now).is_none());
    }
}
