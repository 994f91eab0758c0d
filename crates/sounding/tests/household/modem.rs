//! A modem that fails: what stands between a reader and the modelled modem.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_emu::Netns;

/// Interval at which blocked calls look whether the modem has become another.
const LOOK: Duration = Duration::from_millis(5);

/// What a reader has of the modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    /// All that it sends.
    Well,
    /// No port: a connection is refused.
    Gone,
    /// An open port without a byte.
    Silent,
    /// As many bytes as it sends, and of no record.
    Garbage,
}

const ALL: [Now; 4] = [Now::Well, Now::Gone, Now::Silent, Now::Garbage];

/// A port in another namespace. Dropping it takes the port away.
pub(crate) struct Modem {
    address: SocketAddr,
    port: Port,
    threads: Vec<JoinHandle<()>>,
}

impl Modem {
    /// Over the modem at `source`, which listens in this process's namespace.
    pub(crate) fn start(netns: &Netns, address: Ipv4Addr, source: &str) -> Self {
        let behind: SocketAddr = source.strip_prefix("tcp:").unwrap().parse().unwrap();
        let listener = netns.enter(|| TcpListener::bind((address, 0)).unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let port = Port::default();
        let (readers, to_serve) = channel();
        let (accepting, serving) = (port.clone(), port.clone());
        let accept = move || accepting.accept(address, listener, &readers);
        let inside = netns.spawn_thread("modem-port", accept).unwrap();
        let inside = thread::spawn(move || inside.join().unwrap().unwrap());
        let outside = thread::spawn(move || serving.serve(behind, &to_serve));
        Self { address, port, threads: vec![inside, outside] }
    }

    pub(crate) fn source(&self) -> String {
        format!("tcp:{}", self.address)
    }

    pub(crate) fn become_now(&self, now: Now) {
        self.port.now.store(now as u8, Ordering::Relaxed);
    }
}

impl Drop for Modem {
    fn drop(&mut self) {
        self.port.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[derive(Clone, Default)]
struct Port {
    now: Arc<AtomicU8>,
    is_over: Arc<AtomicBool>,
}

impl Port {
    fn now(&self) -> Now {
        ALL[usize::from(self.now.load(Ordering::Relaxed))]
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn accept(&self, address: SocketAddr, first: TcpListener, readers: &Sender<TcpStream>) {
        let mut listener = Some(first);
        while !self.is_over() {
            if self.now() == Now::Gone {
                listener = None;
                thread::sleep(LOOK);
                continue;
            }
            let port = listener.get_or_insert_with(|| TcpListener::bind(address).unwrap());
            port.set_nonblocking(true).unwrap();
            match port.accept() {
                Ok((reader, _)) => readers.send(reader).unwrap(),
                Err(_) => thread::sleep(LOOK),
            }
        }
    }

    fn serve(&self, behind: SocketAddr, readers: &Receiver<TcpStream>) {
        // One after the other, as a port has one reader.
        for reader in readers {
            let _ = self.hand_on(&reader, behind);
            let _ = reader.shutdown(Shutdown::Both);
        }
    }

    fn hand_on(&self, reader: &TcpStream, behind: SocketAddr) -> io::Result<()> {
        let modem = TcpStream::connect(behind)?;
        for stream in [reader, &modem] {
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(LOOK))?;
        }
        thread::scope(|scope| {
            scope.spawn(|| self.copy(reader, &modem, false));
            self.copy(&modem, reader, true);
        });
        Ok(())
    }

    /// Copies until one end closes, or the modem goes.
    fn copy(&self, mut from: &TcpStream, mut to: &TcpStream, is_modem: bool) {
        let mut buffer = vec![0; 1 << 16];
        let mut state = 1_u32;
        while !self.is_over() && self.now() != Now::Gone {
            let count = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(_) => break,
            };
            let bytes = &mut buffer[..count];
            match self.now() {
                Now::Silent => continue,
                Now::Garbage if !is_modem => continue,
                Now::Garbage => bytes.fill_with(|| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                }),
                Now::Well | Now::Gone => {}
            }
            if to.write_all(bytes).is_err() {
                break;
            }
        }
        for stream in [from, to] {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
