//! A small HTTP server for one page, and the page's report.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use super::site::{REPORT, Site};
use crate::experiment::Failed;

/// How often a connection without a request looks whether the server ends.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A browser that was ended reads no more, and its server does not wait for it.
const WRITE_WITHIN: Duration = Duration::from_secs(60);

/// No request is longer.
const LONGEST: usize = 16 << 10;

/// What the page reports, by the browser's own clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Loaded {
    /// From the start of the navigation to the end of the load event.
    pub(super) load_ms: f64,
    /// When the navigation started, in milliseconds of Unix time.
    pub(super) started_unix_ms: f64,
    /// Parts that the browser has fetched,
    pub(super) parts: usize,
    /// and their bytes.
    pub(super) bytes: usize,
}

impl Loaded {
    /// Of the text behind the question mark.
    fn parse(query: &str) -> Option<Self> {
        let value = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let positive = |name: &str| -> Option<f64> {
            value(name)?.parse().ok().filter(|it: &f64| it.is_finite() && *it > 0.0)
        };
        Some(Self {
            load_ms: positive("load")?,
            started_unix_ms: positive("origin")?,
            parts: value("parts")?.parse().ok()?,
            bytes: value("bytes")?.parse().ok()?,
        })
    }
}

/// Serves until the page has reported to `reports`, while `work` runs, which is given the port.
///
/// After a report all connections are closed while the browser still answers. Otherwise the kernel
/// would repeat their ends into the next emulation, which has the same addresses.
pub(super) fn serve<T>(
    site: &Site,
    reports: &Sender<Loaded>,
    work: impl FnOnce(u16) -> Result<T, Failed>,
) -> Result<T, Failed> {
    // The address that the browser sees is made with the emulation.
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let port = listener.local_addr()?.port();
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        let accepting = move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let reports = reports.clone();
                if let Ok(stream) = stream {
                    // The browser may close a connection at any time.
                    let talk = move || drop(converse(stream, site, &reports, is_over));
                    let _ = thread::Builder::new().spawn_scoped(scope, talk);
                }
            }
        };
        thread::Builder::new().spawn_scoped(scope, accepting)?;
        let done = work(port);
        is_over.store(true, Ordering::Relaxed);
        // This wakes the thread that accepts.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
        done
    })
}

/// Answers the requests of a connection, one after the other.
fn converse(
    mut stream: TcpStream,
    site: &Site,
    reports: &Sender<Loaded>,
    is_over: &AtomicBool,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LOOK_EVERY))?;
    stream.set_write_timeout(Some(WRITE_WITHIN))?;
    let (mut asked, mut bytes) = (Vec::new(), [0; 4096]);
    while !is_over.load(Ordering::Relaxed) {
        match stream.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => asked.extend_from_slice(&bytes[..count]),
            Err(error) if is_pause(&error) => continue,
            Err(error) => return Err(error),
        }
        while let Some(end) = asked.windows(4).position(|it| it == b"\r\n\r\n") {
            let request: Vec<u8> = asked.drain(..end + 4).collect();
            let path = path(&request).unwrap_or_default();
            if let Some(query) = path.strip_prefix(REPORT) {
                let loaded = Loaded::parse(query.trim_start_matches('?'));
                // The report of a second load has no reader.
                let _ = loaded.map(|loaded| reports.send(loaded));
                is_over.store(true, Ordering::Relaxed);
            }
            stream.write_all(&response(&path, site))?;
        }
        if asked.len() > LONGEST {
            break;
        }
    }
    Ok(())
}

fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// The path of `GET PATH HTTP/1.1`.
fn path(request: &[u8]) -> Option<String> {
    let line = request.split(|byte| *byte == b'\r').next()?;
    let mut words = str::from_utf8(line).ok()?.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    (method == "GET").then(|| path.to_owned())
}

fn response(path: &str, site: &Site) -> Vec<u8> {
    let (status, media_type, body) = match site.answer(path) {
        Some(answer) => ("200 OK", answer.media_type, &answer.body[..]),
        None if path.starts_with(REPORT) => ("200 OK", "text/plain", &b"ok\n"[..]),
        None => ("404 Not Found", "text/plain", &b"no such part\n"[..]),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_report_has_all_its_numbers_or_is_none() {
        let loaded =
            Loaded::parse("load=3210.5&origin=1764432000000.25&parts=40&bytes=2000000&pad=..");
        let expected = Loaded {
            load_ms: 3210.5,
            started_unix_ms: 1_764_432_000_000.25,
            parts: 40,
            bytes: 2_000_000,
        };
        assert_eq!(loaded, Some(expected));
        for wrong in
            ["", "load=1", "load=0&origin=5&parts=1&bytes=1", "load=NaN&origin=5&parts=1&bytes=1"]
        {
            assert_eq!(Loaded::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn one_connection_gets_two_parts_and_a_report_reaches_its_reader() {
        let (site, (reports, reported)) = (Site::new(1), mpsc::channel());
        let read = serve(&site, &reports, |port| {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            let report = format!("{REPORT}?load=7&origin=5&parts=1&bytes=2");
            for path in ["/", "/nothing", &report] {
                write!(stream, "GET {path} HTTP/1.1\r\nHost: it\r\n\r\n")?;
            }
            stream.shutdown(std::net::Shutdown::Write)?;
            let mut text = String::new();
            stream.read_to_string(&mut text)?;
            Ok(text)
        });
        let read = read.expect("answers");
        assert!(read.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html"), "{read}");
        let counts = ["200 OK", "404 Not Found"].map(|status| read.matches(status).count());
        assert_eq!(counts, [2, 1]);
        assert_eq!(reported.try_iter().map(|loaded| loaded.load_ms).collect::<Vec<_>>(), [7.0]);
    }
}
