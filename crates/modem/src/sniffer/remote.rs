//! NG-Scope's service over UDP, asked for its messages until they come.
//!
//! Nothing is received but from the address that is named: the socket is connected to it. One on
//! loopback is asked from loopback alone. Who sends from that address is not known. On this host
//! the owner of the port is (see [`Trusted`]). Over a network it takes a path that no other can
//! send on.
//!
//! Datagrams are read in rounds, and the owner is looked up after each: a datagram counts only if
//! it came before a look that found no other owner. A user that takes the port on another of this
//! host's addresses, sends, and gives it back before that look is not seen.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd as _;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use sounding_trace::dci::{REQUEST, Remote};

use super::{Batch, Outlet, Trusted};

/// How long a datagram is waited for before it is looked whether any is wanted.
const PATIENCE: Duration = Duration::from_millis(50);

/// A service that sends nothing for this long is asked again: it may have been started anew, and
/// forgets whom it served.
const ASKS: Duration = Duration::from_secs(1);

/// Datagrams of a round at most, and the pause after it. A cell has one a millisecond, and some are
/// late; of a flood the kernel drops what is more. Estimates come every 10 ms.
const ROUND: usize = 64;
const PAUSE: Duration = Duration::from_millis(2);

/// The longest datagram there is.
const LONGEST: usize = 1 << 16;

/// Receives until nothing is wanted any more.
pub(super) fn run(address: SocketAddr, trusted: Trusted, outlet: &Outlet) {
    let mut service = Service { remote: Remote::new(), buffer: vec![0; LONGEST], foreign: 0 };
    loop {
        let outcome = connect(address).and_then(|socket| {
            // The kernel gives a socket that is connected to this host the same address.
            let is_here = socket.local_addr()?.ip() == address.ip();
            service.receive(&socket, is_here.then_some((trusted, address.port())), outlet)
        });
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
    // NG-Scope serves five addresses and forgets none: a client that is started again had better
    // have the one it had.
    let usual = address.port().checked_add(1).map(|port| SocketAddr::new(local, port));
    let socket = usual.map(UdpSocket::bind).and_then(Result::ok);
    let socket = socket.map_or_else(|| UdpSocket::bind(SocketAddr::new(local, 0)), Ok)?;
    socket.connect(address)?;
    // Until here anybody could send to it.
    while recv(socket.as_raw_fd(), &mut [0], MsgFlags::MSG_DONTWAIT).is_ok() {}
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// What was met of a service.
struct Service {
    remote: Remote,
    buffer: Vec<u8>,
    foreign: u64,
}

impl Service {
    /// Receives until nothing is wanted any more. `here` says whose a service on this host may be,
    /// and its port.
    fn receive(
        &mut self,
        socket: &UdpSocket,
        here: Option<(Trusted, u16)>,
        outlet: &Outlet,
    ) -> io::Result<()> {
        let mut asks = Instant::now();
        loop {
            if asks <= Instant::now() {
                asks = Instant::now() + ASKS;
                // A service that does not answer yet is asked again.
                let _ = socket.send(&REQUEST);
            }
            let mut batch = Batch::default();
            let begin = self.remote.clone();
            let count = self.round(socket, &mut batch, outlet)?;
            if count > 0 {
                asks = Instant::now() + ASKS;
                match here.map_or(Ok(()), |(trusted, port)| trusted.check(port)) {
                    Ok(()) => batch.works = true,
                    Err(stranger) => {
                        self.remote = begin;
                        self.foreign += count as u64;
                        batch = Batch::default();
                        outlet.fail(stranger);
                    }
                }
            }
            batch.counts = self.remote.counts();
            (batch.of_one_user, batch.foreign) = (self.remote.of_one_user(), self.foreign);
            if !outlet.pass(&mut batch) {
                return Ok(());
            }
            if count > 0 {
                thread::sleep(PAUSE);
            }
        }
    }

    /// Waits for a datagram and reads those that came with it. Returns how many.
    fn round(
        &mut self,
        socket: &UdpSocket,
        batch: &mut Batch,
        outlet: &Outlet,
    ) -> io::Result<usize> {
        let mut count = 0;
        while count < ROUND {
            let flags = if count == 0 { MsgFlags::empty() } else { MsgFlags::MSG_DONTWAIT };
            match recv(socket.as_raw_fd(), &mut self.buffer, flags) {
                Ok(len) => {
                    count += 1;
                    let datagram = &self.buffer[..len];
                    let read = self.remote.handle_datagram(datagram, |one| batch.heard.push(one));
                    batch.bad = read.err().map(|error| error.to_string()).or(batch.bad.take());
                }
                Err(Errno::EAGAIN | Errno::EINTR) => break,
                Err(Errno::ECONNREFUSED) => {
                    outlet.fail("no service answers there");
                    break;
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(count)
    }
}
