//! The server's thread: it takes news, and turns for its clients.

use std::io::{ErrorKind, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use sounding_feed::Greeting;
use sounding_host::{Capabilities, spawn_with_only};

use crate::answer;
use crate::connection::{Connection, Known};
use crate::metrics::Own;
use crate::news::{Feeder, News, Wake};
use crate::request::{Door, Refusal};
use crate::store::Store;
use crate::{ServeError, token};

/// Clients at most.
const MOST: usize = 64;

/// New clients in one turn at most.
const AT_ONCE: usize = 16;

/// News that wait at most: a second of four modems.
const WAITING: usize = 1024;

/// The longest wait. News without a client that waits for them are taken then.
const TURN: Duration = Duration::from_millis(100);

/// Where to serve, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address.
    pub address: SocketAddr,
    /// Other names of this server.
    pub hosts: Vec<String>,
    /// The file of the token; `None` if everyone may read who reaches the address.
    pub token: Option<PathBuf>,
    /// The longest time between two lines of a modem's direction.
    pub longest_gap: Duration,
}

/// A server. Dropping it ends its thread and closes its clients.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    feeder: Feeder,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Takes the address and begins. The thread has no rights and the calling thread's priority.
    ///
    /// # Errors
    ///
    /// [`ServeError`] if the address is taken, or the token cannot be read or made.
    pub fn start(settings: &Settings) -> Result<Self, ServeError> {
        let token = settings.token.as_deref().map(token::read_or_make).transpose()?;
        let fail = |source| ServeError::Address { address: settings.address, source };
        let listener = TcpListener::bind(settings.address).map_err(fail)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let door = Door { address, hosts: settings.hosts.clone(), token };
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let event = EventFd::from_flags(flags).map_err(std::io::Error::from)?;
        let wake = Arc::new(Wake { event, for_lines: AtomicBool::new(false) });
        let (news, to_take) = mpsc::sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let feeder = Feeder { news, wake: Arc::clone(&wake), lost: Arc::clone(&lost) };
        let greeting = serde_json::to_string(&Greeting::new(settings.longest_gap));
        let turns = Turns {
            listener,
            door,
            news: to_take,
            wake,
            lost,
            stop: Arc::clone(&stop),
            greeting: event_of(greeting.unwrap_or_default().as_bytes()),
            began: Instant::now(),
            rests_until: None,
            store: Store::default(),
            own: Own::default(),
            clients: Vec::new(),
        };
        let thread = spawn_with_only(Capabilities::empty(), "serve", move || turns.run())?;
        Ok(Self { address, feeder, stop, thread: Some(thread) })
    }

    /// Its address, with the port that it has.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The way of news to it.
    pub const fn feeder(&self) -> &Feeder {
        &self.feeder
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.feeder.wake.now();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An event of a stream, from a line of the feed.
fn event_of(line: &[u8]) -> Arc<[u8]> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    [b"data: ", text, b"\n\n"].concat().into()
}

/// The thread's side.
struct Turns {
    listener: TcpListener,
    door: Door,
    news: Receiver<News>,
    wake: Arc<Wake>,
    lost: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    greeting: Arc<[u8]>,
    began: Instant,
    /// No client is accepted until then: the system had no descriptor left.
    rests_until: Option<Instant>,
    store: Store,
    own: Own,
    clients: Vec<Connection>,
}

impl Turns {
    fn run(mut self) {
        while !self.stop.load(Ordering::Relaxed) {
            let ready = self.wait();
            let now = Instant::now();
            self.take_news(now);
            self.store.attend(now);
            self.own.up = now - self.began;
            self.own.lost = self.lost.load(Ordering::Relaxed);
            self.own.clients = self.clients.len();
            self.turn_for(now, &ready);
            self.accept(now);
            let waits = self.clients.iter().any(Connection::is_feed);
            self.wake.for_lines.store(waits, Ordering::Relaxed);
        }
    }

    /// Waits for news or a client, and says which clients are ready.
    fn wait(&self) -> Vec<bool> {
        let mut all = vec![PollFd::new(self.wake.event.as_fd(), PollFlags::POLLIN)];
        let listens = self.rests_until.is_none();
        let accepts = if listens { PollFlags::POLLIN } else { PollFlags::empty() };
        all.push(PollFd::new(self.listener.as_fd(), accepts));
        let clients = self.clients.iter();
        all.extend(clients.map(|client| PollFd::new(client.socket.as_fd(), client.interest())));
        let timeout = PollTimeout::try_from(TURN).unwrap_or(PollTimeout::MAX);
        if poll(&mut all, timeout).is_err() {
            // A signal came. Nothing is ready, and the next turn looks again.
            return vec![false; self.clients.len()];
        }
        let _ = self.wake.event.read();
        all[2..].iter().map(|fd| fd.any().unwrap_or(true)).collect()
    }

    fn take_news(&mut self, now: Instant) {
        for news in self.news.try_iter().take(WAITING) {
            if let News::Line(_, text) = &news {
                let event = event_of(text);
                self.clients.iter_mut().for_each(|client| client.push(&event, now));
            }
            self.store.handle(news);
        }
    }

    /// Does what is due for clients: those that are ready, wait for a line, or are late.
    fn turn_for(&mut self, now: Instant, ready: &[bool]) {
        let Self { store, door, own, greeting, clients, .. } = self;
        let mut known = Known { store, door, own, greeting };
        let mut at = 0;
        clients.retain_mut(|client| {
            let is_ready = ready.get(at).copied().unwrap_or(true);
            at += 1;
            client.turn_if(is_ready, now, &mut known)
        });
    }

    /// Makes place: the oldest client goes that has not shown the token. Otherwise anyone could
    /// hold all places.
    fn drop_unknown(&mut self) -> bool {
        let unknown = self.clients.iter().position(Connection::is_unknown);
        unknown.map(|at| drop(self.clients.remove(at))).is_some()
    }

    fn accept(&mut self, now: Instant) {
        if self.rests_until.is_some_and(|until| now < until) {
            return;
        }
        self.rests_until = None;
        for _ in 0..AT_ONCE {
            let mut socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(_) => {
                    self.rests_until = Some(now + TURN);
                    return;
                }
            };
            if self.clients.len() >= MOST && !self.drop_unknown() {
                self.own.refused += 1;
                // The answer fits into the empty socket, or the client does without.
                let _ = socket.set_nonblocking(true);
                let _ = socket.write(&answer::refused(Refusal::Full, false));
                continue;
            }
            let Ok(mut client) = Connection::new(socket, now) else { continue };
            let Self { store, door, own, greeting, .. } = self;
            let mut known = Known { store, door, own, greeting };
            if client.turn_if(true, now, &mut known) {
                self.clients.push(client);
            }
        }
    }
}

impl Connection {
    /// Turns if there is something to do; `false` closes it.
    fn turn_if(&mut self, is_ready: bool, now: Instant, known: &mut Known<'_>) -> bool {
        if is_ready || self.is_due(now) {
            return self.turn(now, known).unwrap_or(false);
        }
        true
    }
}
