//! A download of a command from a server that knows nothing of it, and a rival at another device of
//! the cell.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::fd::AsRawFd as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_emu::{Direction, Emulation, monotonic_now};
use sounding_sim::Device;
use sounding_testbed::flow::TcpFlow;
use sounding_testdata::steadily;
use sounding_units::HostInstant;

use crate::cell::PLAN;
use crate::rig::{emulated, rate, skipped};

/// Receives all it can, and prints how much it was, ten times a second.
const CLIENT: &str = "
import os, socket, sys, time
s = socket.create_connection((os.environ['FAR'], int(os.environ['PORT'])))
s.settimeout(0.1)
count, shown = 0, time.monotonic()
while True:
    try:
        data = s.recv(1 << 20)
        if not data: break
        count += len(data)
    except TimeoutError: pass
    now = time.monotonic()
    if now >= shown + 0.1:
        shown = now
        print(int(now * 1e9), count, flush=True)
";

/// A server at the far end that sends all it can, under CUBIC.
fn server(emulation: &Emulation) -> u16 {
    let address = emulation.far_address();
    let listener = emulation.far().enter(|| TcpListener::bind((address, 0)).unwrap()).unwrap();
    let name = b"cubic";
    // SAFETY: the kernel reads so many bytes of the name.
    let set = unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            thread::spawn(move || while connection.write_all(&[0; 1 << 16]).is_ok() {});
        }
    });
    port
}

/// A running download, and what it had by when.
struct Download {
    child: Child,
    seen: Arc<Mutex<Vec<(HostInstant, u64)>>>,
    reader: thread::JoinHandle<String>,
}

impl Download {
    fn start(emulation: &Emulation, port: u16, words: &[&str]) -> Self {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["python3", "-c", CLIENT]);
        command.env_remove("SUDO_UID").env_remove("SUDO_GID").stdin(Stdio::null());
        command.env("FAR", emulation.far_address().to_string()).env("PORT", port.to_string());
        emulation.host(Device(0)).unwrap().bring_in(&mut command);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = seen.clone();
        let reader = thread::spawn(move || {
            let mut line = String::new();
            while said.read_line(&mut line).unwrap() > 0 {
                let mut numbers = line.split_whitespace().map(str::parse::<u64>);
                let (Some(Ok(at)), Some(Ok(count))) = (numbers.next(), numbers.next()) else {
                    break;
                };
                kept.lock().unwrap().push((HostInstant::from_nanos(at), count));
                line.clear();
            }
            let _ = said.read_to_string(&mut line);
            line
        });
        Self { child, seen, reader }
    }

    /// Megabits a second between two times.
    fn rate(&self, from: HostInstant, to: HostInstant) -> f64 {
        let seen = self.seen.lock().unwrap();
        let at = |time| seen.iter().take_while(|(at, _)| *at <= time).last().map_or(0, |(_, n)| *n);
        (at(to) - at(from)) as f64 * 8e-6 / (to - from).as_secs_f64()
    }

    /// Ends it; what it said at the end.
    fn end(mut self) -> String {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).unwrap();
        self.child.wait().unwrap();
        self.reader.join().unwrap()
    }
}

fn seconds(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[test]
fn a_download_from_any_server_yields_by_its_receive_window() {
    if skipped() {
        return;
    }
    steadily(|| {
        let cell = emulated(PLAN);
        let emulation = cell.emulation();
        let port = server(emulation);
        let program = assert_cmd::cargo::cargo_bin!("sounding");
        let words = [program.to_str().unwrap(), "background", "--downloads", "--json", "-", "--"];
        let download = Download::start(emulation, port, &words);
        // The law takes some twelve seconds to learn the cell.
        thread::sleep(seconds(20));
        let came = monotonic_now();
        let flow = TcpFlow {
            device: Device(1),
            congestion: Some("cubic".into()),
            sample_every: Duration::from_millis(50),
            ..TcpFlow::new(Direction::Downlink)
        };
        let rival = flow.start(emulation).unwrap();
        thread::sleep(seconds(12));
        let rival = rival.abort().unwrap();
        let went = monotonic_now();
        thread::sleep(seconds(12));
        let held = download.rate(came.saturating_before(seconds(5)), came);
        let yields = download.rate(came + seconds(2), went);
        let has = rate(&rival, came + seconds(2), went);
        let again = download.rate(went + seconds(8), went + seconds(12));
        let by_second: Vec<String> = (0..44)
            .map(|second| came.saturating_before(seconds(20)) + seconds(second))
            .map(|from| format!("{:.1}", download.rate(from, from + seconds(1))))
            .collect();
        let said = download.end();
        cell.stop().unwrap();
        let _ = writeln!(
            std::io::stderr(),
            "it held {held:.1}, beside the rival {yields:.2}, rival {has:.1}, again {again:.1}: {}\n{said}",
            by_second.join(" ")
        );
        let ended: Json = serde_json::from_str(said.trim()).unwrap();
        assert_eq!(ended["downloads"], 1, "{ended}");
        // A cell of 10 MHz carries 38 Mbit/s of data at 20 dB.
        assert!(held > 30.0, "it held {held}");
        assert!(yields <= 0.25 * held, "beside a rival it held {yields} of {held}");
        assert!(has >= 0.75 * held, "the rival has {has}");
        assert!(again >= 0.75 * held, "it took {again} of {held} again");
    });
}
