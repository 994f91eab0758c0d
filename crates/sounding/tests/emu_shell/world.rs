//! A machine and an Internet, each a network namespace of the test, with one cable between them.
//!
//! The Internet knows the machine's address alone: what comes from another one gets no answer.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::socket::SockProtocol;
use sounding_emu::Netns;
use sounding_qdisc::netlink::{Attributes, Message, Socket};

use crate::emu;

/// The machine's own address, and one behind it.
pub(crate) const MACHINE: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
pub(crate) const INTERNET: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
/// Where the machine's resolver listens, as that of systemd does.
const RESOLVER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 53);

pub(crate) const PORT: u16 = 8000;

pub(crate) struct World {
    pub(crate) machine: Netns,
    pub(crate) internet: Netns,
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let (machine, internet) = (Netns::new().unwrap(), Netns::new().unwrap());
        let folder = tempfile::tempdir().unwrap();
        for netns in [&machine, &internet] {
            // The addresses of IPv6 are there at once, and no state changes later by itself.
            let path = "/proc/sys/net/ipv6/conf/default/accept_dad";
            netns.enter(|| std::fs::write(path, "0").unwrap()).unwrap();
        }
        run(&machine, "ip link add cable0 type veth peer name cable1");
        // `ip` takes a namespace by the number of a process in it.
        let mut sleeper = Command::new("sleep");
        internet.bring_in(&mut sleeper);
        let mut sleeper = sleeper.arg("1000").spawn().unwrap();
        run(&machine, &format!("ip link set cable1 netns {}", sleeper.id()));
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        for line in [
            "ip link set lo up",
            "ip link set cable0 up",
            &format!("ip address add {MACHINE}/24 dev cable0"),
            "ip route add default via 10.9.0.2",
        ] {
            run(&machine, line);
        }
        for line in [
            "ip link set lo up",
            "ip link set cable1 up",
            "ip address add 10.9.0.2/24 dev cable1",
            &format!("ip address add {INTERNET}/32 dev lo"),
        ] {
            run(&internet, line);
        }
        while ["linkdown", "tentative"].iter().any(|word| {
            let state = ["ip address show", "ip route show"].map(|line| run(&machine, line));
            state.concat().contains(word)
        }) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        serve(&internet, INTERNET);
        serve(&machine, Ipv4Addr::UNSPECIFIED);
        resolve(&machine);
        std::fs::write(folder.path().join("resolv.conf"), format!("nameserver {RESOLVER}\n"))
            .unwrap();
        Self { machine, internet, folder }
    }

    /// `sounding emu` on the machine, with its resolver.
    pub(crate) fn emu(&self, arguments: &[&str]) -> Command {
        self.on_machine(&emu(arguments))
    }

    /// The same command on the machine.
    pub(crate) fn on_machine(&self, command: &Command) -> Command {
        let mut there = Command::new("unshare");
        there.args(["--mount", "sh", "-c"]);
        there.arg("mount --bind \"$1\" /etc/resolv.conf && shift && exec \"$@\"").arg("sh");
        there.arg(self.folder.path().join("resolv.conf"));
        there.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => there.env(name, value),
                None => there.env_remove(name),
            };
        }
        self.machine.bring_in(&mut there);
        there.stdin(std::process::Stdio::null()).process_group(0);
        there
    }

    /// All of the machine's network that an emulator could have changed.
    pub(crate) fn state(&self) -> String {
        let settings = "cd /proc/sys/net && grep -r . ipv4/conf ipv6/conf ipv4/ip_forward ipv4/ip_default_ttl 2>&1 | sort";
        let lines =
            ["ip -o address show", "ip rule show", "ip route show table all", "ip -o link show"];
        let mut state: String = lines.map(|line| run(&self.machine, line)).join("--\n");
        let mut shell = Command::new("sh");
        let output = self.machine.enter(|| shell.args(["-c", settings]).output().unwrap()).unwrap();
        state.push_str(&String::from_utf8(output.stdout).unwrap());
        state + &tables(&self.machine).join("\n")
    }

    pub(crate) fn set(&self, setting: &str, value: &str) {
        let path = format!("/proc/sys/net/{setting}");
        self.machine.enter(|| std::fs::write(path, value).unwrap()).unwrap();
    }

    /// Has the machine's firewall drop what it would forward.
    pub(crate) fn forbid_forwarding(&self) {
        const FLAGS: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_CREATE | libc::NLM_F_ACK) as u16;
        let about = |kind: u16| Message::new(10 << 8 | kind, FLAGS).raw(&[2, 0, 0, 0]);
        let hook =
            |it: Message| it.attribute(1, &2_u32.to_be_bytes()).attribute(2, &0_u32.to_be_bytes());
        let requests = vec![
            about(0).text(1, "filter"),
            about(3)
                .text(1, "filter")
                .text(3, "forward")
                .nested(4, hook)
                .attribute(5, &0_u32.to_be_bytes())
                .text(7, "filter"),
        ];
        let commit = || netfilter().commit(10, requests).unwrap();
        self.machine.enter(commit).unwrap();
    }
}

fn netfilter() -> Socket {
    Socket::open_for(SockProtocol::NetlinkNetFilter).unwrap()
}

/// The names of the tables of nftables.
pub(crate) fn tables(netns: &Netns) -> Vec<String> {
    let list = || {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
        let mut names = Vec::new();
        let request = Message::new(10 << 8 | 1, flags).raw(&[0; 4]);
        let each = |answer: sounding_qdisc::netlink::Received<'_>| {
            names.extend(Attributes::after(answer.content, 4).text(1));
        };
        netfilter().ask(request, each).unwrap();
        names
    };
    netns.enter(list).unwrap()
}

/// Runs a command, and gives what it prints.
pub(crate) fn run(netns: &Netns, line: &str) -> String {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let output = netns.enter(|| command.args(words).output().unwrap()).unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A server of HTTP that says who asks, and then sends some zeros.
fn serve(netns: &Netns, at: Ipv4Addr) {
    let listener = netns.enter(|| TcpListener::bind((at, PORT)).unwrap()).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request);
                let asker = stream.peer_addr().unwrap().ip();
                let body = format!("you are {asker}\n{}", "0".repeat(200_000));
                let _ = write!(
                    stream,
                    "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
            });
        }
    });
}

/// A resolver to which all names are those of one host on the Internet.
fn resolve(netns: &Netns) {
    let socket = netns.enter(|| UdpSocket::bind((RESOLVER, 53)).unwrap()).unwrap();
    std::thread::spawn(move || {
        let mut question = [0; 1500];
        while let Ok((length, asker)) = socket.recv_from(&mut question) {
            let question = &question[..length];
            // The header, the name, its type and its class (RFC 1035 section 4.1).
            let mut end = 12;
            while question[end] != 0 {
                end += 1 + usize::from(question[end]);
            }
            let is_address = question[end + 2] == 1;
            let mut answer = question[..end + 5].to_vec();
            answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(is_address), 0, 0, 0, 0]);
            if is_address {
                answer.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
                answer.extend(INTERNET.octets());
            }
            let _ = socket.send_to(&answer, asker);
        }
    });
}
