use super::*;
use crate::Script;
use sounding_diag::command::{LogMask, Request};
use sounding_diag::hdlc::encode;
use sounding_diag::packet::Packet;
use sounding_diag::{LogCode, LogRecord};

const PUSCH: LogCode = LogCode::new(0xB139);
const MAC: LogCode = LogCode::new(0xB064);

/// A record of each code every 10 ms, for a second.
fn script() -> Script {
    let mut capture = Vec::new();
    for ms in (0..1000).step_by(10) {
        for code in [PUSCH, MAC] {
            let at = ModemInstant::from_nanos(1_000_000_000_000_000 + ms * 1_000_000);
            let mut payload = Vec::new();
            let record = LogRecord { code, at, stamp: at.to_diag(), radio: None, body: &[7; 20] };
            record.emit(&mut payload).expect("short");
            encode(&payload, &mut capture);
        }
    }
    Script::of(&capture)
}

fn at(ms: u64) -> HostInstant {
    HostInstant::from_nanos(ms * 1_000_000)
}

fn all_on() -> Behaviour {
    Behaviour { all_on: true, ..Behaviour::default() }
}

fn set_mask(modem: &mut SimModem, codes: &[LogCode]) {
    let bits = LogMask::bits_of(0xB, 4096, codes);
    let mut request = Vec::new();
    Request::LogMask(LogMask { equipment: 0xB, items: 4096, bits: &bits }).emit(&mut request);
    modem.handle_request(&request);
}

/// The modem's output in each of `ms` milliseconds.
fn run(modem: &mut SimModem, from: u64, ms: u64) -> Vec<(u64, Output)> {
    let mut out = Vec::new();
    for ms in from..from + ms {
        modem.handle_time(at(ms), true);
        out.extend(std::iter::from_fn(|| modem.poll_output(at(ms))).map(|output| (ms, output)));
    }
    out
}

fn logs(out: &[(u64, Output)]) -> Vec<(u64, LogCode, ModemInstant)> {
    let logs = out.iter().filter_map(|(ms, output)| match output {
        Output::Packet(payload) => match Packet::parse(payload) {
            Ok(Packet::Log(log)) => Some((*ms, log.code, log.at)),
            _ => None,
        },
        _ => None,
    });
    logs.collect()
}

#[test]
fn nothing_is_made_before_somebody_asks_and_then_only_what_is_asked_for() {
    let mut modem = SimModem::new(script(), Behaviour::default());
    assert!(run(&mut modem, 0, 100).is_empty());
    set_mask(&mut modem, &[MAC]);
    let out = run(&mut modem, 100, 2000);
    let logs = logs(&out);
    assert_eq!(logs.len(), 100);
    assert!(logs.iter().all(|(_, code, _)| *code == MAC));
    assert_eq!((logs[0].0, logs[1].0), (100, 110), "at the capture's own pace");
    assert_eq!(modem.tally().masked, 100);
    assert!(modem.is_over());
}

#[test]
fn records_wait_for_the_high_water_mark() {
    // Each is 36 bytes.
    let behaviour = Behaviour { high_water: 360, ..all_on() };
    let mut modem = SimModem::new(script(), behaviour);
    let out = run(&mut modem, 0, 200);
    let batches: Vec<u64> = out.iter().map(|(ms, _)| *ms).collect();
    assert_eq!(batches[..11], [40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 90]);
}

#[test]
fn a_drain_releases_what_waits_and_so_does_time() {
    let behaviour =
        Behaviour { high_water: 1 << 20, release: Duration::from_millis(500), ..all_on() };
    let mut modem = SimModem::new(script(), behaviour);
    assert!(run(&mut modem, 0, 100).is_empty());
    modem.handle_drain();
    assert_eq!(logs(&run(&mut modem, 100, 1)).len(), 20);
    let out = run(&mut modem, 101, 600);
    assert_eq!((out[0].0, out.len()), (600, 102), "half a second after the first that waited");
}

#[test]
fn a_faster_modem_makes_the_same_records_sooner() {
    let mut modem = SimModem::new(script(), Behaviour { speed: 10.0, ..all_on() });
    let logs = logs(&run(&mut modem, 0, 101));
    assert_eq!((logs.len(), logs[199].0), (200, 99));
}

#[test]
fn a_stalled_modem_keeps_its_records_for_later() {
    let stall = Some((Duration::from_millis(200), Duration::from_millis(300)));
    let mischief = Mischief { stall, ..Mischief::default() };
    let mut modem = SimModem::new(script(), Behaviour { mischief, ..all_on() });
    let out = run(&mut modem, 0, 1000);
    assert_eq!(out.len(), 200);
    assert!(out.iter().all(|(ms, _)| !(200..500).contains(ms)));
}

#[test]
fn a_reboot_forgets_masks_and_closes_the_port() {
    let mischief = Mischief { reboot: Some(Duration::from_millis(300)), ..Mischief::default() };
    let mut modem = SimModem::new(script(), Behaviour { mischief, ..Behaviour::default() });
    set_mask(&mut modem, &[MAC]);
    let out = run(&mut modem, 0, 1000);
    let reboots: Vec<_> = out.iter().filter(|(_, output)| *output == Output::Reboot).collect();
    assert_eq!(reboots, [&(300, Output::Reboot)]);
    assert!(logs(&out).iter().all(|(ms, ..)| *ms < 300), "no request came since");
}

#[test]
fn an_unset_clock_counts_from_1980_until_the_network_tells() {
    let unset_until = Some(Duration::from_millis(500));
    let mischief = Mischief { unset_until, ..Mischief::default() };
    let mut modem = SimModem::new(script(), Behaviour { mischief, ..all_on() });
    let logs = logs(&run(&mut modem, 0, 1000));
    let early = ModemInstant::from_nanos(10_000_000_000);
    assert!(logs.iter().all(|(ms, _, stamp)| (*stamp < early) == (*ms < 500)));
}

#[test]
fn a_clock_that_jumps_stays_where_it_jumped_to() {
    let jump = Some((Duration::from_millis(500), Duration::from_secs(3600)));
    let mischief = Mischief { jump, ..Mischief::default() };
    let mut modem = SimModem::new(script(), Behaviour { mischief, ..all_on() });
    let logs = logs(&run(&mut modem, 0, 1000));
    let (first, last) = (logs[0].2, logs[199].2);
    assert_eq!((last - first).as_secs(), 3600);
}

#[test]
fn misfortune_has_the_share_that_was_asked_for_and_repeats_with_its_seed() {
    let mischief = Mischief { corrupt: 0.1, truncate: 0.1, seed: 5, ..Mischief::default() };
    let behaviour = Behaviour { mischief, ..all_on() };
    let mut one = SimModem::new(script(), behaviour.clone());
    let mut other = SimModem::new(script(), behaviour);
    let (out, again) = (run(&mut one, 0, 1000), run(&mut other, 0, 1000));
    assert_eq!(out, again);
    let tally = one.tally();
    assert!((20..60).contains(&tally.broken), "{tally:?}");
    assert_eq!(logs(&out).len() as u64, tally.sent);
}

/// A frame with a record of `code` that the modem's clock stamped `ms` after a second.
fn frame(code: LogCode, ms: u64) -> Vec<u8> {
    let at = ModemInstant::from_nanos(1_000_000_000_000_000 + ms * 1_000_000);
    let (mut payload, mut frame) = (Vec::new(), Vec::new());
    let record = LogRecord { code, at, stamp: at.to_diag(), radio: None, body: &[7; 20] };
    record.emit(&mut payload).expect("short");
    encode(&payload, &mut frame);
    frame
}

#[test]
fn records_that_are_made_as_time_passes_come_when_they_are_made_and_were_asked_for() {
    let (feed, fed) = super::super::feed(at(1000)).expect("an event descriptor");
    let mut modem = SimModem::new(fed, Behaviour::default());
    assert!(feed.send(at(1010), [frame(PUSCH, 10), frame(MAC, 10)].concat()));
    assert!(run(&mut modem, 1000, 20).is_empty(), "no request came");
    set_mask(&mut modem, &[MAC]);
    assert!(feed.send(at(1030), [frame(PUSCH, 30), frame(MAC, 30)].concat()));
    let out = run(&mut modem, 1020, 20);
    let came: Vec<_> = logs(&out).into_iter().map(|(ms, code, _)| (ms, code)).collect();
    assert_eq!(came, [(1030, MAC)]);
    assert_eq!((modem.tally().masked, modem.tally().sent), (3, 1));
    assert!(!modem.is_over());
    drop(feed);
    run(&mut modem, 1040, 1);
    assert!(modem.is_over());
}

#[test]
fn what_is_made_as_time_passes_waits_for_the_mark_and_suffers_mischief_too() {
    let (feed, fed) = super::super::feed(at(0)).expect("an event descriptor");
    let mischief = Mischief { reboot: Some(Duration::from_millis(50)), ..Mischief::default() };
    let behaviour = Behaviour { high_water: 100, mischief, ..all_on() };
    let mut modem = SimModem::new(fed, behaviour);
    for ms in (10..=60).step_by(10) {
        assert!(feed.send(at(ms), frame(MAC, ms)));
    }
    let out = run(&mut modem, 0, 100);
    // Each is 36 bytes: three reach the mark, the fourth waits for a mark that the restart comes
    // before.
    let came: Vec<_> = logs(&out).into_iter().map(|(ms, ..)| ms).collect();
    assert_eq!(came, [30, 30, 30]);
    assert!(out.iter().any(|(ms, output)| *ms == 50 && *output == Output::Reboot), "{out:?}");
}

#[test]
fn bytes_that_are_no_records_are_passed_over() {
    let (feed, fed) = super::super::feed(at(0)).expect("an event descriptor");
    let mut modem = SimModem::new(fed, all_on());
    assert!(feed.send(at(1), [&[0x7E, 1, 2, 3, 0x7E][..], &frame(MAC, 1)].concat()));
    let out = run(&mut modem, 0, 5);
    assert_eq!(logs(&out).len(), 1);
    assert_eq!(modem.tally().sent, 1);
}
