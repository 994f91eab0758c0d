//! The HTTP server of `sounding run`: a page, the rate feed as server-sent events, metrics.
//!
//! ```text
//!   modems' threads ─Feeder─▶ bounded queue ─▶ the server's thread ─▶ clients
//! ```
//!
//! It only shows things. The threads that read modems give their [`News`] to a bounded queue, and
//! never wait. The server's own thread keeps what is new, and answers; see `Server`.

#![forbid(unsafe_code)]

mod answer;
mod carried;
mod connection;
mod history;
mod metrics;
mod news;
mod request;
mod server;
mod status;
mod store;
mod token;

pub use carried::Carried;
pub use news::{Event, Feeder, Modem, News, Radio, RadioSide, Shaped};
pub use request::{Door, Refusal, Request};
pub use server::{Server, Settings};
pub use token::TokenError;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Another process has the address, or this machine does not.
    #[error("cannot serve at {address}: {source}")]
    Address {
        /// The address.
        address: std::net::SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The token cannot be read or made.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The system refused something else.
    #[error("cannot serve: {0}")]
    Io(#[from] std::io::Error),
}
