//! What captures are turned into: JSON lines ([`json`]), Parquet ([`table`]), pcap with GSMTAP ([`pcap`]) and captures of
//! other formats (`sounding_diag::capture::Format::emit`); and what of it must not leave the house ([`privacy`]). Beside
//! them [`figures`], which are not of captures, and [`numbers`], which reads tables of whole numbers back.
//!
//! Nothing here opens a file: everything is written to a `std::io::Write` that is handed in, and read from bytes.

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
pub mod pcap;
pub mod privacy;
#[cfg(feature = "parquet")]
pub mod table;
