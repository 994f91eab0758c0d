//! The probe behind the link: a headless Chromium that shows the page until its input ends.

use std::fmt;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use crate::experiment::Failed;

/// The browser, looked up on the PATH.
pub(super) const BROWSER: &str = "chromium";

/// What the probe shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Role {
    /// The port of the page, at the far end of the link.
    pub(super) port: u16,
    /// How long it waits, so that the load begins later in the trace.
    pub(super) wait: Duration,
    /// The folder that the browser makes for its profile.
    pub(super) profile: PathBuf,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { port, wait, profile } = self;
        write!(f, "{port}:{}:{}", wait.as_millis(), profile.display())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not PORT:MILLISECONDS:FOLDER");
        let words: Vec<&str> = text.splitn(3, ':').collect();
        let [port, wait, profile] = words[..] else { return Err(wrong()) };
        Ok(Self {
            port: port.parse().map_err(|_| wrong())?,
            wait: Duration::from_millis(wait.parse().map_err(|_| wrong())?),
            profile: profile.into(),
        })
    }
}

/// Shows the page until standard input ends.
pub(super) fn run(role: &Role) -> Result<(), Failed> {
    let base = std::env::var("MAHIMAHI_BASE")
        .map_err(|_| Failed::from("--inside is for a command of `sounding emu`"))?;
    std::thread::sleep(role.wait);
    // Chromium's sandbox does not work for root, and the page is ours. Its other connections would
    // share the link, so it knows no name and asks for no update.
    let mut browser = Command::new(BROWSER)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--no-default-browser-check", "--no-pings"])
        .args(["--disable-background-networking", "--disable-component-update"])
        .args(["--disable-sync", "--disable-default-apps", "--disable-extensions"])
        .arg(format!("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {base}"))
        .arg(format!("--user-data-dir={}", role.profile.display()))
        .arg(format!("http://{base}:{}/", role.port))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Failed::at(BROWSER, error))?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    // Its helpers end with the process namespace of the emulator's command.
    browser.kill()?;
    browser.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_the_same_behind_its_text() {
        let wait = Duration::from_millis(1500);
        let role = Role { port: 80, wait, profile: "/tmp/a:b".into() };
        assert_eq!(role.to_string().parse(), Ok(role));
        for wrong in ["", "80", "80:7", "70000:7:/tmp", "80:soon:/tmp"] {
            wrong.parse::<Role>().expect_err(wrong);
        }
    }
}
