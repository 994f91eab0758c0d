//! A C program's mistake is an errno, never a crash.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::ffi::{CStr, CString, c_int};
use std::ptr::null_mut;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use od::ffi::{
    Delay, KpiInfo, Link, Sample, od_close, od_delays, od_error, od_kpi_info, od_latest, od_link,
    od_open, od_poll_fd, od_read, od_subscribe,
};
use sounding_board::{Place, Publisher};
use sounding_diag::layout::Item;
use sounding_diag::{LogCode, LogRecord, hdlc};
use sounding_estimate::delay::{DelayKind, RanDelay};
use sounding_estimate::{Bound, Direction, LinkEstimate};
use sounding_feed::Line;
use sounding_host::monotonic_now;
use sounding_kpi::{Reading, Subscription};
use sounding_units::{HostInstant, ModemInstant, Rate};

fn open(source: &str) -> c_int {
    let source = CString::new(source).unwrap();
    // SAFETY: a C string.
    unsafe { od_open(source.as_ptr()) }
}

fn subscribe(od: c_int, kpi: &str) -> c_int {
    let kpi = CString::new(kpi).unwrap();
    // SAFETY: a C string.
    unsafe { od_subscribe(od, kpi.as_ptr()) }
}

fn read(od: c_int, samples: &mut [Sample]) -> isize {
    // SAFETY: there is room for as many as there are.
    unsafe { od_read(od, samples.as_mut_ptr(), samples.len()) }
}

fn latest(od: c_int, kpi: c_int) -> (c_int, Sample) {
    let mut sample = Sample::default();
    // SAFETY: there is room for one.
    (unsafe { od_latest(od, kpi, &raw mut sample) }, sample)
}

/// The last failure in numbers; its words are never empty.
fn errno() -> Errno {
    let errno = Errno::last();
    // SAFETY: never null, and valid until the next failure.
    assert!(!unsafe { CStr::from_ptr(od_error()) }.is_empty());
    errno
}

/// A frame with the measurement of a serving cell; without KPIs its version is unknown.
fn measurement(with_kpis: bool, stamp: u64) -> Vec<u8> {
    let mut body = vec![1, 1, 0, 0, 25, 4, 80, 0];
    body.resize(8 + 76, 0);
    if !with_kpis {
        body[5] = 255;
    }
    let (mut payload, mut frame) = (Vec::new(), Vec::new());
    let (code, at) = (LogCode::new(0xB193), ModemInstant::from_diag(stamp));
    LogRecord { code, at, stamp, radio: None, body: &body }.emit(&mut payload).unwrap();
    hdlc::encode(&payload, &mut frame);
    frame
}

/// A capture of one such measurement, and of three bytes of noise.
fn capture(folder: &tempfile::TempDir, with_kpis: bool) -> String {
    let stream = [measurement(with_kpis, 0), vec![1, 2, 3]].concat();
    let path = folder.path().join(format!("{with_kpis}.qmdl"));
    std::fs::write(&path, stream).unwrap();
    format!("capture:{}", path.display())
}

#[test]
fn handles_that_were_never_opened_or_are_closed_are_bad() {
    let folder = tempfile::tempdir().unwrap();
    let closed = open(&capture(&folder, true));
    assert!(closed >= 0);
    assert_eq!(od_close(closed), 0);
    // The place is used again, the number is not.
    let other = open(&capture(&folder, true));
    assert_ne!(closed, other);
    for od in [closed, -1, 0, 3, c_int::MAX, c_int::MIN] {
        assert_eq!((read(od, &mut [Sample::default()]), errno()), (-1, Errno::EBADF), "{od}");
        assert_eq!((subscribe(od, "lte.cell.rsrp"), errno()), (-1, Errno::EBADF), "{od}");
        assert_eq!((od_poll_fd(od), errno()), (-1, Errno::EBADF), "{od}");
        assert_eq!((latest(od, 0).0, errno()), (-1, Errno::EBADF), "{od}");
        assert_eq!((od_close(od), errno()), (-1, Errno::EBADF), "{od}");
    }
    assert_eq!(od_close(other), 0);
}

#[test]
fn null_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let od = open(&capture(&folder, true));
    assert_eq!(subscribe(od, "lte.cell.rsrp"), 0);
    // SAFETY: null is what these functions look for.
    unsafe {
        assert_eq!((od_open(null_mut()), errno()), (-1, Errno::EFAULT));
        assert_eq!((od_subscribe(od, null_mut()), errno()), (-1, Errno::EFAULT));
        assert_eq!((od_read(od, null_mut(), 5), errno()), (-1, Errno::EFAULT));
        assert_eq!((od_latest(od, 0, null_mut()), errno()), (-1, Errno::EFAULT));
        assert_eq!((od_kpi_info(0, null_mut()), errno()), (-1, Errno::EFAULT));
    }
    assert_eq!(od_close(od), 0);
}

#[test]
fn invalid_sources_are_reported() {
    for (source, expected) in [
        ("", Errno::EINVAL),
        ("board:", Errno::EINVAL),
        ("board:../../etc", Errno::ENOENT),
        ("kettle:1", Errno::EINVAL),
        ("device:tcp:nowhere", Errno::EINVAL),
        ("device:/dev/null", Errno::EINVAL),
        ("capture:/dev/null", Errno::EINVAL),
        ("capture:/nowhere", Errno::ENOENT),
    ] {
        assert_eq!((open(source), errno()), (-1, expected), "{source:?}");
    }
    // SAFETY: a C string, if not UTF-8.
    assert_eq!((unsafe { od_open(c"\xFF".as_ptr()) }, errno()), (-1, Errno::EINVAL));
}

#[test]
fn a_capture_is_read_in_its_order_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let od = open(&capture(&folder, true));
    let mut samples = [Sample::default(); 4];
    assert_eq!((read(od, &mut samples), errno()), (-1, Errno::EINVAL), "nothing is subscribed");
    assert_eq!((subscribe(od, "lte.cell.colour"), errno()), (-1, Errno::ENOENT));
    assert_eq!(subscribe(od, "lte.cell.pci"), 0);
    assert_eq!(subscribe(od, "lte.cell.index"), 1);
    assert_eq!(subscribe(od, "lte.cell.pci"), 0, "the same again");
    assert_eq!((read(od, &mut []), errno()), (-1, Errno::EINVAL));
    assert_eq!((latest(od, 0).0, errno()), (-1, Errno::EAGAIN));
    assert_eq!(read(od, &mut samples[..1]), 1);
    assert_eq!((samples[0].kpi, samples[0].value, samples[0].sequence), (0, 0.0, 1));
    assert_eq!((subscribe(od, "lte.cell.rsrq"), errno()), (-1, Errno::EBUSY));
    assert_eq!(latest(od, 0).1.value, 0.0);
    assert_eq!((latest(od, 2).0, errno()), (-1, Errno::EINVAL));
    assert_eq!((latest(od, -1).0, errno()), (-1, Errno::EINVAL));
    assert_eq!(read(od, &mut samples), 1);
    assert_eq!(samples[0].kpi, 1);
    assert_eq!(read(od, &mut samples), 0, "the end");
    assert_eq!(read(od, &mut samples), 0, "and still the end");
    assert_eq!(od_close(od), 0);
}

#[test]
fn what_cannot_be_read_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let od = open(&capture(&folder, false));
    assert_eq!(subscribe(od, "lte.cell.rsrp"), 0);
    assert_eq!(read(od, &mut [Sample::default()]), 0);
    assert_eq!(od_close(od), 0);
}

#[test]
fn handles_run_out_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let source = capture(&folder, true);
    let mut handles = Vec::new();
    let refused = loop {
        match open(&source) {
            -1 => break errno(),
            handle => handles.push(handle),
        }
        assert!(handles.len() <= 1 << 16);
    };
    assert_eq!(refused, Errno::EMFILE);
    assert!(handles.len() > 100);
    assert!(handles.iter().all(|&handle| od_close(handle) == 0));
}

#[test]
fn every_kpi_describes_itself() {
    let mut count = 0;
    loop {
        let mut info = std::mem::MaybeUninit::<KpiInfo>::uninit();
        // SAFETY: there is room for one.
        if unsafe { od_kpi_info(count, info.as_mut_ptr()) } == -1 {
            assert_eq!(errno(), Errno::ENOENT);
            break;
        }
        // SAFETY: it was filled in, and its name ends in a zero.
        let (info, name) = unsafe {
            let info = info.assume_init();
            (info, CStr::from_ptr(info.name.as_ptr()).to_str().unwrap().to_owned())
        };
        let known = sounding_kpi::registry::find(&name).unwrap();
        assert_eq!(u32::from(known.code.number()), info.code);
        count += 1;
    }
    assert_eq!(count, sounding_kpi::registry::all().count());
}

#[test]
fn a_device_is_read_live_and_its_end_is_reported() {
    let pty = nix::pty::openpty(None, None).unwrap();
    let path = nix::unistd::ttyname(&pty.slave).unwrap();
    let od = open(&format!("device:{}", path.display()));
    assert!(od >= 0, "{:?}", errno());
    assert_eq!((od_poll_fd(od), errno()), (-1, Errno::EINVAL), "nothing is subscribed");
    assert_eq!(subscribe(od, "lte.cell.pci"), 0);
    let fd = od_poll_fd(od);
    assert!(fd >= 0);
    assert_eq!((subscribe(od, "lte.cell.rsrp"), errno()), (-1, Errno::EBUSY));
    let mut samples = [Sample::default(); 4];
    assert_eq!((read(od, &mut samples), errno()), (-1, Errno::EAGAIN));

    let mut body = vec![1, 1, 0, 0, 25, 4, 80, 0];
    body.resize(8 + 76, 0);
    body[10] = 123;
    let (mut payload, mut stream) = (Vec::new(), Vec::new());
    let (code, at) = (LogCode::new(0xB193), ModemInstant::default());
    LogRecord { code, at, stamp: 0, radio: None, body: &body }.emit(&mut payload).unwrap();
    hdlc::encode(&payload, &mut stream);
    nix::unistd::write(&pty.master, &stream).unwrap();
    // SAFETY: the descriptor is open as long as its handle.
    let readable = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
    let wait = || {
        let mut fds = [PollFd::new(readable, PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::from(10_000u16)).unwrap()
    };
    assert_eq!(wait(), 1);
    assert_eq!(read(od, &mut samples), 1);
    assert_eq!((samples[0].value, samples[0].flags), (123.0, 0));
    assert!(Duration::from_nanos(samples[0].age_ns) < Duration::from_secs(60));
    assert_eq!((read(od, &mut samples), errno()), (-1, Errno::EAGAIN));

    drop(pty);
    assert_eq!(wait(), 1);
    assert_eq!((read(od, &mut samples), errno()), (-1, Errno::EPIPE));
    let (status, sample) = latest(od, 0);
    assert_eq!((status, sample.value, sample.flags), (0, 123.0, 1), "it is stale");
    assert_eq!(od_close(od), 0);
}

#[test]
fn a_board_that_is_full_is_not_one_whose_writer_has_died() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(folder.path(), "modem").unwrap();
    let subscription = Subscription::new(["lte.pusch.tbs"]).unwrap();
    let mut publisher = Publisher::create(place, subscription.kpis(), monotonic_now()).unwrap();
    let source = folder.path().join("modem.board").display().to_string();
    let handles: Vec<c_int> = (0..17).map(|_| open(&source)).collect();
    assert!(handles.iter().all(|&od| od >= 0 && subscribe(od, "lte.pusch.tbs") == 0));
    let begin = monotonic_now();
    for look in 1..=8 {
        publisher.heartbeat(begin + Duration::from_millis(5 * look));
    }
    let mut samples = [Sample::default(); 4];
    let outcomes: Vec<_> = handles.iter().map(|&od| (read(od, &mut samples), errno())).collect();
    assert_eq!(outcomes[..16], [(-1, Errno::EAGAIN); 16]);
    assert_eq!(outcomes[16], (-1, Errno::EUSERS));
    // Its reading is there.
    let at = ModemInstant::from_nanos(9);
    let reading = Reading { slot: 0, value: 42.0, item: Item::default(), at };
    publisher.handle(&reading, monotonic_now());
    publisher.post(monotonic_now());
    assert_eq!((read(handles[16], &mut samples), samples[0].value), (1, 42.0));
    let (status, sample) = latest(handles[16], 0);
    assert_eq!((status, sample.value, sample.flags), (0, 42.0, 0), "it is fresh");
    handles.into_iter().for_each(|od| assert_eq!(od_close(od), 0));
}

fn link(od: c_int, modem: Option<&str>, direction: c_int) -> (c_int, Link) {
    let modem = modem.map(|modem| CString::new(modem).unwrap());
    let modem = modem.as_ref().map_or(std::ptr::null(), |modem| modem.as_ptr());
    let mut line = std::mem::MaybeUninit::<Link>::zeroed();
    // SAFETY: a C string or null, and room for one; zeroes are a line.
    unsafe { (od_link(od, modem, direction, line.as_mut_ptr()), line.assume_init()) }
}

#[test]
fn links_of_a_feed_are_known_by_modem_and_direction() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        (open(&format!("feed:{}/no", folder.path().display())), errno()),
        (-1, Errno::ENOENT)
    );
    let path = folder.path().join("wan.rate");
    let mut feed =
        sounding_feed::Publisher::new(&path, 0o600, None, Duration::from_millis(100)).unwrap();
    let od = open(&format!("feed:{}/wan", folder.path().display()));
    assert!(od >= 0 && od_poll_fd(od) >= 0);
    // No KPI is in it.
    assert_eq!((subscribe(od, "lte.cell.rsrp"), errno()), (-1, Errno::EINVAL));
    assert_eq!((read(od, &mut [Sample::default()]), errno()), (-1, Errno::EINVAL));
    assert_eq!((latest(od, 0).0, errno()), (-1, Errno::EINVAL));
    assert_eq!((link(-1, None, 0).0, errno()), (-1, Errno::EBADF));
    // SAFETY: null is what the function looks for.
    let fault = unsafe { od_link(od, std::ptr::null(), 0, null_mut()) };
    assert_eq!((fault, errno()), (-1, Errno::EFAULT));
    assert_eq!((link(od, None, 2).0, errno()), (-1, Errno::EINVAL));
    feed.attend();
    assert_eq!((link(od, None, 0).0, errno()), (-1, Errno::EAGAIN));
    let mut say = |modem: &str, age: Duration, advice| {
        let said =
            LinkEstimate::new(Direction::Uplink, Rate::from_bits_per_sec(9_000), Bound::Floor)
                .with_age(Duration::from_millis(7));
        let made_at = HostInstant::from_nanos(monotonic_now().as_nanos() - age.as_nanos() as u64);
        let mut line = Line::of(1, modem, made_at, &said);
        (line.valid_for_ms, line.advice_bits_per_sec) = (60_000.0, advice);
        feed.publish(&line);
    };
    say("a", Duration::ZERO, Some(5_000));
    let (status, line) = link(od, None, 0);
    assert_eq!((status, line.advice_bits_per_sec, line.rate_bits_per_sec), (0, 5_000, 9_000));
    // Advice, rate and age; no backlog and no users.
    assert_eq!((line.has, line.flags, line.users), (1 | 2 | 4, 0, 0));
    assert!(line.age_ns >= 7_000_000 + line.line_age_ns, "{line:?}");
    // SAFETY: its words end in a zero.
    let words =
        unsafe { [&line.bound[..], &line.modem[..]].map(|word| CStr::from_ptr(word.as_ptr())) };
    assert_eq!(words, [c"floor", c"a"]);
    assert_eq!((link(od, None, 1).0, errno()), (-1, Errno::EAGAIN), "no downlink has come");
    assert_eq!((link(od, Some("b"), 0).0, errno()), (-1, Errno::ENOENT));
    // A line that is too old has its number and times, and no value that a sender could take.
    say("a", Duration::from_secs(61), Some(5_000));
    let (status, line) = link(od, Some("a"), 0);
    assert_eq!((status, line.has, line.flags), (0, 0, 1));
    assert_eq!((line.advice_bits_per_sec, line.rate_bits_per_sec, line.bound[0]), (0, 0, 0));
    say("b", Duration::ZERO, None);
    assert_eq!((link(od, None, 0).0, errno()), (-1, Errno::EINVAL), "there are two");
    let (status, line) = link(od, Some("b"), 0);
    assert_eq!((status, line.has, line.advice_bits_per_sec), (0, 2 | 4, 0), "advice is unknown");
    drop(feed);
    assert_eq!((link(od, Some("b"), 0).0, errno()), (-1, Errno::EPIPE));
    assert_eq!((link(od, Some("b"), 0).0, errno()), (-1, Errno::EPIPE), "and still");
    assert_eq!(od_close(od), 0);
}

#[test]
fn a_capture_has_its_link_and_delays_whether_or_not_its_kpis_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive.qmdl");
    // A tenth of a second apart, in 2024.
    let stamp = |place: u64| (1_100_000_000_000 + 80 * place) << 16;
    let frames: Vec<_> = (0..5).map(|place| measurement(true, stamp(place))).collect();
    std::fs::write(&path, frames.concat()).unwrap();
    let od = open(&format!("capture:{}", path.display()));
    assert_eq!((link(od, Some("a"), 0).0, errno()), (-1, Errno::EINVAL), "it names no modem");
    assert_eq!((link(od, None, 2).0, errno()), (-1, Errno::EINVAL));
    for direction in [0, 1] {
        let mut rows = Vec::new();
        while let (0, row) = link(od, None, direction) {
            rows.push(row);
        }
        assert_eq!(errno(), Errno::ENODATA);
        // The last row ends with the last record.
        assert_eq!(rows.len(), 5);
        for (row, number) in rows.iter().zip(1..=4) {
            let times = (row.number, row.time_ns, row.span_ns);
            assert_eq!(times, (number, number * 100_000_000, 100_000_000), "{row:?}");
            assert_eq!((row.made_ns, row.has & 1), (0, 0), "{row:?}");
        }
    }
    assert_eq!(delays(od, 4), Ok(Vec::new()), "no block was sent again");
    assert_eq!(subscribe(od, "lte.cell.pci"), 0);
    assert_eq!(read(od, &mut [Sample::default(); 9]), 5);
    assert_eq!(delays(od, 0), Err(Errno::EINVAL));
    assert_eq!(delays(-1, 4), Err(Errno::EBADF));
    // SAFETY: null is what the function looks for.
    let fault = unsafe { od_delays(od, null_mut(), 1) };
    assert_eq!((fault, errno()), (-1, Errno::EFAULT));
    assert_eq!(od_close(od), 0);
}

fn delays(od: c_int, room: usize) -> Result<Vec<Delay>, Errno> {
    let mut found = Vec::with_capacity(room.max(1));
    // SAFETY: there is room for as many, and those that are counted are filled in.
    unsafe {
        match od_delays(od, found.as_mut_ptr(), room) {
            -1 => return Err(errno()),
            count => found.set_len(count.cast_unsigned()),
        }
    }
    Ok(found)
}

#[test]
fn delays_of_a_feed_come_once_with_their_modem_and_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wan.rate");
    let gap = Duration::from_millis(100);
    let mut feed = sounding_feed::Publisher::new(&path, 0o600, None, gap).unwrap();
    let od = open(&format!("feed:{}/wan", folder.path().display()));
    feed.attend();
    assert_eq!(delays(od, 4), Err(Errno::EAGAIN));
    let mut queue = sounding_feed::DelayQueue::default();
    let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
    for ms in [10, 20, 30] {
        let event = RanDelay::new(Direction::Downlink, DelayKind::Harq, at(ms), at(ms + 8));
        queue.handle_event(&event.with_age(Duration::from_millis(3)));
    }
    let rate = Rate::from_bits_per_sec(9_000);
    let said = LinkEstimate::new(Direction::Downlink, rate, Bound::Floor);
    let line = Line::of(1, "wwan0", monotonic_now(), &said);
    feed.publish(&line.with_delays(queue.poll()));
    let first = delays(od, 2).unwrap();
    let next = delays(od, 2).unwrap();
    let found: Vec<_> = first.iter().chain(&next).collect();
    let numbers: Vec<_> = found.iter().map(|delay| (delay.number, delay.to_ns)).collect();
    assert_eq!(numbers, [(1, 18_000_000), (2, 28_000_000), (3, 38_000_000)]);
    let Delay { from_ns, amount_ns, age_ns, direction, to_modem_unix_ns, .. } = *found[0];
    assert_eq!((from_ns, amount_ns, age_ns), (10_000_000, 8_000_000, 3_000_000));
    assert_eq!((direction, to_modem_unix_ns), (1, 0));
    // SAFETY: its words end in a zero.
    let words = unsafe {
        let Delay { modem, kind, confidence, .. } = found[0];
        [&modem[..], &kind[..], &confidence[..]].map(|word| CStr::from_ptr(word.as_ptr()))
    };
    assert_eq!(words, [c"wwan0", c"harq", c"decoded"]);
    assert_eq!(delays(od, 4), Err(Errno::EAGAIN), "each comes once");
    drop(feed);
    assert_eq!(delays(od, 4), Err(Errno::EPIPE));
    assert_eq!(od_close(od), 0);
}
