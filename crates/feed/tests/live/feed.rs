//! A feed that follows a script.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use sounding_feed::{Line, Publisher};
use sounding_host::monotonic_now;

/// State of the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// A line for each of these modems, with the advice that there is.
    Advice(Vec<(&'static str, Option<u64>)>),
    /// It hangs: its connections are open, and no line comes.
    Nothing,
    /// There is no daemon.
    Dead,
    /// The script is over.
    End,
}

/// A feed's daemon, without a modem.
pub(crate) struct Script {
    folder: tempfile::TempDir,
    says: Arc<Mutex<Says>>,
    daemon: Option<JoinHandle<()>>,
}

/// The feed's name.
pub(crate) const NAME: &str = "wan";

impl Script {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let says = Arc::new(Mutex::new(Says::Dead));
        let (path, said) = (folder.path().join(format!("{NAME}.rate")), says.clone());
        let daemon = Some(std::thread::spawn(move || run(&path, &said)));
        Self { folder, says, daemon }
    }

    pub(crate) fn say(&self, says: Says) {
        *self.says.lock().unwrap() = says;
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join(format!("{NAME}.rate"))
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.say(Says::End);
        let _ = self.daemon.take().map(JoinHandle::join);
    }
}

/// Lines on change, and every 50 ms.
fn run(path: &Path, says: &Mutex<Says>) {
    let (mut publisher, mut last, mut turn, mut number) = (None, Says::Dead, 0, 0);
    loop {
        let now = says.lock().unwrap().clone();
        match &now {
            Says::End => return,
            Says::Dead => publisher = None,
            Says::Nothing => {}
            Says::Advice(modems) => {
                let open =
                    || Publisher::new(path, 0o600, None, Duration::from_millis(100)).unwrap();
                let publisher = publisher.get_or_insert_with(open);
                publisher.attend();
                turn = if now == last { (turn + 1) % 10 } else { 0 };
                for (modem, advice) in modems.iter().filter(|_| turn == 0) {
                    number += 1;
                    publisher.publish(&line(number, modem, *advice));
                }
            }
        }
        last = now;
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn line(number: u64, modem: &str, advice: Option<u64>) -> Line {
    let now = monotonic_now().as_nanos();
    let mut line: Line = serde_json::from_value(serde_json::json!({
        "number": number,
        "modem": modem,
        "direction": "uplink",
        "made_at_ns": now,
        "valid_for_ms": 200.0,
        // Fields of a later version are no trouble.
        "mood": "good",
    }))
    .unwrap();
    line.advice_bits_per_sec = advice;
    line
}
