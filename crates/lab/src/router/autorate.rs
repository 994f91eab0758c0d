//! cake-autorate in the router: its configuration, and what its log says.
//!
//! It is GPL-2, and runs unmodified from a checkout that the user names.

use std::path::{Path, PathBuf};

use sounding_shape::Limits;
use sounding_testbed::router::{INGRESS, Router, WAN, reflectors};
use sounding_testbed::uml::Running;
use sounding_units::Rate;

use super::ran::AutorateLog;
use crate::experiment::Failed;

/// Its program in a checkout.
const PROGRAM: &str = "cake-autorate.sh";

/// What the tuned configuration changes besides the limits, which all shapers share.
pub(super) const TUNED: &str = "\
";

/// Below this load it takes a connection for idle, by its defaults.
const ACTIVE: Rate = Rate::from_bits_per_sec(2_000_000);

/// The checkout in this folder, if it is one.
pub(super) fn checkout(folder: &Path) -> Result<PathBuf, String> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    match folder.join(PROGRAM).is_file() {
        true => Ok(folder),
        false => Err(format!("no {PROGRAM} in {}", folder.display())),
    }
}

/// The whole configuration: devices and reflectors of the rig, the limits of both directions,
/// upwards first, and changes of the defaults.
fn configuration(limits: [Limits; 2], changed: &str) -> String {
    let reflectors: Vec<String> = reflectors().map(|address| format!("\"{address}\"")).collect();
    let mut text = format!(
        "dl_if={INGRESS}\nul_if={WAN}\nreflectors=({})\noutput_cake_changes=1\n",
        reflectors.join(" ")
    );
    for (way, limits) in ["ul", "dl"].into_iter().zip(limits) {
        let rates = [("min", limits.min()), ("base", limits.base()), ("max", limits.max())];
        for (name, rate) in rates {
            let kbit = rate.bits_per_sec() / 1_000;
            text += &format!("{name}_{way}_shaper_rate_kbps={kbit}\n");
        }
    }
    // It refuses a threshold above a minimum.
    let least = limits.map(Limits::min).into_iter().min().unwrap_or(ACTIVE).min(ACTIVE);
    text += &format!("connection_active_thr_kbps={}\n", least.bits_per_sec() / 1_000);
    text + changed
}

/// Starts it in the router, whose CAKE is there already.
pub(super) fn start<'a>(
    router: &'a Router,
    checkout: &Path,
    limits: [Limits; 2],
    changed: &str,
) -> Result<Running<'a>, Failed> {
    let configuration = configuration(limits, changed);
    router.guest().run(&format!(
        "mkdir -p /run/autorate && cat >/run/autorate/config.primary.sh <<'END'\n{configuration}\nEND"
    ))?;
    let checkout = checkout.display();
    Ok(router.guest().spawn(&format!(
        "env CAKE_AUTORATE_SCRIPT_PREFIX='{checkout}' CAKE_AUTORATE_CONFIG_PREFIX=/run/autorate \
         bash '{checkout}/{PROGRAM}'"
    ))?)
}

/// Its log, and what the log counts.
pub(super) fn log(router: &Router) -> Result<(AutorateLog, String), Failed> {
    let text = router.guest().run("cat /var/log/cake-autorate*.log 2>/dev/null; true")?;
    if let Some(error) = text.lines().find(|line| line.ends_with("Exiting script.")) {
        return Err(format!("cake-autorate gave up: {error}").into());
    }
    Ok((counts(&text), text))
}

fn counts(log: &str) -> AutorateLog {
    let count = |is: fn(&&str) -> bool| log.lines().filter(is).count() as u64;
    AutorateLog {
        changes: count(|line| line.starts_with("SHAPER")),
        late: count(|line| line.contains("500ms old")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tuned_configuration_adds_to_the_other() {
        let rate = |mbit: u64| Rate::from_bits_per_sec(mbit * 1_000_000);
        let limits = [(2, 5, 9), (3, 6, 30)]
            .map(|(min, base, max)| Limits::new(rate(min), rate(base), rate(max)).expect("sorted"));
        let (plain, tuned) = (configuration(limits, ""), configuration(limits, TUNED));
        assert!(plain.contains("ul_if=vec0") && plain.contains("\"10.9.0.6\""), "{plain}");
        assert!(plain.contains("\nmin_ul_shaper_rate_kbps=2000\n"), "{plain}");
        assert!(plain.contains("\nmax_dl_shaper_rate_kbps=30000\n"), "{plain}");
        assert_eq!(tuned, plain + TUNED);
    }

    #[test]
    fn changes_and_late_answers_are_counted() {
        let log = "SHAPER; 2026; 1; tc qdisc change root dev vec0 cake bandwidth 18468Kbit\n\
                   DEBUG; 2026; 2; processed response from [10.9.0.1] that is > 500ms old. Skipping.\n\
                   DEBUG; 2026; 3; processed response from [10.9.0.2] that is > 500ms old. Skipping.\n";
        let AutorateLog { changes, late } = counts(log);
        assert_eq!((changes, late), (1, 2));
    }
}
