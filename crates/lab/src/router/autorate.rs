//! cake-autorate in the router: its configuration, and what its log says.
//!
//! It is GPL-2, and runs unmodified from a checkout that the user names.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use sounding_shape::Limits;
use sounding_testbed::router::{INGRESS, Router, WAN, reflectors};
use sounding_testbed::uml::Running;
use sounding_units::Rate;

use super::ran::AutorateLog;
use crate::experiment::Failed;

/// Its program in a checkout.
const PROGRAM: &str = "cake-autorate.sh";

/// What the tuned configuration changes besides the limits, which all shapers share. Of 41 settings
/// it has the most throughput for its 95th percentile (docs/results/router.md).
pub(super) const TUNED: &str = "\
no_pingers=4
reflector_ping_interval_s=0.3
dl_owd_delta_delay_thr_ms=10.0
dl_avg_owd_delta_max_adjust_up_thr_ms=5.0
dl_avg_owd_delta_max_adjust_down_thr_ms=30.0
ul_owd_delta_delay_thr_ms=10.0
ul_avg_owd_delta_max_adjust_up_thr_ms=5.0
ul_avg_owd_delta_max_adjust_down_thr_ms=30.0
bufferbloat_detection_window=4
bufferbloat_detection_thr=2
shaper_rate_max_adjust_down_bufferbloat=0.75
shaper_rate_min_adjust_down_bufferbloat=0.95
shaper_rate_max_adjust_up_load_high=1.15
shaper_rate_min_adjust_up_load_high=1.0
high_load_thr=0.6
bufferbloat_refractory_period_ms=100
debug=1
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
///
/// It is one line: the program checks the first word of each line in processes of its own, and
/// forty of them take ten seconds in the guest.
fn configuration(limits: [Limits; 2], changed: &str) -> String {
    let reflectors: Vec<String> = reflectors().map(|address| format!("\"{address}\"")).collect();
    let mut lines = vec![
        format!("dl_if={INGRESS}"),
        format!("ul_if={WAN}"),
        format!("reflectors=({})", reflectors.join(" ")),
        "output_cake_changes=1".into(),
    ];
    for (way, limits) in ["ul", "dl"].into_iter().zip(limits) {
        for (name, rate) in limits.named() {
            let kbit = rate.bits_per_sec() / 1_000;
            lines.push(format!("{name}_{way}_shaper_rate_kbps={kbit}"));
        }
    }
    // It refuses a threshold above a minimum.
    let least = limits.map(Limits::min).into_iter().min().unwrap_or(ACTIVE).min(ACTIVE);
    lines.push(format!("connection_active_thr_kbps={}", least.bits_per_sec() / 1_000));
    lines.extend(changed.lines().map(str::to_owned));
    lines.join("; ")
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

/// Its log, and what the log counts of a run whose load began at this time.
pub(super) fn log(router: &Router, load: SystemTime) -> Result<(AutorateLog, String), Failed> {
    let text = router.guest().run("cat /var/log/cake-autorate*.log 2>/dev/null; true")?;
    if let Some(error) = text.lines().find(|line| line.ends_with("Exiting script.")) {
        return Err(format!("cake-autorate gave up: {error}").into());
    }
    Ok((counts(&text, load), text))
}

/// When it had started, as its log says it: a line has a word, a date, and seconds of 1970.
fn started(log: &str) -> Option<f64> {
    let line = log.lines().find(|line| line.contains("; Started cake-autorate"))?;
    line.split("; ").nth(2)?.parse().ok()
}

fn counts(log: &str, load: SystemTime) -> AutorateLog {
    let load = load.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let count = |is: fn(&&str) -> bool| log.lines().filter(is).count() as u64;
    AutorateLog {
        changes: count(|line| line.starts_with("SHAPER")),
        late: count(|line| line.contains("500ms old")),
        ahead_s: started(log).map(|started| load - started),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_tuned_configuration_adds_to_the_other() {
        let rate = |mbit: u64| Rate::from_bits_per_sec(mbit * 1_000_000);
        let limits = [(2, 5, 9), (3, 6, 30)]
            .map(|(min, base, max)| Limits::new(rate(min), rate(base), rate(max)).expect("sorted"));
        let (plain, tuned) = (configuration(limits, ""), configuration(limits, TUNED));
        assert!(plain.contains("ul_if=vec0") && plain.contains("\"10.9.0.6\""), "{plain}");
        assert!(plain.contains("; min_ul_shaper_rate_kbps=2000; "), "{plain}");
        assert!(plain.contains("; max_dl_shaper_rate_kbps=30000; "), "{plain}");
        assert!(tuned.starts_with(&plain) && !tuned.contains('\n'), "{tuned}");
    }

    #[test]
    fn changes_and_late_answers_are_counted() {
        let log = "SHAPER; 2026; 1; tc qdisc change root dev vec0 cake bandwidth 18468Kbit\n\
                   DEBUG; 2026; 2; processed response from [10.9.0.1] that is > 500ms old. Skipping.\n\
                   DEBUG; 2026; 3; processed response from [10.9.0.2] that is > 500ms old. Skipping.\n";
        let load = UNIX_EPOCH + Duration::from_secs(1_795_887_748);
        let AutorateLog { changes, late, ahead_s } = counts(log, load);
        assert_eq!((changes, late, ahead_s), (1, 2, None));
        let log = "INFO; 2026-11-28-17:42:26; 1795887746.5; Started cake-autorate with PID: 7\n";
        assert_eq!(counts(log, load).ahead_s, Some(1.5));
    }
}
