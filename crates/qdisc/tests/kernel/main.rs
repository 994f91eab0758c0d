//! The shapers of this kernel, in network namespaces. Needs root; elsewhere it reports a skip.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod adopted;
mod built;
mod lost;
mod restored;

use std::net::UdpSocket;
use std::os::fd::AsRawFd as _;
use std::process::Command;
use std::time::{Duration, Instant};

use sounding_emu::Netns;
use sounding_qdisc::{Queue, Tc};
use sounding_testdata::may_emulate;
use sounding_units::Rate;

/// Two namespaces with a cable between them: `v0` here, `v1` there.
struct Cable {
    here: Netns,
    there: Netns,
}

impl Cable {
    /// `None`, with a reported skip, without the rights.
    fn new() -> Option<Self> {
        if !may_emulate() {
            return None;
        }
        let [here, there] = [0; 2].map(|_| Netns::new().unwrap());
        let other = format!("/proc/{}/fd/{}", std::process::id(), there.as_fd().as_raw_fd());
        let cable = Self { here, there };
        cable.here.enter(|| lay(&other)).unwrap();
        for line in [
            "ip addr add 10.9.0.2/24 dev v1",
            "ip link set v1 address 02:00:00:00:00:02 up",
            "ip neigh add 10.9.0.1 lladdr 02:00:00:00:00:01 dev v1",
        ] {
            run_in(&cable.there, line);
        }
        cable.wait_for_link();
        Some(cable)
    }

    fn run(&self, line: &str) -> String {
        run_in(&self.here, line)
    }

    /// What stands at the devices, without a counter.
    fn text(&self) -> String {
        let lines =
            ["qdisc show", "class show dev v0", "filter show dev v0", "filter show dev v0 ingress"];
        let all = lines.map(|line| self.run(&format!("tc -d {line}")));
        let mut all = all.join("--\n") + &self.run("ip -o link show");
        // CAKE lists flows as classes, also for a while after their last packet.
        let flows: Vec<_> = all.lines().filter(|line| line.starts_with("class cake ")).collect();
        let flows: Vec<String> = flows.into_iter().map(|line| format!("{line}\n")).collect();
        flows.iter().for_each(|line| all = all.replace(line, ""));
        let mut words = all.split_inclusive([' ', '\n']);
        let mut text = String::new();
        while let Some(word) = words.next() {
            match word {
                "direct_packets_stat " => drop(words.next()),
                word => text.push_str(word),
            }
        }
        text
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&Tc) -> T + Send) -> T {
        self.here.enter(|| work(&Tc::open().unwrap())).unwrap()
    }

    fn wait_for_link(&self) {
        let until = Instant::now() + Duration::from_secs(5);
        while !self.run("ip -o link show v0").contains("state UP") {
            assert!(Instant::now() < until, "no link");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// `v0` and its peer, whose namespace has this path.
fn lay(other: &str) {
    for line in [
        "ip link set lo up",
        &format!("ip link add v0 type veth peer name v1 netns {other}"),
        "ip addr add 10.9.0.1/24 dev v0",
        "ip link set v0 address 02:00:00:00:00:01 up",
        // Only some packets wait for the answer to a question for an address.
        "ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0",
    ] {
        run(line);
    }
}

fn run_in(netns: &Netns, line: &str) -> String {
    netns.enter(|| run(line)).unwrap()
}

/// A command's output; it has to succeed.
fn run(line: &str) -> String {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().unwrap()).args(words).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Sends this many datagrams of 1000 bytes from one end to the other.
fn send(from: &Netns, to: &str, count: usize) {
    from.enter(|| {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::SndBuf, &(8 << 20))
            .unwrap();
        for _ in 0..count {
            // Without a connection, to which a refusal of the port would be reported.
            socket.send_to(&[0; 972], (to, 9)).unwrap();
        }
    })
    .unwrap();
}

fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_sec(rate * 1_000_000)
}

/// The queue of a device once it is empty.
fn drained(tc: &Tc, device: &str) -> Queue {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let queue = tc.queue(device).unwrap();
        if queue.packets == 0 {
            return queue;
        }
        assert!(Instant::now() < until, "{queue:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
