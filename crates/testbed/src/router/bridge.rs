//! The modem's port in another namespace: the modelled modem listens on this machine's loopback
//! device, which a guest does not reach.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sounding_emu::Netns;

use super::RouterError;

/// Interval of looks for a reader.
const LOOK: Duration = Duration::from_millis(10);

/// Hands each connection on to the modem. Dropping it ends all.
#[derive(Debug)]
pub(super) struct ModemBridge {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ModemBridge {
    /// Listens at a free port of this address.
    pub(super) fn start(
        netns: &Netns,
        address: Ipv4Addr,
        modem: SocketAddrV4,
    ) -> Result<Self, RouterError> {
        let system = |source| RouterError::System { doing: "listen for a reader", source };
        let listener = netns.enter(|| TcpListener::bind((address, 0)))?.map_err(system)?;
        listener.set_nonblocking(true).map_err(system)?;
        let address = listener.local_addr().map_err(system)?;
        let stop = Arc::new(AtomicBool::new(false));
        let until = stop.clone();
        // This thread is in this process's namespace, where the modem listens.
        let thread = thread::Builder::new()
            .name("modem-bridge".into())
            .spawn(move || serve(&listener, modem, &until))
            .map_err(system)?;
        Ok(Self { address, stop, thread: Some(thread) })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for ModemBridge {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, modem: SocketAddrV4, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        // One after the other, as a port has one reader.
        match listener.accept() {
            Ok((reader, _)) => {
                // Where the modem's port is gone, the reader finds its own closed.
                let _ = hand_on(&reader, modem, stop);
                let _ = reader.shutdown(Shutdown::Both);
            }
            Err(_) => thread::sleep(LOOK),
        }
    }
}

/// Copies both ways until one end closes.
fn hand_on(reader: &TcpStream, modem: SocketAddrV4, stop: &AtomicBool) -> io::Result<()> {
    let modem = TcpStream::connect(modem)?;
    for stream in [reader, &modem] {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(10 * LOOK))?;
    }
    thread::scope(|scope| {
        let requests = thread::Builder::new().spawn_scoped(scope, || copy(reader, &modem, stop))?;
        copy(&modem, reader, stop);
        let _ = requests.join();
        Ok(())
    })
}

fn copy(mut from: &TcpStream, mut to: &TcpStream, stop: &AtomicBool) {
    let mut buffer = vec![0; 1 << 16];
    while !stop.load(Ordering::Relaxed) {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) if to.write_all(&buffer[..count]).is_ok() => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock) => {}
            _ => break,
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
