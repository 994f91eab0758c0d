//! The steps by which a daemon starts. [`Daemon::start`](super::daemon::Daemon::start) and
//! [`Server::start`](super::server::Server::start) have their order.

use std::io;

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_bpf::{Instance, MAX_RADIOS, SubordinateMap};
use sounding_diag::session::Wanted;
use sounding_host::{Capabilities, keep_only};
use sounding_link::CellRates;
use sounding_modem::{OpenError, Source, Transport};

use super::config::Config;
use super::events::Events;
use super::hardware::Hardware;
use super::posts::Posts;
use super::sniffers::Sniffers;
use super::subordinates::Watched;
use super::supervisor::Supervisor;
use crate::cli_types;
use crate::cqi_rates::Store;
use crate::doctor::refuse_held;
use crate::guard::Guard;

/// What the daemon still may do once it reads a modem: open a port again that is another user's. It has that only as root.
const KEPT: Capabilities = Capabilities::DAC_OVERRIDE;

/// Starts the threads that write events and notify the service manager. They come first: they would inherit a real-time
/// priority.
pub(super) fn start_reports(config: &Config, json: bool) -> Result<(Events, Supervisor)> {
    let events = Events::new(json, cli_types::fallback(config.fallback)).into_diagnostic()?;
    let supervisor = Supervisor::find().into_diagnostic()?;
    Ok((events, supervisor))
}

/// Begins to read the sniffers. Their threads, too, come before there are priorities to inherit.
pub(super) fn start_sniffers(config: &Config) -> Result<Sniffers> {
    Sniffers::start(&config.sniffers, config.sniffed()).into_diagnostic()
}

/// Opens what is kept of cells' rates by CQI. A file that is not this user's ends it before anything is changed.
pub(super) fn open_rates(config: &Config) -> Result<(Option<Store>, Vec<CellRates>)> {
    let opened = config.cqi_rates.clone().map(Store::open).transpose()?;
    Ok(opened.map_or((None, Vec::new()), |(store, cells)| (Some(store), cells)))
}

/// Finds the modem's hardware, where no network device was named. Its network devices may come later.
pub(super) fn find_hardware(config: &mut Config, device: &Source) -> Option<Hardware> {
    let hardware = if config.interfaces.is_empty() { Hardware::behind(device) } else { None };
    config.sharing.others |= hardware.is_some();
    hardware
}

/// Refuses more network devices than the kernel side has room for.
pub(super) fn limit_interfaces(config: &Config) -> Result<()> {
    if config.interfaces.len() > MAX_RADIOS {
        return Err(miette!("a modem has at most {MAX_RADIOS} network devices: --interface"));
    }
    Ok(())
}

/// Opens the modem's port.
pub(super) fn open_port(source: &Source) -> Result<Box<dyn Transport>> {
    match source.place() {
        // A capture would be over before the first flow began.
        Source::Path(path) if path.is_file() => Err(OpenError::File { path: path.clone() }),
        _ => {
            refuse_held(source)?;
            source.open()
        }
    }
    .into_diagnostic()
    .wrap_err("the modem's Diag port does not open")
}

/// Takes the hardware's network devices for the modem's, where none was named.
pub(super) fn name_interfaces(
    config: &mut Config,
    hardware: Option<&Hardware>,
    events: &mut Events,
) {
    if config.interfaces.is_empty() {
        config.name_interfaces(hardware.map(Hardware::network_devices).unwrap_or_default());
        events.interfaces(&config.interfaces);
    }
}

/// Opens the board, if other programs are to see KPIs.
pub(super) fn open_board(config: &Config) -> Result<Option<Posts>> {
    config.board.as_deref().map(|name| Posts::new(name, &config.kpis)).transpose()
}

/// Lists the records that the modem is to send, if its masks are to be set.
pub(super) fn list_records(config: &Config, posts: Option<&Posts>) -> Option<Wanted> {
    config.mask.then(|| {
        // What the estimate needs first: the budget takes from the end.
        let channel = config.link.method.channel_codes();
        let other = config.downlink.reads_besides(config.link.direction);
        let besides = other.map_or(&[][..], sounding_kpi::codes);
        let needed = sounding_kpi::codes(config.link.direction).iter().chain(besides);
        let needed = needed.chain(channel).copied();
        let posted = posts.into_iter().flat_map(Posts::codes);
        let repeats = sounding_kpi::rlc_codes().iter().filter(|_| config.downlink.says_delays());
        Wanted {
            codes: needed.chain(posted).chain(repeats.copied()).collect(),
            budget_bytes_per_sec: config.budget.map(|rate| rate.bits_per_sec() / 8),
        }
    })
}

/// Loads the law into the kernel, under its name.
pub(super) fn load_law(config: &Config) -> Result<Instance> {
    let law = sounding_bpf::Config {
        name: config.name.clone(),
        law: config.law,
        fallback: config.fallback,
        settings: config.settings,
        sharing: config.sharing.clone(),
    };
    Instance::load(&law).map_err(|error| {
        let cure = error.cure();
        miette!(help = cure, "{error}")
    })
}

/// Has ids of `/etc/subuid` count as their users in these maps, now and while the file changes.
pub(super) fn follow_subordinates(
    maps: impl Iterator<Item = io::Result<SubordinateMap>>,
    events: &mut Events,
) -> Result<Watched> {
    let maps = maps.collect::<io::Result<_>>().into_diagnostic()?;
    Watched::start(maps, events).into_diagnostic()
}

/// Starts the guard. It restores what the later steps change, and takes out the law's name.
pub(super) fn start_guard(instance: &Instance) -> Result<Guard> {
    let mut guard = Guard::start().into_diagnostic()?;
    guard.keep_name(instance.name(), instance.outlasting()).into_diagnostic()?;
    Ok(guard)
}

/// Makes the law the default of new flows, and that of routes, as far as that is wanted. It is the last change: from here on
/// the guard takes no others.
pub(super) fn take_new_flows(config: &Config, guard: &mut Guard) -> Result<()> {
    if config.default {
        guard.set_default(&config.name).into_diagnostic()?;
    }
    for route in &config.routes {
        guard.set_route(route, &config.name).into_diagnostic()?;
    }
    guard.close().into_diagnostic()
}

/// Drops what loading and changing the machine took. The guard keeps the rights for undoing changes.
pub(super) fn drop_rights() -> Result<()> {
    keep_only(KEPT).into_diagnostic().wrap_err("capabilities cannot be dropped")
}
