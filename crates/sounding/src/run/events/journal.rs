//! Events for journald: a service's sentences with the event's values as fields, which
//! `journalctl SOUNDING_EVENT=closed` finds.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use serde_json::Value as Json;

use crate::screen;

const SOCKET: &str = "/run/systemd/journal/socket";

/// Events that say that something does not work. Syslog's levels: warning, and informational.
const WARNINGS: &[&str] = &[
    "absent",
    "base_not_kept",
    "bypass",
    "closed",
    "late",
    "modem_failed",
    "mute",
    "no_priority",
    "not_awake",
    "not_reloaded",
    "output_failed",
    "rates_not_kept",
];

/// The journal's socket. Each write is one entry.
pub(super) struct Journal(UnixDatagram);

impl Journal {
    /// The journal, where standard error is connected to it.
    pub(super) fn behind_stderr() -> Option<Self> {
        let stream = std::env::var("JOURNAL_STREAM").ok()?;
        let (device, inode) = stream.split_once(':')?;
        let about = std::fs::metadata("/proc/self/fd/2").ok()?;
        let is_it = device.parse() == Ok(about.dev()) && inode.parse() == Ok(about.ino());
        if is_it { Self::at(Path::new(SOCKET)).ok() } else { None }
    }

    fn at(path: &Path) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.connect(path)?;
        Ok(Self(socket))
    }
}

impl Write for Journal {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        // An entry that is too long, or that no journal takes now, is no reason to end.
        let _ = self.0.send(entry);
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An entry: fields by line. Values that are lists are in the sentence alone.
pub(super) fn entry(event: &Json, modem: Option<&str>, sentence: &str) -> String {
    let kind = event["event"].as_str().unwrap_or_default();
    let level = if WARNINGS.contains(&kind) { 4 } else { 6 };
    let about = modem.map(|modem| format!("{modem}: ")).unwrap_or_default();
    let mut entry = format!(
        "MESSAGE={}\nPRIORITY={level}\nSYSLOG_IDENTIFIER=sounding",
        screen::inline(&format!("{about}{sentence}"))
    );
    let modem = modem.map(|modem| ("modem", Json::from(modem)));
    let values = event.as_object().into_iter().flatten();
    let values = values.map(|(name, value)| (&name[..], value.clone()));
    for (name, value) in values.chain(modem) {
        let value = match value {
            Json::String(text) => text,
            Json::Number(number) => number.to_string(),
            Json::Bool(is_so) => is_so.to_string(),
            Json::Null | Json::Array(_) | Json::Object(_) => continue,
        };
        let _ = write!(entry, "\nSOUNDING_{}={}", name.to_uppercase(), screen::inline(&value));
    }
    entry
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_has_the_sentence_and_each_value_as_a_field() {
        let event = json!({
            "event": "closed", "device": "/dev/tty\nX", "left_alone_ms": 5, "reason": null, "list": [1],
        });
        assert_eq!(
            entry(&event, Some("wan"), "it closed"),
            "MESSAGE=wan: it closed\nPRIORITY=4\nSYSLOG_IDENTIFIER=sounding\n\
             SOUNDING_DEVICE=/dev/tty\\nX\nSOUNDING_EVENT=closed\nSOUNDING_LEFT_ALONE_MS=5\nSOUNDING_MODEM=wan"
        );
    }

    #[test]
    fn each_entry_is_one_datagram() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let journal = UnixDatagram::bind(&path).expect("a socket");
        let mut out = Journal::at(&path).expect("it is there");
        out.write_all(b"MESSAGE=a\nPRIORITY=6\n").expect("it takes it");
        out.write_all(&[b'x'; 1 << 22]).expect("one that is too long is dropped");
        out.write_all(b"MESSAGE=b\n").expect("it takes it");
        let mut bytes = [0; 100];
        for entry in ["MESSAGE=a\nPRIORITY=6\n", "MESSAGE=b\n"] {
            let count = journal.recv(&mut bytes).expect("an entry");
            assert_eq!(&bytes[..count], entry.as_bytes());
        }
    }
}
