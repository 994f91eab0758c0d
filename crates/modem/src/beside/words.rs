//! The two lines that begin a connection.

use serde::{Deserialize, Serialize};
use sounding_diag::LogCode;

use super::foreign::Foreign;
use super::limits::{FEED, FRAMING, MAX_CODES, VERSION};

/// The first line of the process that holds the port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    feed: String,
    version: u32,
    /// The port, without links.
    pub port: String,
    framing: String,
    /// Why the connection ends here: `permission` or `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// When the modem's software was compiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled: Option<String>,
    /// The modem's software version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

/// The only line of a reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    feed: String,
    version: u32,
    /// The log codes that the reader wants, the most important first. Without them it gets every
    /// packet that comes anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    codes: Option<Vec<u16>>,
}

impl Greeting {
    /// That of a port.
    pub fn new(port: &str) -> Self {
        Self {
            feed: FEED.into(),
            version: VERSION,
            port: port.into(),
            framing: FRAMING.into(),
            refused: None,
            compiled: None,
            build: None,
        }
    }

    /// Reads a line.
    ///
    /// # Errors
    ///
    /// [`Foreign`] if it is no greeting of this version.
    pub fn parse(line: &[u8]) -> Result<Self, Foreign> {
        let greeting: Self = serde_json::from_slice(line).map_err(Foreign::line)?;
        check(&greeting.feed, greeting.version)?;
        match greeting.framing == FRAMING {
            true => Ok(greeting),
            false => Err(Foreign::Framing),
        }
    }

    /// The line.
    pub fn line(&self) -> Vec<u8> {
        line(self)
    }
}

impl Request {
    /// For these codes, or for everything that comes.
    pub fn new(codes: Option<&[LogCode]>) -> Self {
        let codes = codes.map(|codes| codes.iter().map(|code| code.number()).collect());
        Self { feed: FEED.into(), version: VERSION, codes }
    }

    /// Reads a line.
    ///
    /// # Errors
    ///
    /// [`Foreign`] if it is no request of this version, or names too many codes.
    pub fn parse(line: &[u8]) -> Result<Self, Foreign> {
        let request: Self = serde_json::from_slice(line).map_err(Foreign::line)?;
        check(&request.feed, request.version)?;
        match request.codes.as_ref().is_some_and(|codes| codes.len() > MAX_CODES) {
            true => Err(Foreign::Codes),
            false => Ok(request),
        }
    }

    /// The codes; none for everything that comes.
    pub fn codes(&self) -> Option<Vec<LogCode>> {
        let codes = self.codes.as_ref()?;
        Some(codes.iter().copied().map(LogCode::new).collect())
    }

    /// The line.
    pub fn line(&self) -> Vec<u8> {
        line(self)
    }
}

fn check(feed: &str, version: u32) -> Result<(), Foreign> {
    match (feed, version) {
        (FEED, VERSION) => Ok(()),
        (FEED, other) => Err(Foreign::Version(other)),
        _ => Err(Foreign::Feed),
    }
}

fn line(value: &impl Serialize) -> Vec<u8> {
    // Text and numbers can always be written.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}
