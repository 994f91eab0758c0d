//! A headless Chromium that shows a page of a live server: by its remote protocol over two pipes,
//! because a stream of events never lets a page be over.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use serde_json::{Value as Json, json};
use sounding_testdata::{Need, Running, skip};

pub(crate) struct Browser {
    chromium: Running,
    orders: File,
    replies: Receiver<Json>,
    session: String,
    next: u64,
    /// What stands on the console.
    pub(crate) console: Vec<String>,
    _folder: tempfile::TempDir,
}

fn chromium() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&paths).map(|folder| folder.join("chromium"));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        skip(Need::Tools, "no chromium on this machine: apt-get install chromium");
    }
    found
}

impl Browser {
    /// `None`, with a reported skip, without a Chromium.
    pub(crate) fn start() -> Option<Self> {
        let chromium = chromium()?;
        let folder = tempfile::tempdir().unwrap();
        let [orders, replies] = ["orders", "replies"].map(|name| folder.path().join(name));
        for path in [&orders, &replies] {
            mkfifo(path, Mode::S_IRWXU).unwrap();
        }
        // Opened for both, neither waits for the other end.
        let open = |path| OpenOptions::new().read(true).write(true).open(path).unwrap();
        let (to, from) = (open(&orders), open(&replies));
        // Its sandbox does not work for root, and the page is ours.
        let child = Command::new("sh")
            .args([
                "-c",
                "orders=$1; replies=$2; shift 2; exec \"$@\" 3<\"$orders\" 4>\"$replies\"",
                "sh",
            ])
            .args([&orders, &replies, &chromium])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .args(["--window-size=1280,1600", "about:blank"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let (sender, replies) = mpsc::channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            for byte in BufReader::new(from).bytes().map_while(Result::ok) {
                if byte != 0 {
                    message.push(byte);
                    continue;
                }
                let json = serde_json::from_slice(&std::mem::take(&mut message)).unwrap();
                if sender.send(json).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            chromium: Running(child.unwrap()),
            orders: to,
            replies,
            session: String::new(),
            next: 0,
            console: Vec::new(),
            _folder: folder,
        };
        let target = browser.order("Target.createTarget", json!({ "url": "about:blank" }));
        let id = &target["targetId"];
        let attached =
            browser.order("Target.attachToTarget", json!({ "targetId": id, "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap().into();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.order(domain, json!({}));
        }
        Some(browser)
    }

    /// Has the browser do something, and gives its answer.
    pub(crate) fn order(&mut self, method: &str, params: Json) -> Json {
        self.next += 1;
        let mut order = json!({ "id": self.next, "method": method, "params": params });
        if !self.session.is_empty() {
            order["sessionId"] = self.session.clone().into();
        }
        self.orders.write_all(format!("{order}\0").as_bytes()).unwrap();
        loop {
            let reply = self.replies.recv_timeout(Duration::from_secs(60));
            let reply = reply.unwrap_or_else(|_| panic!("the browser does not answer {method}"));
            match reply["method"].as_str() {
                Some("Log.entryAdded") => self.console.push(reply["params"]["entry"].to_string()),
                Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled") => {
                    self.console.push(reply["params"].to_string());
                }
                _ => {}
            }
            if reply["id"] == self.next {
                assert!(reply["error"].is_null(), "{method}: {reply}");
                return reply["result"].clone();
            }
        }
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Json {
        let params = json!({ "expression": expression, "returnByValue": true });
        let said = self.order("Runtime.evaluate", params);
        assert!(said["exceptionDetails"].is_null(), "{expression}: {said}");
        said["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let until = Instant::now() + Duration::from_secs(30);
        while self.value(expression) != true {
            let page = self.value("document.documentElement.outerHTML");
            assert!(Instant::now() < until, "{expression} is never true: {page}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its helpers are of its group.
        let _ = killpg(Pid::from_raw(self.chromium.0.id().cast_signed()), Signal::SIGKILL);
    }
}
