//! The modems of a modelled cell, each on a separate port.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::{io, thread};

use sounding_emu::monotonic_now;
use sounding_experiment::plan::Actors;
use sounding_modem::{Feed, Place, Simulation, Tally, feed};
use sounding_sim::Device;

use super::{EmulateError, Settings};

/// A modem that is being served. Dropping it takes its port away.
#[derive(Debug)]
pub struct ModemPort {
    /// The device.
    pub device: Device,
    /// The device's name in the plan.
    pub name: String,
    /// The source for a reader.
    pub source: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<Tally>>>,
}

/// The result of serving a modem.
#[derive(Debug)]
pub struct Served {
    /// Its device's name in the plan.
    pub name: String,
    /// Counts of its records; `None` if its port failed.
    pub tally: Option<Tally>,
}

/// The feeds for the records of devices' modems.
pub(super) type Feeds = Vec<(Device, Feed)>;

/// Opens ports for the modems of these devices. Returns also the feeds for their records.
pub(super) fn open(
    devices: &[Device],
    actors: &Actors,
    settings: &Settings,
) -> Result<(Vec<ModemPort>, Feeds), EmulateError> {
    let mut ports = Vec::new();
    let mut feeds = Vec::new();
    for (number, &device) in devices.iter().enumerate() {
        let name = actors.name_of(device);
        let fail = |source| EmulateError::Modem { device: name.clone(), source };
        let (feed, fed) = feed(monotonic_now()).map_err(fail)?;
        let place = place(&settings.place, number);
        let mut simulation =
            Simulation::new(fed, settings.behaviour.clone(), place).map_err(fail)?;
        let source = simulation.source();
        let stop = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("modem".into())
            .spawn(move || simulation.run(&until, |_| {}))
            .map_err(fail)?;
        ports.push(ModemPort { device, name: name.clone(), source, stop, thread: Some(thread) });
        feeds.push((device, feed));
    }
    Ok((ports, feeds))
}

/// The first modem has the requested place; others have places derived from it.
fn place(first: &Place, number: usize) -> Place {
    let beside = |name: &str| if number == 0 { name.into() } else { format!("{name}-{number}") };
    match first {
        Place::Pty(link) => Place::Pty(link.as_ref().map(|link| {
            let mut name = link.clone().into_os_string();
            if number > 0 {
                name.push(format!("-{number}"));
            }
            PathBuf::from(name)
        })),
        Place::Router(name) => Place::Router(beside(name)),
        Place::VendorRouter(name) => Place::VendorRouter(beside(name)),
        Place::Tcp(0) => Place::Tcp(0),
        Place::Tcp(port) => Place::Tcp(port.saturating_add(u16::try_from(number).unwrap_or(0))),
    }
}

impl ModemPort {
    /// Takes the port away.
    pub(super) fn stop(mut self) -> Served {
        let tally = self.end();
        Served { name: std::mem::take(&mut self.name), tally }
    }

    fn end(&mut self) -> Option<Tally> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()?.ok()
    }
}

impl Drop for ModemPort {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_modem_has_a_place_of_its_own() {
        assert_eq!(place(&Place::Pty(None), 3), Place::Pty(None));
        assert_eq!(place(&Place::Pty(Some("/m".into())), 0), Place::Pty(Some("/m".into())));
        assert_eq!(place(&Place::Pty(Some("/m".into())), 1), Place::Pty(Some("/m-1".into())));
        assert_eq!(place(&Place::Router("m".into()), 2), Place::Router("m-2".into()));
        assert_eq!(place(&Place::Tcp(70), 2), Place::Tcp(72));
    }
}
