//! Another user of the machine opens many flows, to have a real one send less.

use std::net::{SocketAddrV4, UdpSocket};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use std::{fs, iter};

use sounding_bpf::{Policy, Sharing};
use sounding_emu::{Emulation, Outcome, PacketRecord};
use sounding_host::monotonic_now;
use sounding_modem::Pty;
use sounding_testbed::daemon::Daemon;
use sounding_testdata::{steadily, write_script};
use sounding_trace::Steps;
use sounding_units::{HostInstant, Rate};

use crate::beside;
use crate::rig::{LAWS, Rig, skipped};
use crate::sharing::{LINK, Scene};
use crate::users::{STRANGER, UsersFlow, as_user};

const CROWD: usize = 60;
/// The real rate of each of the crowd, so small that the effect comes from its claims and not from
/// its packets.
const NEXT_TO_NOTHING: Rate = Rate::from_bytes_per_sec(2_000);

fn secs(count: u64) {
    thread::sleep(Duration::from_secs(count));
}

/// What a flow carried in a span, in Mbit/s.
fn carried(
    records: &[PacketRecord],
    flow: sounding_emu::Flow,
    (from, to): (HostInstant, HostInstant),
) -> f64 {
    let came = |record: &&PacketRecord| match record.outcome {
        Outcome::Delivered { written, .. } => written >= from && written < to,
        _ => false,
    };
    let own = records.iter().filter(|record| record.flow == flow).filter(came);
    let bytes: u64 = own.map(|record| record.size.count()).sum();
    bytes as f64 * 8.0 / (to - from).as_secs_f64() / 1e6
}

/// Two seconds of the modem's replay, after one in which flows settle.
fn replayed(rig: &mut Rig) -> (HostInstant, HostInstant) {
    rig.replay_for(Duration::from_secs(1));
    let from = monotonic_now();
    rig.replay_for(Duration::from_secs(2));
    (from, monotonic_now())
}

#[test]
fn a_crowd_of_another_user_on_loopback_takes_nothing_of_a_real_flow() {
    for law in LAWS {
        steadily(|| {
            let Some(mut rig) = Rig::steady("crowd", law) else { return };
            let flow = rig.transfer();
            let alone = replayed(&mut rig);
            let crowd: Vec<_> = iter::repeat_with(|| rig.stranger_on_loopback(NEXT_TO_NOTHING))
                .take(CROWD)
                .collect();
            let beside = replayed(&mut rig);
            drop(crowd);
            let ran = rig.end(flow);
            rig.stop();
            let [alone, beside] =
                [alone, beside].map(|span| carried(&ran.records, ran.flow.flow, span));
            println!("{law}: {alone:.1} Mbit/s alone, {beside:.1} beside {CROWD} on loopback");
            assert!(beside >= alone * 0.85, "{law}: {alone:.1} and {beside:.1} Mbit/s");
        });
    }
}

#[test]
fn a_crowd_of_another_user_on_the_radio_leaves_a_user_its_half() {
    for policy in [Policy::Flows, Policy::Weights, Policy::Applications] {
        steadily(|| {
            let sharing = Sharing { policy, ..Sharing::default() };
            let Some(scene) = Scene::new("half", sharing) else { return };
            let bulk = scene.upload();
            let name = scene.instance.name();
            let one = || UsersFlow::idling(&scene.emulation, STRANGER, name, NEXT_TO_NOTHING);
            let crowd: Vec<_> = iter::repeat_with(one).take(CROWD).collect();
            secs(2);
            let from = monotonic_now();
            let shares: Vec<Rate> = iter::repeat_with(|| {
                thread::sleep(Duration::from_millis(10));
                scene.flow(&bulk).share
            })
            .take(200)
            .collect();
            let span = (from, monotonic_now());
            let seen = scene.flow(&bulk).flows;
            drop(crowd);
            let flow = bulk.flow();
            bulk.stop().expect("it ends in good order");
            let records = scene.emulation.stop().expect("a report").records;
            let rate = carried(&records, flow, span);
            let least = shares.iter().min().expect("some");
            println!("{policy:?}: {rate:.1} Mbit/s, a part of {least} at least, beside {CROWD}");
            // They are there, and ask for all they can get.
            assert!(seen as usize >= CROWD, "{seen} flows");
            assert!(*least >= LINK.scaled(1, 2), "{policy:?}: {least}");
            assert!(
                rate >= LINK.bits_per_sec() as f64 / 2e6 * 0.85,
                "{policy:?}: {rate:.1} Mbit/s"
            );
        });
    }
}

#[test]
fn twenty_bulk_flows_of_one_user_and_one_of_another_have_half_of_the_link_each() {
    steadily(|| {
        let Some(scene) = Scene::new("users", Sharing::default()) else { return };
        let name = scene.instance.name();
        let one = |user| UsersFlow::start(&scene.emulation, user, name);
        let theirs: Vec<_> = iter::repeat_with(|| one(STRANGER)).take(20).collect();
        let own = one(STRANGER + 1);
        secs(2);
        let arrived = || (own.arrived(), theirs.iter().map(UsersFlow::arrived).sum::<u64>());
        let before = arrived();
        secs(4);
        let after = arrived();
        let (own, theirs) = (after.0 - before.0, after.1 - before.1);
        println!("one flow of a user {own} bytes, twenty of another {theirs}");
        assert!(own * 100 >= theirs * 75, "{own} and {theirs} bytes");
    });
}

/// Datagrams of the stranger from as many sockets, until it is dropped.
struct Datagrams {
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<Result<(), sounding_emu::EnterError>>>,
}

impl Datagrams {
    /// At this total of bytes per second.
    fn start(emulation: &Emulation, sockets: usize, rate: Rate) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let to = SocketAddrV4::new(emulation.far_address(), 9);
        let until = Arc::clone(&stop);
        let send = move || {
            as_user(STRANGER);
            let socket = || UdpSocket::bind("0.0.0.0:0").expect("a socket");
            let sockets: Vec<_> = iter::repeat_with(socket).take(sockets).collect();
            let payload = [0; 1_000];
            let pause = Duration::from_secs(1) * (payload.len() * sockets.len()) as u32
                / u32::try_from(rate.bytes_per_sec()).expect("a radio's");
            while !until.load(Ordering::Relaxed) {
                for socket in &sockets {
                    // No program listens at the other end, which answers so.
                    let _ = socket.send_to(&payload, to);
                }
                thread::sleep(pause);
            }
        };
        let thread = emulation.near().spawn_thread("datagrams", send).expect("a thread");
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn datagrams_from_many_sockets_of_another_user_leave_a_user_its_half() {
    steadily(|| {
        let Some(scene) = Scene::new("udp", Sharing::default()) else { return };
        let bulk = scene.upload();
        let datagrams = Datagrams::start(&scene.emulation, CROWD, LINK.scaled(3, 4));
        secs(2);
        let mut shares: Vec<Rate> = iter::repeat_with(|| {
            thread::sleep(Duration::from_millis(10));
            scene.flow(&bulk).share
        })
        .take(200)
        .collect();
        let seen = scene.flow(&bulk).flows;
        drop(datagrams);
        shares.sort();
        println!("a part of {} at least beside {seen} flows, median {}", shares[0], shares[100]);
        assert!(seen as usize >= CROWD, "{seen} flows");
        assert!(shares[0] >= LINK.scaled(1, 2), "{}", shares[0]);
        bulk.stop().expect("it ends in good order");
    });
}

/// A program that becomes the daemon, to which the kernel seems to show a modem that has this port
/// and the network device of the emulation; and the folder it is in.
fn with_a_modem(port: &Path) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let make = |path: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(&path).expect("a folder");
        path
    };
    let usb = make("devices/usb1/1-1");
    fs::write(usb.join("idVendor"), "2c7c\n").expect("a file");
    let network = make("devices/usb1/1-1/1-1:1.4/net/radio0");
    symlink(network, make("class/net").join("radio0")).expect("a link");
    let name = port.strip_prefix("/dev").expect("a device").display();
    let tty = make(&format!("class/tty/{name}"));
    symlink(make("devices/usb1/1-1/1-1:1.0"), tty.join("device")).expect("a link");
    let program = folder.path().join("with-a-modem");
    let class = folder.path().join("class");
    let class = class.display();
    let text = format!(
        "#!/bin/sh\nexport CLASS='{class}' PROGRAM='{}'\nexec unshare --mount sh -c '\n\
         mount --bind \"$CLASS/net\" /sys/class/net &&\n\
         mount --bind \"$CLASS/tty\" /sys/class/tty &&\n\
         exec \"$PROGRAM\" \"$@\"' sh \"$@\"\n",
        env!("CARGO_BIN_EXE_sounding")
    );
    write_script(&program, &text);
    (folder, program)
}

#[test]
fn the_network_device_of_the_ports_own_hardware_is_the_radio() {
    if skipped() {
        return;
    }
    let emulation = Emulation::start(beside::over(Steps::constant(LINK))).expect("a link");
    let pty = Pty::create(None).expect("a pty");
    let (_folder, program) = with_a_modem(pty.path());
    let name = format!("{}_found", std::process::id() % 1_000_000);
    let daemon = Daemon::start_in(emulation.near(), &program, pty.path(), &name, &[]);
    let events = daemon.expect("ready").stop();
    let found = events.iter().find(|event| event["event"] == "interfaces").expect("it says");
    assert_eq!(found["interfaces"], serde_json::json!(["radio0"]));
    let counted = events.iter().find(|event| event["event"] == "counting");
    assert_eq!(counted.expect("it counts")["interface"], "radio0", "{events:?}");
}
