//! The name servers of this machine, for programs at the near end: at port 53 of the far end's
//! address. The machine's own may be on its loopback, or answer over IPv6 alone.
//!
//! Questions and answers are passed on unread. Each question over UDP has a socket of its own,
//! which is connected to one server. So an answer can only be that server's.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use sounding_host::{MAX_TEXT, read_text_at_most};

const PORT: u16 = 53;
/// Open questions, and connections. Chosen: a browser asks some ten at once.
const MOST_QUESTIONS: usize = 256;
const MOST_CONNECTIONS: usize = 16;
/// One server's time to answer. The C library asks again after five seconds, of all its servers.
const PATIENCE: Duration = Duration::from_millis(1500);
/// The C library's limit: MAXNS of resolv.conf(5).
const MOST_SERVERS: usize = 3;
/// How often it looks whether the emulation goes on.
const LOOK_MS: u16 = 200;

/// The relay; dropping it ends it.
#[derive(Debug)]
pub(crate) struct NameRelay {
    stop: Arc<AtomicBool>,
}

impl NameRelay {
    /// Starts it in this thread's network namespace. An error of `AddrInUse` says that a server of
    /// the machine answers there already.
    pub(crate) fn start(at: Ipv4Addr, client: Ipv4Addr) -> io::Result<Self> {
        let udp = UdpSocket::bind((at, PORT))?;
        let tcp = TcpListener::bind((at, PORT))?;
        udp.set_nonblocking(true)?;
        tcp.set_nonblocking(true)?;
        let stop = Arc::new(AtomicBool::new(false));
        let relay = Relay {
            udp,
            tcp,
            client,
            questions: Vec::new(),
            connections: Arc::default(),
            stop: stop.clone(),
        };
        thread::Builder::new().name("emu-names".into()).spawn(move || relay.run())?;
        Ok(Self { stop })
    }
}

impl Drop for NameRelay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct Relay {
    udp: UdpSocket,
    tcp: TcpListener,
    /// The near end. Every host of a network may send to every address of a machine.
    client: Ipv4Addr,
    questions: Vec<Question>,
    connections: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

struct Question {
    asker: SocketAddr,
    text: Vec<u8>,
    server: UdpSocket,
    /// Servers to ask if this one is silent.
    others: Vec<SocketAddr>,
    until: Instant,
}

impl Relay {
    fn run(mut self) {
        let mut buffer = vec![0; 1 << 16];
        while !self.stop.load(Ordering::Relaxed) {
            let (is_question, is_connection) = match self.wait() {
                Ok(ready) => ready,
                Err(_) => return,
            };
            if is_question {
                self.take_questions(&mut buffer);
            }
            if is_connection {
                self.take_connection();
            }
            self.pass_answers(&mut buffer);
        }
    }

    fn wait(&self) -> io::Result<(bool, bool)> {
        let sockets = [self.udp.as_fd(), self.tcp.as_fd()];
        let answers = self.questions.iter().map(|question| question.server.as_fd());
        let mut all: Vec<_> = sockets
            .into_iter()
            .chain(answers)
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
            .collect();
        match poll(&mut all, PollTimeout::from(LOOK_MS)) {
            Err(nix::errno::Errno::EINTR) => return Ok((false, false)),
            polled => polled?,
        };
        let is_ready = |at: usize| all[at].any().unwrap_or(false);
        Ok((is_ready(0), is_ready(1)))
    }

    fn take_questions(&mut self, buffer: &mut [u8]) {
        for _ in 0..MOST_QUESTIONS {
            let Ok((length, asker)) = self.udp.recv_from(buffer) else { return };
            if asker.ip() != IpAddr::V4(self.client) {
                continue;
            }
            if self.questions.len() >= MOST_QUESTIONS {
                self.questions.remove(0);
            }
            let text = buffer[..length].to_vec();
            self.questions.extend(Question::ask(asker, text, servers()));
        }
    }

    fn pass_answers(&mut self, buffer: &mut [u8]) {
        let now = Instant::now();
        for question in std::mem::take(&mut self.questions) {
            match question.server.recv(buffer) {
                Ok(length) => drop(self.udp.send_to(&buffer[..length], question.asker)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && now < question.until => {
                    self.questions.push(question);
                }
                // Silent, or nothing listens there.
                Err(_) => {
                    let Question { asker, text, others, .. } = question;
                    self.questions.extend(Question::ask(asker, text, others));
                }
            }
        }
    }

    fn take_connection(&self) {
        let Ok((stream, asker)) = self.tcp.accept() else { return };
        if asker.ip() != IpAddr::V4(self.client) {
            return;
        }
        let place = self.connections.clone();
        if place.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            place.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let serve = move || {
            // Either end may end it, and the asker sees how.
            let _ = converse(stream);
            place.fetch_sub(1, Ordering::Relaxed);
        };
        if thread::Builder::new().name("emu-names-tcp".into()).spawn(serve).is_err() {
            self.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Question {
    /// Asks the first server that can be asked; `None` if none can.
    fn ask(asker: SocketAddr, text: Vec<u8>, mut servers: Vec<SocketAddr>) -> Option<Self> {
        while !servers.is_empty() {
            let first = servers.remove(0);
            if let Ok(server) = send(first, &text) {
                let until = Instant::now() + PATIENCE;
                return Some(Self { asker, text, server, others: servers, until });
            }
        }
        None
    }
}

fn send(server: SocketAddr, text: &[u8]) -> io::Result<UdpSocket> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.set_nonblocking(true)?;
    socket.connect(server)?;
    socket.send(text)?;
    Ok(socket)
}

/// Passes messages of a connection on, each with its length before it (RFC 1035 section 4.2.2).
fn converse(mut asker: TcpStream) -> io::Result<()> {
    let settle = |stream: &TcpStream| {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(2 * PATIENCE))?;
        stream.set_write_timeout(Some(2 * PATIENCE))
    };
    settle(&asker)?;
    let connected =
        servers().into_iter().find_map(|server| TcpStream::connect_timeout(&server, PATIENCE).ok());
    let mut server = connected.ok_or(io::ErrorKind::NotConnected)?;
    settle(&server)?;
    loop {
        pass(&mut asker, &mut server)?;
        pass(&mut server, &mut asker)?;
    }
}

fn pass(from: &mut TcpStream, to: &mut TcpStream) -> io::Result<()> {
    let mut length = [0; 2];
    from.read_exact(&mut length)?;
    let mut message = length.to_vec();
    message.resize(2 + usize::from(u16::from_be_bytes(length)), 0);
    from.read_exact(&mut message[2..])?;
    to.write_all(&message)
}

/// The machine's name servers now: it may have come to another network.
fn servers() -> Vec<SocketAddr> {
    let text = read_text_at_most(Path::new("/etc/resolv.conf"), MAX_TEXT).unwrap_or_default();
    named(&text)
}

/// resolv.conf(5): without a server it is the one on this machine.
fn named(text: &str) -> Vec<SocketAddr> {
    let mut servers: Vec<SocketAddr> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some("nameserver")).then(|| words.next()?.parse::<IpAddr>().ok())?
        })
        .map(|server| SocketAddr::new(server, PORT))
        .take(MOST_SERVERS)
        .collect();
    if servers.is_empty() {
        servers.push((Ipv4Addr::LOCALHOST, PORT).into());
    }
    servers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_those_that_the_file_names_or_the_machine_itself() {
        let text = "# nameserver 9.9.9.9\nsearch lan\nnameserver 127.0.0.53\n nameserver  ::1 \n\
                    nameserver fe80::1%eth0\nnameserver 10.0.0.1\nnameserver 10.0.0.2\n";
        let named_there: Vec<String> = named(text).iter().map(ToString::to_string).collect();
        assert_eq!(named_there, ["127.0.0.53:53", "[::1]:53", "10.0.0.1:53"]);
        assert_eq!(named("options edns0\n"), [SocketAddr::from(([127, 0, 0, 1], 53))]);
    }
}
