use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{About, Files, Keep, Output, SimulateError, simulate};
use crate::plan::Run;

/// The capture of the modem, for a run with a single device.
///
/// # Errors
///
/// [`SimulateError::Plan`] if the plan is wrong.
pub fn capture(run: &Run, about: &About) -> Result<Vec<u8>, SimulateError> {
    let keep = Keep { captures: true, ..Keep::default() };
    let mut kept = Kept::default();
    let go_on = &mut |_: Duration| ControlFlow::Continue(());
    simulate(run, &keep, about, &mut kept, go_on)?;
    Ok(std::mem::take(&mut *kept.0.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// The one file that such a run leaves.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Files for Kept {
    fn create(&mut self, _name: &str) -> io::Result<Output> {
        Ok(Box::new(self.clone()))
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
