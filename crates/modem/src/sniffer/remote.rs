//! NG-Scope's service over UDP, asked for its messages until they come.
//!
//! Nothing is received but from the address that is named: the socket is connected to it. One on loopback is asked from
//! loopback alone. Who sends from that address is not known: over a network it takes a path that no other can send on.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use sounding_trace::dci::{REQUEST, Remote};

use super::{Batch, Outlet};

/// How long a datagram is waited for before it is looked whether any is wanted.
const PATIENCE: Duration = Duration::from_millis(50);

/// A service that sends nothing for this long is asked again: it may have been started anew, and forgets whom it served.
const ASKS: Duration = Duration::from_secs(1);

/// The longest datagram there is.
const LONGEST: usize = 1 << 16;

/// Receives until nothing is wanted any more.
pub(super) fn run(address: SocketAddr, outlet: &Outlet) {
    let mut buffer = vec![0; LONGEST];
    let mut remote = Remote::new();
    loop {
        let outcome =
            connect(address).and_then(|socket| receive(&socket, &mut remote, &mut buffer, outlet));
        match outcome {
            Ok(()) => return,
            Err(error) if outlet.fail(&error) => thread::sleep(PATIENCE),
            Err(_) => return,
        }
    }
}

fn connect(address: SocketAddr) -> io::Result<UdpSocket> {
    let local: IpAddr = match address.ip() {
        ip if ip.is_loopback() => ip,
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // NG-Scope serves five addresses and forgets none: a client that is started again had better have the one it had.
    let usual = address.port().checked_add(1).map(|port| SocketAddr::new(local, port));
    let socket = usual.map(UdpSocket::bind).and_then(Result::ok);
    let socket = socket.map_or_else(|| UdpSocket::bind(SocketAddr::new(local, 0)), Ok)?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

fn receive(
    socket: &UdpSocket,
    remote: &mut Remote,
    buffer: &mut [u8],
    outlet: &Outlet,
) -> io::Result<()> {
    let mut batch = Batch::default();
    let mut asks = Instant::now();
    loop {
        if asks <= Instant::now() {
            asks = Instant::now() + ASKS;
            // What is not there yet is asked again.
            let _ = socket.send(&REQUEST);
        }
        batch.works = false;
        match socket.recv(buffer) {
            Ok(count) => {
                batch.works = true;
                asks = Instant::now() + ASKS;
                let read = remote.handle_datagram(&buffer[..count], |one| batch.heard.push(one));
                batch.bad = read.err().map(|error| error.to_string());
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => {}
                io::ErrorKind::ConnectionRefused => {
                    outlet.fail("no service answers there");
                }
                _ => return Err(error),
            },
        }
        (batch.counts, batch.of_one_user) = (remote.counts(), remote.of_one_user());
        if !outlet.pass(&mut batch) {
            return Ok(());
        }
    }
}
