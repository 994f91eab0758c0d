//! Instances, namespaces and sockets for tests that need the kernel.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use sounding_bpf::{Bound, Config, Feed, FeedEstimate, Instance, LawConfig, Radios, preflight};
use sounding_host::monotonic_now;
use sounding_laws::Law;
use sounding_units::Rate;

/// A name that no other test of this machine has. `None`, with a reported skip, if BISCAY cannot be
/// loaded.
pub(crate) fn name() -> Option<String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "bt{:x}_{:x}",
        std::process::id() & 0xff_ffff,
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    let missing = preflight(&name).into_iter().find(|check| !check.ok);
    if let Some(check) = missing {
        let cure = check.cure.unwrap_or_default();
        sounding_testdata::skip(
            sounding_testdata::Need::Kernel,
            format_args!("{}; {cure}", check.detail),
        );
        return None;
    }
    Some(name)
}

/// A loaded instance under a separate name.
pub(crate) fn load() -> Option<Instance> {
    load_with(LawConfig::default())
}

pub(crate) fn load_with(settings: LawConfig) -> Option<Instance> {
    load_config(Config { settings, ..Config::default() })
}

/// The same by another law.
pub(crate) fn load_law(law: Law) -> Option<Instance> {
    load_config(Config { law, ..Config::default() })
}

/// Its number in every namespace.
pub(crate) const LOOPBACK: u32 = 1;

/// A loaded instance to which the loopback of every namespace is the modem's device.
pub(crate) fn load_config(config: Config) -> Option<Instance> {
    let mut instance = load_without_a_radio(config)?;
    instance.set_radios(&Radios::of_one(&[LOOPBACK]).unwrap()).unwrap();
    Some(instance)
}

/// One to which no device was named.
pub(crate) fn load_without_a_radio(config: Config) -> Option<Instance> {
    let config = Config { name: name()?, ..config };
    Some(Instance::load(&config).unwrap_or_else(|error| panic!("{error}")))
}

pub(crate) fn capacity(mbit: u64) -> FeedEstimate {
    FeedEstimate {
        rate: Rate::from_bits_per_sec(mbit * 1_000_000),
        sampled_at: monotonic_now(),
        bound: Bound::Capacity,
        other_flows: 0,
    }
}

/// A daemon in little: publishes one estimate every 5 ms until dropped.
pub(crate) struct Daemon {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Daemon {
    pub(crate) fn publish(feed: &Feed, mbit: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (feed, stopped) = (feed.clone(), stop.clone());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                feed.publish(&capacity(mbit));
                feed.heartbeat(monotonic_now());
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Runs `work` on a thread in a separate network namespace, whose loopback is up with an ordinary
/// MTU and whose default congestion control is reno. The namespace goes with the thread.
pub(crate) fn in_netns<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            // A child starts in the namespace of the thread that spawns it.
            ip("link set lo mtu 1500 up");
            set_default("reno").unwrap();
            work()
        });
        match thread.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

pub(crate) fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
    assert!(status.success(), "ip {arguments}");
}

/// The congestion control of this namespace's new sockets.
pub(crate) fn set_default(name: &str) -> io::Result<()> {
    fs::write("/proc/sys/net/ipv4/tcp_congestion_control", name)
}

pub(crate) fn listen() -> TcpListener {
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap()
}

pub(crate) fn connect(listener: &TcpListener, to: Ipv4Addr) -> (TcpStream, TcpStream) {
    let port = listener.local_addr().unwrap().port();
    let near = TcpStream::connect(SocketAddrV4::new(to, port)).unwrap();
    let (far, _) = listener.accept().unwrap();
    (near, far)
}

pub(crate) fn connected() -> (TcpStream, TcpStream) {
    connect(&listen(), Ipv4Addr::LOCALHOST)
}

pub(crate) fn select(socket: &TcpStream, name: &str) -> io::Result<()> {
    // SAFETY: pointer and length describe `name`.
    let ret = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    };
    if ret < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What the kernel says the socket runs under.
pub(crate) fn selected(socket: &TcpStream) -> String {
    let mut name = [0u8; 16];
    let mut len = 16;
    // SAFETY: pointer and length describe `name`.
    let ret = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_mut_ptr().cast(),
            &mut len,
        )
    };
    assert_eq!(ret, 0, "{}", io::Error::last_os_error());
    name.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect()
}

/// Bytes going from one end of a connection to the other until dropped.
pub(crate) struct Bulk {
    pub(crate) sender: TcpStream,
    read: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Bulk {
    pub(crate) fn start((sender, receiver): (TcpStream, TcpStream)) -> Self {
        let read = Arc::new(AtomicU64::new(0));
        let (mut source, mut sink, count) = (sender.try_clone().unwrap(), receiver, read.clone());
        let threads = vec![
            thread::spawn(move || while source.write_all(&[0; 1 << 16]).is_ok() {}),
            thread::spawn(move || {
                let mut buffer = vec![0; 1 << 18];
                while let Ok(len @ 1..) = sink.read(&mut buffer) {
                    count.fetch_add(len as u64, Ordering::Relaxed);
                }
            }),
        ];
        Self { sender, read, threads }
    }

    /// Bytes that have arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        let _ = self.sender.shutdown(std::net::Shutdown::Both);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

/// Waits until `found` has something, at most ten seconds.
pub(crate) fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    for _ in 0..2_000 {
        if let Some(value) = found() {
            return value;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("waited ten seconds for {what}");
}

/// What the kernel logs from here on.
pub(crate) struct KernelLog(OwnedFd);

impl KernelLog {
    pub(crate) fn watch() -> Self {
        // SAFETY: a plain system call on a constant path.
        let fd = unsafe {
            libc::open(c"/dev/kmsg".as_ptr(), libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC)
        };
        assert!(fd >= 0, "/dev/kmsg: {}", io::Error::last_os_error());
        // SAFETY: a descriptor that the kernel has just made for us.
        let log = Self(unsafe { OwnedFd::from_raw_fd(fd) });
        // SAFETY: as above.
        unsafe { libc::lseek(log.0.as_raw_fd(), 0, libc::SEEK_END) };
        log
    }

    /// Log lines that show a defect in the kernel.
    pub(crate) fn alarms(&self) -> Vec<String> {
        let mut alarms = Vec::new();
        let mut record = [0u8; 8192];
        loop {
            // SAFETY: pointer and length describe `record`.
            let len =
                unsafe { libc::read(self.0.as_raw_fd(), record.as_mut_ptr().cast(), record.len()) };
            let Ok(len @ 1..) = usize::try_from(len) else { return alarms };
            let line = String::from_utf8_lossy(&record[..len]);
            if ["WARNING", "BUG", "Oops", "Call Trace", "refcount", "stall"]
                .iter()
                .any(|word| line.contains(word))
            {
                alarms.push(line.into_owned());
            }
        }
    }
}
