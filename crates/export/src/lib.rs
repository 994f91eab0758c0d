//! What captures are converted to: JSON lines ([`json`]), Parquet ([`table`]), pcap with GSMTAP ([`pcap`]) and captures
//! of other formats (`sounding_diag::capture::Format::emit`); and which parts must stay private ([`privacy`]). In
//! addition [`figures`], which are not of captures, and [`numbers`], which reads tables of whole numbers back.
//!
//! Nothing here opens a file: everything is written to a `std::io::Write` that is handed in, and read from bytes.

#![forbid(unsafe_code)]

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
