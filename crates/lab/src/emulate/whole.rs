use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread;

use sounding_emu::monotonic_now;
use sounding_modem::{Behaviour, Place};

use super::{EmulateError, Emulated, Ended, FlowFigures, Settings, Users, figures};
use crate::plan::Run;

/// Runs a plan from beginning to end, its modems on ptys, `program` as daemon for BISCAY, with so much of a core for
/// punctuality.
pub fn whole(
    run: &Run,
    program: PathBuf,
    overhead_percent: u8,
) -> Result<(Vec<FlowFigures>, Ended), EmulateError> {
    let settings = Settings {
        users: Users::Flows { program },
        place: Place::Pty(None),
        behaviour: Behaviour::default(),
        overhead_percent,
    };
    let emulated = Emulated::start(run, &settings)?;
    let sent = emulated.send(&AtomicBool::new(false))?;
    // What the last packets do still belongs to the plan, up to its end.
    thread::sleep(emulated.emulation().started() + run.plan.duration - monotonic_now());
    let ended = emulated.stop()?;
    Ok((figures(&run.plan, &ended.report, &sent), ended))
}
