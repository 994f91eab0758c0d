use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use sounding_emu::monotonic_now;
use sounding_experiment::plan::Run;

use super::{EmulateError, Emulated, Ended, FlowFigures, Settings, figures};

/// Runs a plan from beginning to end, or until `stop` rises, its modems on ptys, `program` as
/// daemon for BISCAY, with this much of a core for punctuality.
pub fn whole(
    run: &Run,
    program: PathBuf,
    overhead_percent: u8,
    stop: &AtomicBool,
) -> Result<(Vec<FlowFigures>, Ended), EmulateError> {
    let settings = Settings { overhead_percent, ..Settings::flows(program) };
    let emulated = Emulated::start(run, &settings)?;
    let sent = emulated.send(stop)?;
    // The last packets still belong to the plan, up to its end.
    let end = emulated.emulation().started() + run.plan.duration;
    while monotonic_now() < end && !stop.load(Ordering::Relaxed) {
        thread::sleep((end - monotonic_now()).min(Duration::from_millis(10)));
    }
    let ended = emulated.stop()?;
    Ok((figures(&run.plan, &ended.report, &sent), ended))
}
