//! Ports that could belong to a modem. The check asks each port for its version, and names every
//! obstacle with its cure.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use sounding_modem::{OpenError, Probe, RouterSocket, Source, Transport, probe};

use super::beside;
use super::held::{held, is_memory, unseen};
use super::holders::{Holder, holders};
use super::usb::{hardware_behind, orphans};
use super::{Check, More, limits, manager};
use crate::cli_types::RouterUser;

/// More about a port.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Port {
    /// The value for `--device`.
    source: String,
    /// The processes that have it open.
    held_by: Vec<Holder>,
    /// When the modem's software was compiled.
    compiled: Option<String>,
    /// The modem's software version.
    build: Option<String>,
    /// Other ports of the same modem, which are left alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<String>,
}

/// A modem answers within milliseconds; a slow one that has just woken, within this.
const PATIENCE: Duration = Duration::from_millis(500);

/// The cure of a port that is not the Diag port.
const OTHER_PORT: &str = "try the other ports of the modem, and switch its Diag port on: on Android as root \
                          `setprop sys.usb.config diag,adb`, on Quectel modems `AT+QCFG=\"usbcfg\"`";

/// One check for each port, or one check that explains why there is no port.
pub(crate) fn checks(folder: &Path, sys: &Path, user: RouterUser) -> Vec<Check> {
    let mut checks: Vec<Check> = match candidates(folder) {
        Ok(found) => modems(sys, found).iter().flat_map(|ports| modem(sys, ports)).collect(),
        Err(error) => {
            let detail = format!("{}: {error}", folder.display());
            let cure = limits::cure(&error, "name a folder that can be read");
            vec![no("ports", detail, cure)]
        }
    };
    // The routers' sockets have no path: they are there or they are not.
    let known = RouterSocket::default;
    let routers = [Source::Router(known()), Source::VendorRouter(known())];
    let routers = routers.map(|router| user.if_router(router));
    let routers = routers.into_iter().filter(|_| folder == Path::new("/dev"));
    // Both kinds may have the same name: the one that answers as its kind does is there.
    let mut there: Vec<Check> = routers.filter_map(router).collect();
    let answers = there.iter().position(|check| check.ok).unwrap_or_default();
    checks.extend((!there.is_empty()).then(|| there.swap_remove(answers)));
    let orphans = orphans(sys);
    checks.extend(orphans.into_iter().map(|orphan| {
        no(
            &format!("usb {}:{}", orphan.vendor, orphan.product),
            format!("a modem of {} is plugged in and has no driver", orphan.maker),
            format!(
                "sudo modprobe option && echo {} {} | sudo tee /sys/bus/usb-serial/drivers/option1/new_id",
                orphan.vendor, orphan.product
            ),
        )
    }));
    if checks.is_empty() {
        checks.push(no(
            "ports",
            format!("no ttyUSB*, ttyACM*, wwan*qcdm* or diag in {}", folder.display()),
            "plug a modem in; `sounding modem sim` is one to try with".into(),
        ));
    }
    checks
}

/// Devices that may be a Diag port, selected by name. The answer decides.
fn candidates(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let wwan = name.starts_with("wwan") && name.contains("qcdm");
            let serial = name.starts_with("ttyUSB") || name.starts_with("ttyACM");
            (wwan || serial || name == "diag")
                && fs::metadata(path).is_ok_and(|meta| meta.file_type().is_char_device())
        })
        .collect();
    found.sort();
    Ok(found)
}

/// The ports of each modem, in the order of their names.
fn modems(sys: &Path, ports: Vec<PathBuf>) -> Vec<Vec<PathBuf>> {
    let mut modems: Vec<(Option<PathBuf>, Vec<PathBuf>)> = Vec::new();
    for port in ports {
        let hardware = hardware_behind(sys, Path::new(port.file_name().unwrap_or_default()));
        let same = modems.iter_mut().find(|(known, _)| hardware.is_some() && *known == hardware);
        match same {
            Some((_, ports)) => ports.push(port),
            None => modems.push((hardware, vec![port])),
        }
    }
    modems.into_iter().map(|(_, ports)| ports).collect()
}

/// Asks the ports of one modem until one answers. The others are left alone then: a port for AT
/// commands needs no cure.
fn modem(sys: &Path, ports: &[PathBuf]) -> Vec<Check> {
    let mut checks = Vec::new();
    for port in ports {
        let check = device(sys, &Source::Path(port.clone()), port, ports.len() == 1);
        if check.ok {
            let others: Vec<&PathBuf> = ports.iter().filter(|other| *other != port).collect();
            return answers(sys, port, check, &others);
        }
        checks.push(check);
    }
    checks
}

/// The checks of a modem one of whose ports has answered.
fn answers(sys: &Path, port: &Path, mut check: Check, others: &[&PathBuf]) -> Vec<Check> {
    let is_managed = others
        .iter()
        .any(|port| holders(port).is_ok_and(|holders| holders.iter().any(manager::is_manager)));
    let names: Vec<String> = others.iter().map(|port| port.display().to_string()).collect();
    if let (Some(More::Port(about)), [_, ..]) = (&mut check.more, others) {
        check.detail += &format!("; other ports of it are left alone: {}", names.join(", "));
        about.others = names;
    }
    let mut checks = vec![check];
    if is_managed {
        let name = port.display();
        let found = match manager::is_left_alone(port) {
            true => Ok(format!("a rule has it leave {name} alone")),
            false => {
                Err(format!("it has another port of this modem open, and may take {name} too"))
            }
        };
        let cure = manager::rule(sys, port);
        checks.push(super::check("modem", "ModemManager", found, &cure));
    }
    checks
}

/// The source of a modem that has answered.
pub(super) fn answered(check: &Check) -> Option<&str> {
    match &check.more {
        Some(More::Port(port)) if check.ok => Some(&port.source),
        _ => None,
    }
}

fn no(name: &str, detail: String, cure: String) -> Check {
    Check { area: "modem", name: name.into(), ok: false, detail, cure, more: None }
}

/// The check of a source that the user has named.
pub(super) fn only(sys: &Path, source: &Source) -> Check {
    match source.place() {
        Source::Path(path) if !is_memory(path) => device(sys, source, path, true),
        _ => read_beside(source, &[]).unwrap_or_else(|| ask(source)),
    }
}

/// `is_only` if no other port of its modem could be Diag.
fn device(sys: &Path, source: &Source, path: &Path, is_only: bool) -> Check {
    let name = source.to_string();
    let held_by = match holders(path) {
        Ok(held_by) => held_by,
        Err(error) => {
            let port = Port { source: name.clone(), ..Port::default() };
            let cure = limits::cure(&error, "run as root");
            return Check { more: Some(More::Port(port)), ..no(&name, unseen(&error), cure) };
        }
    };
    if let Some(check) = read_beside(source, &held_by) {
        return check;
    }
    // A port that is in use is left alone: see `held::refuse`.
    if let Some(holder) = held_by.first() {
        let detail = held(holder);
        // A rule for a port of AT commands would take it from ModemManager, which needs it.
        let is_diag = is_only || name.contains("qcdm");
        let cure = match manager::is_manager(holder) && !is_diag {
            true => manager::ask_without(holder),
            false => manager::release(sys, path, holder),
        };
        let port = Port { source: name.clone(), held_by, ..Port::default() };
        return Check { more: Some(More::Port(port)), ..no(&name, detail, cure) };
    }
    ask(source)
}

/// The check of a port whose holder serves readers beside itself.
fn read_beside(source: &Source, held_by: &[Holder]) -> Option<Check> {
    let name = source.to_string();
    let port = Port { source: name.clone(), held_by: held_by.to_vec(), ..Port::default() };
    let client = match beside::daemon(source, held_by, Some(&[])) {
        Ok(client) => client?,
        Err(error) => {
            let cure = error.help().map_or_else(|| "run as root".into(), |help| help.to_string());
            return Some(Check {
                more: Some(More::Port(port)),
                ..no(&name, error.to_string(), cure)
            });
        }
    };
    let greeting = client.greeting();
    let build = greeting.build.as_deref().unwrap_or("software unknown");
    let compiled = greeting.compiled.as_deref().unwrap_or("at a time unknown");
    let detail = format!(
        "held by a daemon (process {}), and read beside it: {build}, compiled {compiled}",
        client.process()
    );
    let port = Port { compiled: greeting.compiled.clone(), build: greeting.build.clone(), ..port };
    let more = Some(More::Port(port));
    Some(Check { area: "modem", name, ok: true, detail, cure: String::new(), more })
}

/// The check of a router that is there.
fn router(source: Source) -> Option<Check> {
    match source.open() {
        Err(OpenError::NoRouter { .. }) => None,
        // The request uses the connection that found the port, because a router may serve only one
        // reader at a time.
        opened => Some(ask_on(&source, opened)),
    }
}

fn ask(source: &Source) -> Check {
    ask_on(source, source.open())
}

fn ask_on(source: &Source, opened: Result<Box<dyn Transport>, OpenError>) -> Check {
    let name = source.to_string();
    let port = Port { source: name.clone(), ..Port::default() };
    let probed = match opened {
        Ok(mut transport) => probe(transport.as_mut(), PATIENCE),
        Err(error) => {
            let cure = cure_of(&error, &name);
            return Check { more: Some(More::Port(port)), ..no(&name, error.to_string(), cure) };
        }
    };
    match probed {
        Ok(Probe::Answers(identity)) => {
            let build = identity.build.as_deref().unwrap_or("software unknown");
            let compiled = identity.compiled.as_deref().unwrap_or("at a time unknown");
            let detail = format!("a modem answers: {build}, compiled {compiled}");
            let port = Port { compiled: identity.compiled, build: identity.build, ..port };
            Check {
                area: "modem",
                name,
                ok: true,
                detail,
                cure: String::new(),
                more: Some(More::Port(port)),
            }
        }
        Ok(Probe::Talks) => Check {
            area: "modem",
            name,
            ok: true,
            detail: "Diag records come by themselves; there are no answers to requests".into(),
            cure: String::new(),
            more: Some(More::Port(port)),
        },
        Ok(Probe::Echoes) => {
            let detail = "it sends requests back: it is a port for AT commands, not for Diag";
            Check { more: Some(More::Port(port)), ..no(&name, detail.into(), OTHER_PORT.into()) }
        }
        Ok(Probe::Silent) if answers_unframed(source) => {
            let source = format!("non-hdlc:{name}");
            let detail = format!("a modem answers without HDLC framing: name it {source}");
            let port = Port { source, ..port };
            Check {
                area: "modem",
                name,
                ok: true,
                detail,
                cure: String::new(),
                more: Some(More::Port(port)),
            }
        }
        Ok(Probe::Silent) => {
            let detail = "no Diag frame in answer to a version request";
            Check { more: Some(More::Port(port)), ..no(&name, detail.into(), OTHER_PORT.into()) }
        }
        Err(error) => {
            let cure = "unplug the modem and plug it in again";
            Check { more: Some(More::Port(port)), ..no(&name, error.to_string(), cure.into()) }
        }
    }
}

/// Whether a modem answers that has the framing switched off.
fn answers_unframed(source: &Source) -> bool {
    // Routers are not tested so, because the text would not name their user.
    let unframed = format!("non-hdlc:{source}").parse::<Source>().ok();
    let port = unframed.and_then(|source| source.open().ok());
    port.is_some_and(|mut port| {
        matches!(probe(port.as_mut(), PATIENCE), Ok(Probe::Answers(_) | Probe::Talks))
    })
}

fn cure_of(error: &OpenError, name: &str) -> String {
    match error {
        OpenError::Denied { .. } => {
            "run as root, or `sudo usermod --append --groups dialout $USER` and log in again".into()
        }
        OpenError::Busy { .. } => format!("`sudo fuser -v {name}` names the program: end it"),
        OpenError::Missing { .. } => "plug the modem in; `sudo modprobe option`".into(),
        OpenError::Stranger { user, process, .. } => format!(
            "end process {process} unless it is the router; if it is, give --router-user {user}"
        ),
        OpenError::Switch { .. } => {
            "end the other program that logs: `sudo fuser -v /dev/diag` names it".into()
        }
        _ => "another port of the same modem may be its Diag port".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_folder_has_no_ports_and_the_cure_is_a_modem() {
        let folder = tempfile::tempdir().expect("a folder");
        let checks = checks(folder.path(), Path::new("/sys"), RouterUser::default());
        let last = checks.last().expect("one at least");
        assert!(!last.ok && !last.cure.is_empty());
    }
}
