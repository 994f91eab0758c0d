//! What a receiver that asks the kernel when a packet came reads (SIOCGSTAMP), over a namespace's
//! own loopback that stands for the modem's device. If the program cannot be loaded, each test says
//! why and passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sounding_bpf::{Arrivals, ArrivalsConfig, ArrivalsError, CorrectedArrival, arrivals_preflight};
use sounding_estimate::{DelayKind, DelayUpdate, Direction, RanDelay};
use sounding_host::monotonic_now;
use sounding_testdata::{Need, skip, steadily};
use sounding_units::HostInstant;
use support::{in_netns, wait_for};

/// asm-generic/sockios.h
const SIOCGSTAMP: libc::c_ulong = 0x8906;
/// RTP of a dynamic payload type.
const MEDIA: [u8; 40] = {
    let mut packet = [0; 40];
    (packet[0], packet[1]) = (0x80, 96);
    packet
};

fn may_load() -> bool {
    let missing = arrivals_preflight().into_iter().find(|check| !check.ok);
    if let Some(check) = &missing {
        skip(Need::Kernel, format_args!("{}: {}", check.name, check.detail));
    }
    missing.is_none()
}

fn load(by_discipline: bool) -> Arrivals {
    let config = ArrivalsConfig { device: "lo".into(), by_discipline };
    Arrivals::load(&config).unwrap_or_else(|error| panic!("{error}"))
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A sender, and a receiver that asks when each packet came.
struct Ends {
    sender: UdpSocket,
    receiver: UdpSocket,
}

/// When a packet came, as its receiver reads, and two moments of the same clock around the true
/// one.
#[derive(Debug)]
struct Seen {
    before: Duration,
    read: Duration,
    after: Duration,
}

impl Seen {
    /// By how much at least and at most it is early.
    fn early(&self) -> (Duration, Duration) {
        (self.before.saturating_sub(self.read), self.after.saturating_sub(self.read))
    }

    fn is_true(&self) -> bool {
        self.before <= self.read && self.read <= self.after
    }
}

/// The clock of stamps, in microseconds as they have.
fn real() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Duration::from_micros(u64::try_from(now.as_micros()).unwrap())
}

impl Ends {
    fn at(address: &str) -> Self {
        let [sender, receiver] = [(); 2].map(|()| UdpSocket::bind((address, 0)).unwrap());
        receiver.set_read_timeout(Some(ms(2_000))).unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        Self { sender, receiver }
    }

    /// Sockets whose packets the kernel stamps. It begins a moment after the first question.
    fn stamped(address: &str) -> Self {
        let ends = Self::at(address);
        wait_for("stamps", || {
            ends.see(&MEDIA);
            let seen = ends.see(&MEDIA);
            // A packet without a stamp is read as of the moment of the question.
            sleep(ms(5));
            let again = stamp(&ends.receiver).unwrap();
            (seen.is_true() && again == seen.read).then_some(())
        });
        ends
    }

    fn see(&self, packet: &[u8]) -> Seen {
        let before = real();
        self.sender.send(packet).unwrap();
        let mut buffer = [0; 64];
        let (length, _): (usize, SocketAddr) = self.receiver.recv_from(&mut buffer).unwrap();
        assert_eq!(length, packet.len());
        let after = real();
        let read = stamp(&self.receiver).unwrap();
        Seen { before, read, after }
    }
}

/// When the packet came that was read last.
fn stamp(socket: &UdpSocket) -> io::Result<Duration> {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: the argument is a `timeval`, as this request wants.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCGSTAMP, &raw mut time) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let secs = Duration::from_secs(u64::try_from(time.tv_sec).unwrap());
    Ok(secs + Duration::from_micros(u64::try_from(time.tv_usec).unwrap()))
}

/// The newest packet that the program noted.
fn newest(arrivals: &mut Arrivals) -> CorrectedArrival {
    std::iter::from_fn(|| arrivals.poll_packet()).last().expect("a packet")
}

/// A block that reached the host at `to`, after it was sent again for so long.
fn repeat(to: HostInstant, held: Duration) -> RanDelay {
    RanDelay::new(Direction::Downlink, DelayKind::Harq, to.saturating_before(held), to)
}

fn tell(arrivals: &mut Arrivals, events: Vec<RanDelay>, down_until: Option<HostInstant>) {
    let heard_at = monotonic_now();
    let update = DelayUpdate::new(heard_at, events).with_down_until(down_until);
    arrivals.handle_update(&update).unwrap();
}

/// A packet after a pause. Then a modem reports that its radio held this one for so long.
fn report(arrivals: &mut Arrivals, ends: &Ends, held: Duration) {
    sleep(ms(250));
    ends.see(&MEDIA);
    let at = newest(arrivals).at;
    tell(arrivals, vec![repeat(at, held)], Some(at + ms(5)));
}

#[test]
fn a_receiver_reads_times_without_the_radios_mean_until_the_modem_is_silent() {
    if !may_load() {
        return;
    }
    for by_discipline in [false, true] {
        for address in ["127.0.0.1", "::1"] {
            steadily(|| {
                in_netns(|| {
                    let mut arrivals = load(by_discipline);
                    let ends = Ends::stamped(address);
                    assert!(ends.see(&MEDIA).is_true());
                    report(&mut arrivals, &ends, ms(40));
                    assert_eq!(arrivals.lately(), ms(40));
                    // No packet comes before the one before it.
                    sleep(ms(50));
                    let seen = ends.see(&MEDIA);
                    let (least, most) = seen.early();
                    assert!(least <= ms(40) && ms(40) <= most + ms(1), "{seen:?}");
                    assert_eq!(newest(&mut arrivals).back, ms(40));
                    sleep(ms(110));
                    assert!(ends.see(&MEDIA).is_true());
                    assert_eq!(newest(&mut arrivals).back, Duration::ZERO);
                    let counts = arrivals.counts();
                    assert_eq!((counts.corrected, counts.unnoted), (1, 0), "{counts:?}");
                });
            });
        }
    }
}

#[test]
fn what_is_detached_corrects_nothing_and_leaves_the_device_as_it_was() {
    if !may_load() {
        return;
    }
    let at_lo = || {
        let said = |words: &[&str]| Command::new("tc").args(words).output().unwrap().stdout;
        let disciplines = said(&["qdisc", "show", "dev", "lo"]);
        let filters = said(&["filter", "show", "dev", "lo", "ingress"]);
        String::from_utf8([disciplines, filters].concat()).unwrap()
    };
    for by_discipline in [false, true] {
        steadily(|| {
            in_netns(|| {
                let before = at_lo();
                let mut arrivals = load(by_discipline);
                assert_eq!(at_lo().contains("clsact"), by_discipline);
                let ends = Ends::stamped("127.0.0.1");
                report(&mut arrivals, &ends, ms(40));
                sleep(ms(50));
                assert!(!ends.see(&MEDIA).is_true());
                drop(arrivals);
                assert!(ends.see(&MEDIA).is_true());
                assert_eq!(at_lo(), before);
            });
        });
    }
}

#[test]
fn a_discipline_that_was_there_stays() {
    if !may_load() {
        return;
    }
    in_netns(|| {
        let tc = |words: &str| {
            let output = Command::new("tc").args(words.split(' ')).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        tc("qdisc add dev lo clsact");
        drop(load(true));
        assert!(tc("qdisc show dev lo").contains("clsact"));
    });
}

#[test]
fn the_order_of_packets_stays_and_no_packet_moves_by_more_than_80_ms() {
    if !may_load() {
        return;
    }
    steadily(|| {
        in_netns(|| {
            let mut arrivals = load(false);
            let ends = Ends::stamped("127.0.0.1");
            let mut last = ends.see(&MEDIA).read;
            report(&mut arrivals, &ends, ms(500));
            let mut most = Duration::ZERO;
            for _ in 0..60 {
                let seen = ends.see(&MEDIA);
                assert!(seen.read >= last, "{seen:?} after {last:?}");
                last = seen.read;
                let back = newest(&mut arrivals).back;
                most = most.max(back);
                assert!(back <= ms(80), "{back:?}");
                // Still the first packet's.
                tell(&mut arrivals, Vec::new(), None);
                sleep(ms(3));
            }
            assert_eq!(most, ms(80));
        });
    });
}

#[test]
fn a_burst_that_was_reported_before_it_came_is_corrected_by_its_own_delay() {
    if !may_load() {
        return;
    }
    steadily(|| {
        in_netns(|| {
            let mut arrivals = load(false);
            let ends = Ends::stamped("127.0.0.1");
            wait_for("a packet of a burst", || {
                sleep(ms(40));
                let repeat = repeat(monotonic_now(), ms(8));
                tell(&mut arrivals, vec![repeat], None);
                ends.see(&MEDIA);
                (newest(&mut arrivals).back == ms(8)).then_some(())
            });
            // Two milliseconds later it is over, and not known to the mean yet.
            sleep(ms(12));
            tell(&mut arrivals, Vec::new(), None);
            ends.see(&MEDIA);
            assert_eq!(newest(&mut arrivals).back, Duration::ZERO);
        });
    });
}

#[test]
fn other_packets_are_left_alone() {
    if !may_load() {
        return;
    }
    in_netns(|| {
        let mut arrivals = load(false);
        let ends = Ends::stamped("127.0.0.1");
        report(&mut arrivals, &ends, ms(40));
        let media = arrivals.counts().packets;
        let others: [(&str, &[u8]); 6] = [
            ("STUN", &[0x00, 0x01, 0, 0]),
            ("DTLS", &[0x16, 0xFE, 0xFD, 0]),
            ("RTCP", &[0x80, 200, 0, 6]),
            ("QUIC", &[0x41, 96, 0, 0]),
            ("QUIC, long", &[0xC1, 0, 0, 0]),
            ("a byte", &[0x80]),
        ];
        for (name, packet) in others {
            assert!(ends.see(packet).is_true(), "{name}");
        }
        // NTP with a leap second looks as RTP does.
        let server = UdpSocket::bind("127.0.0.1:123").unwrap();
        server.send_to(&MEDIA, ends.receiver.local_addr().unwrap()).unwrap();
        ends.receiver.recv_from(&mut [0; 64]).unwrap();
        assert_eq!(arrivals.counts().packets, media);
    });
}

#[test]
fn a_second_one_at_a_device_is_refused_and_so_is_a_device_that_is_not_there() {
    if !may_load() {
        return;
    }
    in_netns(|| {
        for by_discipline in [false, true] {
            let config = ArrivalsConfig { device: "lo".into(), by_discipline };
            let first = Arrivals::load(&config).unwrap();
            let second = Arrivals::load(&config).err().unwrap();
            assert!(matches!(second, ArrivalsError::Taken { .. }), "{second}");
            drop(first);
            drop(Arrivals::load(&config).unwrap());
        }
        let nowhere = ArrivalsConfig { device: "wwan7".into(), by_discipline: false };
        let error = Arrivals::load(&nowhere).err().unwrap();
        assert!(error.to_string().starts_with("network device wwan7: "), "{error}");
    });
}
