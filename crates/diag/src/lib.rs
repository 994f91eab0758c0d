//! Qualcomm Diag on the wire: framing, packets, captures, and log records by code and version.
//!
//! The steps from bytes to records; each can be used alone:
//!
//! 1. [`hdlc`] cuts a byte stream into frames and checks them;
//! 2. [`packet`] identifies a frame's payload: a log record, or another command;
//! 3. [`capture`] does both for a whole file or a live stream, and counts frames, records and
//!    errors;
//! 4. [`record`] reads log records: either every field by name ([`record::decode`]), or as typed
//!    values without allocation ([`record::Record`]).
//!
//! [`command`] has the requests and answers of a session, and [`session`] their order. For a
//! modelled modem, the record views can also write records, and [`buffer`] keeps them until they
//! are read.
//!
//! ```
//! use sounding_diag::capture::Capture;
//! use sounding_diag::packet::Packet;
//! use sounding_diag::record::Record;
//! # let (mut bytes, mut payload, mut body) = (Vec::new(), Vec::new(), Vec::new());
//! # sounding_diag::record::PuschTxReport::emit(1, Default::default(), &[], &mut body)?;
//! # let (code, at) = (sounding_diag::record::PuschTxReport::CODE, Default::default());
//! # sounding_diag::LogRecord { code, at, stamp: 0, radio: None, body: &body }.emit(&mut payload)?;
//! # sounding_diag::hdlc::encode(&payload, &mut bytes);
//!
//! let mut capture = Capture::new(&bytes)?;
//! let mut granted = 0;
//! while let Some(found) = capture.poll_packet() {
//!     let Ok(located) = found else { continue };
//!     let Packet::Log(log) = located.packet else { continue };
//!     if let Ok(Record::PuschTx(report)) = Record::parse(&log) {
//!         granted += report.transmissions().map(|found| found.size.count()).sum::<u64>();
//!     }
//! }
//! println!("{granted} bytes granted, {} log records", capture.counts().logs);
//! # assert_eq!(capture.counts().logs, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No input makes this crate panic. A frame that fails its check is a [`hdlc::BadFrame`], a record
//! of an unknown version is [`record::RecordError::Unsupported`], and a record whose bytes do not
//! fit its layout is [`record::RecordError::Corrupt`]. They are counted, and their contents are
//! never guessed.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod buffer;
pub mod capture;
mod code;
pub mod command;
pub mod hdlc;
pub mod layout;
pub mod mac;
mod names;
pub mod packet;
pub mod radio;
pub mod record;
pub mod rlc;
pub mod rlc_nr;
pub mod session;
mod sink;

pub use code::LogCode;
pub use packet::LogRecord;
