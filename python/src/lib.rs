//! The compiled half of the Python package `sounding`: records, columns and link estimates of
//! captures and live ports, and plans in virtual time with controllers that are written in Python.
//!
//! Everything that reads many records at once, or waits for a port, does so without Python's lock.

mod columns;
mod controller;
mod delays;
mod error;
mod events;
mod fields;
mod fleet;
mod kpis;
mod link;
mod message;
mod reader;
mod record;
mod simulate;
mod source;

use pyo3::prelude::*;

/// Records, columns and link estimates of captures and live ports; plans in virtual time.
#[pymodule]
mod _sounding {
    #[pymodule_export]
    use super::columns::columns;
    #[pymodule_export]
    use super::delays::delays;
    #[pymodule_export]
    use super::error::{
        CaptureError, CorruptError, DatasetError, PlanError, SoundingError, UnreadError,
    };
    #[pymodule_export]
    use super::events::{
        Ack, DelayUpdate, Delivered, Departure, Estimate, Loss, Part, RanDelay, Revision, Stamp,
        Start,
    };
    #[pymodule_export]
    use super::fleet::{Fleet, make_block, open_fleet};
    #[pymodule_export]
    use super::kpis::{Kpi, known_kpis, kpis};
    #[pymodule_export]
    use super::link::link;
    #[pymodule_export]
    use super::message::Message;
    #[pymodule_export]
    use super::reader::{Counts, Reader, open};
    #[pymodule_export]
    use super::record::Record;
    #[pymodule_export]
    use super::simulate::simulate;

    use pyo3::prelude::*;
    use sounding_diag::LogCode;

    /// The vendor's name of a log code, if it is a common one.
    #[pyfunction]
    fn name_of(code: u16) -> Option<&'static str> {
        LogCode::new(code).name()
    }

    /// The log codes with at least one described version.
    #[pyfunction]
    fn described_codes() -> Vec<u16> {
        sounding_diag::record::CODES.iter().map(|code| code.number()).collect()
    }

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        sounding_experiment::provenance::made_from(env!("SOUNDING_COMMIT"));
        Ok(())
    }
}
