//! What captures are converted to: JSON lines ([`json`]), Parquet ([`table`]), pcap with GSMTAP
//! (`pcap`) and captures of other formats (`sounding_diag::capture::Format::emit`); and which parts
//! must stay private ([`privacy`]). Three modules have nothing to do with captures of a modem:
//! [`figures`] writes tables of figures, [`numbers`] reads tables of whole numbers, and [`packets`]
//! reads when packets were received.
//!
//! This crate opens no file: it writes to a given `std::io::Write`, and reads from bytes.

#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "parquet")]
pub mod figures;
pub mod json;
pub mod message;
pub mod messages;
#[cfg(feature = "parquet")]
pub mod numbers;
pub mod packets;
#[cfg(feature = "pcap")]
pub mod pcap;
pub mod privacy;
#[cfg(feature = "parquet")]
pub mod table;
