use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

use super::{
    CharDevice, DiagChar, OpenError, Port, Router, RouterSocket, Stream, Tcp, Transport, Unframed,
};

/// A source of Diag bytes, as users name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A device or a capture, depending on the file at the path.
    Path(PathBuf),
    /// Standard input, `-`.
    Stdin,
    /// A bridge that passes HDLC on, `tcp:HOST:PORT`.
    Tcp(String),
    /// The open diag-router's socket, `router` or `router:NAME`.
    Router(RouterSocket),
    /// The socket of a phone vendor's diag-router, `vendor-router` or `vendor-router:NAME`.
    VendorRouter(RouterSocket),
    /// One of the above on which the HDLC framing is switched off, `non-hdlc:SOURCE`.
    Unframed(Box<Source>),
}

/// Why a text names no source.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SourceError {
    /// The name is empty.
    #[error(
        "a source is a device, a capture file, tcp:HOST:PORT, router[:NAME], vendor-router[:NAME], or - for standard input; \
         non-hdlc: before it says that the HDLC framing is off"
    )]
    Empty,
    /// A port number is missing or none.
    #[error("{0}: a TCP source is tcp:HOST:PORT, as in tcp:127.0.0.1:43555")]
    Tcp(String),
    /// The prefix `non-hdlc:` before a router, which has no frames, or before another `non-hdlc:`.
    #[error(
        "{0}: non-hdlc: goes before a device, a file, tcp:HOST:PORT, vendor-router[:NAME] or -"
    )]
    Unframed(String),
    /// A name that no socket can have.
    #[error("{0}: a socket's name has 1 to 107 bytes")]
    Name(String),
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let name = |name: Option<&str>| match name {
            Some(name) if name.is_empty() || name.len() > Router::MAX_NAME => {
                Err(SourceError::Name(text.into()))
            }
            name => Ok(RouterSocket { name: name.map(str::to_owned), served_by: None }),
        };
        match text.split_once(':') {
            _ if text.is_empty() => Err(SourceError::Empty),
            _ if text == "-" => Ok(Self::Stdin),
            None if text == "router" => name(None).map(Self::Router),
            None if text == "vendor-router" => name(None).map(Self::VendorRouter),
            Some(("router", rest)) => name(Some(rest)).map(Self::Router),
            Some(("vendor-router", rest)) => name(Some(rest)).map(Self::VendorRouter),
            Some(("non-hdlc", rest)) => match rest.parse()? {
                Self::Router(_) | Self::Unframed(_) => Err(SourceError::Unframed(text.into())),
                source => Ok(Self::Unframed(Box::new(source))),
            },
            Some(("tcp", address)) => {
                let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty());
                let port = port.and_then(|(_, port)| port.parse::<u16>().ok());
                match port {
                    Some(1..) => Ok(Self::Tcp(address.into())),
                    _ => Err(SourceError::Tcp(text.into())),
                }
            }
            _ => Ok(Self::Path(text.into())),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Stdin => f.write_str("standard input"),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
            Self::Router(socket) => write!(f, "router{socket}"),
            Self::VendorRouter(socket) => write!(f, "vendor-router{socket}"),
            Self::Unframed(source) if **source == Self::Stdin => f.write_str("non-hdlc:-"),
            Self::Unframed(source) => write!(f, "non-hdlc:{source}"),
        }
    }
}

impl Source {
    /// Opens it.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the source is missing, denied, in use or no modem's port.
    pub fn open(&self) -> Result<Box<dyn Transport>, OpenError> {
        Ok(match self {
            Self::Path(path) => return open_path(path),
            Self::Stdin => {
                Box::new(Stream::stdin().map_err(|error| OpenError::at(Path::new("-"), error))?)
            }
            Self::Tcp(address) => Box::new(Tcp::connect(address)?),
            Self::Router(socket) => Box::new(Router::connect(socket)?),
            Self::VendorRouter(socket) => Box::new(Router::connect_vendor(socket)?),
            Self::Unframed(source) => Box::new(Unframed::new(source.open()?)),
        })
    }

    /// The same without the prefix for its framing: a capture's bytes show its framing.
    pub fn place(&self) -> &Self {
        match self {
            Self::Unframed(source) => source,
            source => source,
        }
    }

    /// The same with a user, by number, whose process may answer on a router's socket; it has no
    /// effect on other sources.
    #[must_use]
    pub fn served_by(self, user: Option<u32>) -> Self {
        let socket = |socket| RouterSocket { served_by: user, ..socket };
        match self {
            Self::Router(router) => Self::Router(socket(router)),
            Self::VendorRouter(router) => Self::VendorRouter(socket(router)),
            Self::Unframed(source) => Self::Unframed(Box::new(source.served_by(user))),
            other => other,
        }
    }

    /// Whether it is a router's socket, whose name any process can take.
    pub fn is_router(&self) -> bool {
        matches!(self.place(), Self::Router(_) | Self::VendorRouter(_))
    }

    /// Whether it is worth waiting for once it has closed: a device may be plugged in again, a file
    /// is over.
    pub fn may_return(&self) -> bool {
        match self.place() {
            Self::Stdin => false,
            // A missing device is not a file either.
            Self::Path(path) => !path.is_file(),
            Self::Tcp(_) | Self::Router(_) | Self::VendorRouter(_) | Self::Unframed(_) => true,
        }
    }
}

/// The kind of file at a path decides its protocol.
fn open_path(path: &Path) -> Result<Box<dyn Transport>, OpenError> {
    let kind = fs::metadata(path).map_err(|error| OpenError::at(path, error))?.file_type();
    if kind.is_file() || kind.is_fifo() {
        // The open of a pipe waits for its writer, and no signal ends that.
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
        return Ok(Box::new(Stream::new(file.map_err(|error| OpenError::at(path, error))?)));
    }
    if !kind.is_char_device() {
        return Err(OpenError::NotSerial { path: path.into() });
    }
    match path.file_name().and_then(OsStr::to_str).unwrap_or_default() {
        "diag" => Ok(Box::new(DiagChar::open(path)?)),
        name if name.starts_with("wwan") => Ok(Box::new(CharDevice::open(path)?)),
        _ => Ok(Box::new(Port::open(path)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_what_they_are_called() {
        let path = |path: &str| Source::Path(path.into());
        for (text, source) in [
            ("-", Source::Stdin),
            ("/dev/ttyUSB0", path("/dev/ttyUSB0")),
            ("drive:2.qmdl", path("drive:2.qmdl")),
            ("router.qmdl", path("router.qmdl")),
            ("tcp:[::1]:43555", Source::Tcp("[::1]:43555".into())),
            ("router", Source::Router(RouterSocket::default())),
            (
                "router:diag",
                Source::Router(RouterSocket { name: Some("diag".into()), served_by: None }),
            ),
            ("vendor-router", Source::VendorRouter(RouterSocket::default())),
            ("non-hdlc:/dev/ttyUSB0", Source::Unframed(Box::new(path("/dev/ttyUSB0")))),
            ("non-hdlc:-", Source::Unframed(Box::new(Source::Stdin))),
        ] {
            assert_eq!(text.parse(), Ok(source.clone()), "{text}");
            if source != Source::Stdin {
                assert_eq!(source.to_string(), text);
            }
        }
    }

    #[test]
    fn what_names_nothing_is_refused() {
        assert_eq!("".parse::<Source>(), Err(SourceError::Empty));
        for text in ["tcp:host", "tcp::1", "tcp:host:0", "tcp:host:65536", "tcp:host:http"] {
            assert_eq!(text.parse::<Source>(), Err(SourceError::Tcp(text.into())), "{text}");
        }
        for text in ["non-hdlc:router", "non-hdlc:non-hdlc:-"] {
            assert_eq!(text.parse::<Source>(), Err(SourceError::Unframed(text.into())), "{text}");
        }
        assert_eq!("non-hdlc:".parse::<Source>(), Err(SourceError::Empty));
        assert!(matches!("router:".parse::<Source>(), Err(SourceError::Name(_))));
        let long = format!("router:{}", "x".repeat(108));
        assert!(matches!(long.parse::<Source>(), Err(SourceError::Name(_))));
    }

    #[test]
    fn a_failed_open_has_its_reason() {
        let open = |text: &str| text.parse::<Source>().expect("a source").open().map(drop);
        assert!(matches!(open("/nowhere"), Err(OpenError::Missing { .. })));
        assert!(matches!(open("/dev/null"), Err(OpenError::NotSerial { .. })));
        assert!(matches!(open("/tmp"), Err(OpenError::NotSerial { .. })));
        // A port that was free a moment ago.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it has an address");
        drop(listener);
        assert!(matches!(open(&format!("tcp:{address}")), Err(OpenError::Connect { .. })));
        assert!(matches!(open("router:no-such-name"), Err(OpenError::NoRouter { .. })));
    }
}
