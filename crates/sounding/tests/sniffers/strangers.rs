//! Who may be at the port of a sniffer's service on this host, and what a flood from there costs.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg};
use serde_json::Value as Json;
use sounding_testbed::daemon::Daemon;
use sounding_testdata::{STRANGER, as_stranger, steadily};
use sounding_trace::dci::{Dci, Remote};

use crate::{Cell, PROGRAM, SECOND, of, skipped};

/// A daemon beside a modem, and a service on loopback whose socket is this one. Returns its events
/// after `send` has sent to the daemon's address.
fn beside_service(
    cell: &Cell,
    service: &UdpSocket,
    more: &[&str],
    send: impl FnOnce(SocketAddr),
) -> Vec<Json> {
    service.set_read_timeout(Some(20 * SECOND)).unwrap();
    let (_modem, port) = cell.modem();
    let sniffer = format!("udp:{}", service.local_addr().unwrap());
    let flags = ["--method", "cell", "--sniffer", &sniffer, "--direction", "downlink"];
    let flags = [&flags[..], more].concat();
    let daemon = Daemon::start(Path::new(PROGRAM), &port, "biscay_sn", &flags).unwrap();
    let (_, client) = service.recv_from(&mut [0; 16]).unwrap();
    service.send_to(&Remote::emit_config(&[50]), client).unwrap();
    send(client);
    daemon.stop()
}

#[test]
fn a_user_that_takes_the_sniffers_port_changes_no_share_unless_it_is_named() {
    if skipped() {
        return;
    }
    let Some(theirs) = as_stranger(|| UdpSocket::bind("127.0.0.1:0").unwrap()) else { return };
    let user = STRANGER.to_string();
    let cell = Cell::new();
    steadily(|| {
        for named in [false, true] {
            let flags = ["--sniffer-user", &user];
            let flags = if named { &flags[..] } else { &[] };
            let events = beside_service(&cell, &theirs, flags, |client| {
                cell.send(Duration::ZERO, 2 * SECOND, |moment, sent| {
                    let _ = theirs.send_to(&Remote::emit_subframe(moment, sent), client);
                });
            });
            let fair = of(&events, "estimate");
            let fair = fair.filter(|event| !event["fair_share_bits_per_sec"].is_null()).count();
            assert_eq!(fair > 50, named, "{fair} estimates with a fair share");
            let counts = &of(&events, "done").next().unwrap()["sniffers"][0];
            assert_eq!(counts["messages"].as_u64() > Some(0), named, "{counts}");
            assert_eq!(counts["foreign"].as_u64() > Some(1000), !named, "{counts}");
            let state = of(&events, "sniffer").next().unwrap();
            if named {
                assert_eq!(state["state"], "heard", "{state}");
            } else {
                let reason = state["reason"].as_str().unwrap();
                assert!(reason.contains(&format!("user {user}")), "{state}");
                assert!(reason.contains("--sniffer-user"), "{state}");
                assert!(of(&events, "sniffer_bad").count() > 0);
            }
        }
    });
}

#[test]
fn a_user_that_takes_the_services_port_at_another_address_is_not_believed() {
    if skipped() {
        return;
    }
    let cell = Cell::new();
    steadily(|| {
        let service = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = service.local_addr().unwrap();
        let bind = || UdpSocket::bind(("127.0.0.66", at.port())).unwrap();
        let Some(theirs) = as_stranger(bind) else { return };
        let events = beside_service(&cell, &service, &[], |client| {
            cell.send(Duration::ZERO, SECOND, |moment, sent| {
                send_as(&theirs, at, client, &Remote::emit_subframe(moment, sent));
            });
        });
        let counts = &of(&events, "done").next().unwrap()["sniffers"][0];
        assert_eq!(counts["messages"], 0, "{counts}");
        assert!(counts["foreign"].as_u64() > Some(500), "{counts}");
    });
}

/// Sends in the name of another address of this host (`IP_PKTINFO`).
fn send_as(socket: &UdpSocket, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
    let IpAddr::V4(from) = from.ip() else { panic!("IPv4") };
    let info = libc::in_pktinfo {
        ipi_ifindex: 0,
        ipi_spec_dst: libc::in_addr { s_addr: u32::from_ne_bytes(from.octets()) },
        ipi_addr: libc::in_addr { s_addr: 0 },
    };
    let parts = [IoSlice::new(bytes)];
    let control = [ControlMessage::Ipv4PacketInfo(&info)];
    let to = SockaddrStorage::from(to);
    let _ = sendmsg(socket.as_raw_fd(), &parts, &control, MsgFlags::empty(), Some(&to));
}

#[test]
fn a_flood_from_the_sniffers_port_delays_no_heartbeat() {
    if skipped() {
        return;
    }
    let cell = Cell::new();
    // As many messages as a datagram holds, of other users in each.
    let mut subframes = cell.subframes.iter().filter(|(_, sent)| !sent.is_empty());
    let (moment, sent) = subframes.next().unwrap();
    let crowded = |rnti: u16| {
        let messages: Vec<Dci> =
            (0..40).map(|at| Dci { rnti: rnti + at, prb: 1 + at, ..sent[0] }).collect();
        Remote::emit_subframe(*moment, &messages)
    };
    let crowded: Vec<_> = (0..500_u16).map(|at| crowded(100 + 40 * at)).collect();
    steadily(|| {
        let service = UdpSocket::bind("127.0.0.1:0").unwrap();
        let events = beside_service(&cell, &service, &[], |client| {
            let end = Instant::now() + 3 * SECOND;
            while Instant::now() < end {
                for datagram in &crowded {
                    let _ = service.send_to(datagram, client);
                }
            }
        });
        let done = of(&events, "done").next().unwrap();
        let counts = &done["sniffers"][0];
        assert!(counts["messages"].as_u64() > Some(500_000), "{counts}");
        assert!(counts["dropped"].as_u64() > Some(0), "{counts}");
        assert_eq!(done["late_heartbeats"], 0, "{:?}", of(&events, "late").collect::<Vec<_>>());
    });
}
