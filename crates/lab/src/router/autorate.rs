//! cake-autorate in the router: its configuration, and what its log says.
//!
//! It is GPL-2, and runs unmodified from a checkout that the user names.

use std::path::{Path, PathBuf};

use sounding_testbed::router::{INGRESS, Router, WAN, reflectors};
use sounding_testbed::uml::Running;

use super::ran::AutorateLog;
use crate::experiment::Failed;

/// Its program in a checkout.
const PROGRAM: &str = "cake-autorate.sh";

/// What the tuned configuration changes of the defaults, which are 5000, 20000 and 35000 kbit/s
/// upwards and 5000, 20000 and 80000 downwards: rates of the cells here, chosen by hand. The
/// interval of pings is the default's. With half of it a loaded machine runs the program too late.
pub(super) const TUNED: &str = "\
min_ul_shaper_rate_kbps=2000
base_ul_shaper_rate_kbps=12000
max_ul_shaper_rate_kbps=60000
min_dl_shaper_rate_kbps=5000
base_dl_shaper_rate_kbps=20000
max_dl_shaper_rate_kbps=100000
";

/// The checkout in this folder, if it is one.
pub(super) fn checkout(folder: &Path) -> Result<PathBuf, String> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    match folder.join(PROGRAM).is_file() {
        true => Ok(folder),
        false => Err(format!("no {PROGRAM} in {}", folder.display())),
    }
}

/// The whole configuration: devices and reflectors of the rig, and changes of the defaults.
fn configuration(changed: &str) -> String {
    let reflectors: Vec<String> = reflectors().map(|address| format!("\"{address}\"")).collect();
    format!(
        "dl_if={INGRESS}\nul_if={WAN}\nreflectors=({})\noutput_cake_changes=1\n{changed}",
        reflectors.join(" ")
    )
}

/// Starts it in the router, whose CAKE is there already.
pub(super) fn start<'a>(
    router: &'a Router,
    checkout: &Path,
    changed: &str,
) -> Result<Running<'a>, Failed> {
    let configuration = configuration(changed);
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
        let (plain, tuned) = (configuration(""), configuration(TUNED));
        assert!(plain.contains("ul_if=vec0") && plain.contains("\"10.9.0.6\""), "{plain}");
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
