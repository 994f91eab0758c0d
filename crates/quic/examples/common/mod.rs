//! Both ends of a transfer, over either stack: what the two examples and the tests of emulated
//! links share.
//!
//! The receiver is the server, so the sender of a downlink does not listen on a port; the sender
//! opens one stream and writes.

#![allow(dead_code, reason = "each user of this file has its own needs")]

pub(crate) mod stack;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::net::{SocketAddr, UdpSocket};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use sounding_quic::{Arrivals, EstimateHandle, Factory, PeerTimes, Rate};

/// Any failure: an example reports it to its user, a test fails.
pub(crate) type Failed = Box<dyn Error + Send + Sync>;

/// Reports leave so often, as a daemon publishes estimates.
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(10);

/// Receive times leave so often.
pub(crate) const TIMES_EVERY: Duration = Duration::from_millis(5);

/// The name in the certificate.
pub(crate) const NAME: &str = "localhost";

/// How long an end waits for the other to go.
const FAREWELL: Duration = Duration::from_secs(2);

/// Which stack an end is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    Quinn,
    Noq,
}

impl FromStr for Stack {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "quinn" => Ok(Self::Quinn),
            "noq" => Ok(Self::Noq),
            _ => Err("a stack is quinn or noq".into()),
        }
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quinn => "quinn",
            Self::Noq => "noq",
        })
    }
}

/// A certificate that signs itself, and its key.
pub(crate) struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// A new one.
    pub(crate) fn new() -> Result<Self, Failed> {
        let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()])?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        Ok(Self { certificate: made.cert.into(), key: key.into() })
    }
}

/// Trusts every peer that has this certificate.
pub(crate) fn trusting(
    certificate: CertificateDer<'static>,
) -> Result<Arc<rustls::RootCertStore>, Failed> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate)?;
    Ok(Arc::new(roots))
}

/// What a sender does.
pub(crate) struct Sending {
    /// From here,
    pub(crate) socket: UdpSocket,
    /// to there,
    pub(crate) to: SocketAddr,
    pub(crate) trusted: Arc<rustls::RootCertStore>,
    /// with this controller; the stack's own if there is none,
    pub(crate) factory: Option<Arc<Factory>>,
    /// using the peer's reports, if they are wanted,
    pub(crate) reports_to: Option<EstimateHandle>,
    /// and what it says of when packets arrived,
    pub(crate) times_to: Option<PeerTimes>,
    /// as fast as it goes, or at this rate,
    pub(crate) rate: Option<Rate>,
    /// until it is stopped.
    pub(crate) stop: Arc<AtomicBool>,
}

/// What a receiver does.
pub(crate) struct Receiving {
    pub(crate) socket: UdpSocket,
    pub(crate) identity: Identity,
    /// Reports of this are sent to the peer.
    pub(crate) reports_of: Option<EstimateHandle>,
    /// The peer is sent when its packets arrived; they are noted here.
    pub(crate) arrivals: Option<Arrivals>,
}

/// Bytes of the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transferred {
    pub(crate) bytes: u64,
    /// Reports that were sent, or used.
    pub(crate) reports: u64,
    /// Datagrams of receive times that were sent, or used.
    pub(crate) times: u64,
}

/// Sends until it is stopped.
pub(crate) fn send(stack: Stack, sending: Sending) -> Result<Transferred, Failed> {
    block_on(async {
        match stack {
            Stack::Quinn => stack::over_quinn::send(sending).await,
            Stack::Noq => stack::over_noq::send(sending).await,
        }
    })
}

/// Receives one connection, until the sender closes it.
pub(crate) fn receive(stack: Stack, receiving: Receiving) -> Result<Transferred, Failed> {
    block_on(async {
        match stack {
            Stack::Quinn => stack::over_quinn::receive(receiving).await,
            Stack::Noq => stack::over_noq::receive(receiving).await,
        }
    })
}

fn block_on<T>(work: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// The next write of an application that sends at a rate, or of one that always has more.
pub(crate) struct Application {
    rate: Option<Rate>,
    stop: Arc<AtomicBool>,
}

/// What an application hands down at once.
const CHUNK: usize = 16 << 10;

/// An application with a rate hands down what it has so often.
const EVERY: Duration = Duration::from_millis(10);

impl Application {
    pub(crate) fn new(rate: Option<Rate>, stop: Arc<AtomicBool>) -> Self {
        Self { rate, stop }
    }

    /// The length of what is written next; `None` once it is over.
    pub(crate) async fn next(&self) -> Option<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let Some(rate) = self.rate else { return Some(CHUNK) };
        tokio::time::sleep(EVERY).await;
        Some((rate * EVERY).count() as usize)
    }
}
