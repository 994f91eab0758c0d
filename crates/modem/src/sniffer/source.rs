use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use sounding_kpi::Direction;
use sounding_trace::dci::{Format, LiveReader};
use thiserror::Error;

/// A sniffer, as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnifferSource {
    /// A log of a cell: a file, or a FIFO.
    Log {
        /// How it is written.
        log: SnifferLog,
        /// Where it is.
        path: PathBuf,
    },
    /// NG-Scope's service over UDP, which is asked for its messages.
    Udp {
        /// Where it is.
        address: SocketAddr,
        /// A user of this host, by number, whose sockets may have its port besides root's and this
        /// process's own.
        user: Option<u32>,
    },
}

impl SnifferSource {
    /// The same with a user whose service is believed on this host; it has no effect on logs.
    #[must_use]
    pub fn served_by(self, user: Option<u32>) -> Self {
        match self {
            Self::Udp { address, .. } => Self::Udp { address, user },
            log => log,
        }
    }
}

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnifferLog {
    /// NG-Scope's, of one direction.
    DciLog,
    /// FALCON's.
    Falcon,
    /// NR-Scope's.
    NrScope,
}

impl SnifferLog {
    const ALL: [(Self, &str); 3] =
        [(Self::DciLog, "dcilog"), (Self::Falcon, "falcon"), (Self::NrScope, "nr-scope")];

    /// The format. A log that has one direction only has this one.
    pub const fn format(self, direction: Direction) -> Format {
        match self {
            Self::DciLog => Format::DciLog(direction),
            Self::Falcon => Format::Falcon,
            Self::NrScope => Format::NrScope,
        }
    }

    pub(super) const fn live(self, cell: u8, direction: Direction) -> LiveReader {
        LiveReader::new(self.format(direction), cell)
    }

    /// Whether its first line says how the others are read.
    pub(super) const fn has_header(self) -> bool {
        matches!(self, Self::NrScope)
    }
}

/// A word that names no sniffer.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{0:?}: a sniffer is dcilog:FILE (NG-Scope), falcon:FILE or nr-scope:FILE, or udp:ADDRESS:PORT, as udp:127.0.0.1:6767 or \
     udp:[::1]:6767 (NG-Scope's service)"
)]
pub struct UnknownSniffer(String);

impl FromStr for SnifferSource {
    type Err = UnknownSniffer;

    fn from_str(text: &str) -> Result<Self, UnknownSniffer> {
        let unknown = || UnknownSniffer(text.into());
        let (kind, place) = text.split_once(':').ok_or_else(unknown)?;
        if place.is_empty() {
            return Err(unknown());
        }
        if kind == "udp" {
            let address: SocketAddr = place.parse().map_err(|_| unknown())?;
            let is_one = address.port() > 0 && !address.ip().is_unspecified();
            return if is_one { Ok(Self::Udp { address, user: None }) } else { Err(unknown()) };
        }
        let found = SnifferLog::ALL.into_iter().find(|(_, name)| *name == kind);
        let (log, _) = found.ok_or_else(unknown)?;
        Ok(Self::Log { log, path: place.into() })
    }
}

impl fmt::Display for SnifferSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log { log, path } => {
                let name =
                    SnifferLog::ALL.iter().find(|(one, _)| one == log).map_or("", |one| one.1);
                write!(f, "{name}:{}", path.display())
            }
            Self::Udp { address, .. } => write!(f, "udp:{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sniffer_is_a_log_with_its_format_or_an_address() {
        let source: SnifferSource = "dcilog:a/b:c.dciLog".parse().expect("a log");
        assert_eq!(
            source,
            SnifferSource::Log { log: SnifferLog::DciLog, path: "a/b:c.dciLog".into() }
        );
        for text in ["falcon:x", "nr-scope:x.csv", "udp:127.0.0.1:6767", "udp:[::1]:6767"] {
            assert_eq!(text.parse::<SnifferSource>().expect("a sniffer").to_string(), text);
        }
        for text in
            ["a.dciLog", "pcap:a", "", "udp:6767", "udp:0.0.0.0:6767", "udp:127.0.0.1:0", "dcilog:"]
        {
            let error = text.parse::<SnifferSource>().expect_err(text);
            assert!(error.to_string().contains("udp:ADDRESS:PORT"), "{error}");
        }
    }
}
