//! The rules of udev for the ports of this machine, printed or written.

use std::path::Path;
use std::process::ExitCode;

use miette::{IntoDiagnostic as _, Result, miette};
use sounding_modem::Source;

use super::udev::Rule;
use super::{Check, Doctor, ports};
use crate::screen;

/// `--udev-rule` and `--write-udev-rule`: the rule for each port at which a modem has answered.
pub(super) fn run(args: &Doctor) -> Result<ExitCode> {
    let checks = match &args.device {
        Some(source) => {
            let source = args.router.of(source.clone()).into_diagnostic()?;
            vec![ports::only(&args.sys, &source)]
        }
        None => ports::checks(&args.ports, &args.sys, args.router),
    };
    for check in checks.iter().filter(|check| !check.ok) {
        let [name, detail] = [&check.name, &check.detail].map(|text| screen::inline(text));
        eprintln!("sounding: {name}: {detail}");
    }
    let rules = rules(&args.sys, &checks);
    if rules.is_empty() {
        return Err(miette!(
            help = "`sudo sounding doctor` names the cure at each port; if ModemManager has the ports open, \
                    `sudo systemctl stop ModemManager` first",
            "no modem has answered at a device of this machine, and a rule is only for one that has"
        ));
    }
    for rule in &rules {
        if !args.write_udev_rule {
            println!("{}", rule.line);
            continue;
        }
        let folder = &args.udev_rules;
        let path = rule.write(folder).map_err(|error| {
            let path = folder.join(&rule.file);
            miette!(
                help = "run as root, on a machine that has udev",
                "{}: {error}",
                screen::path(&path)
            )
        })?;
        eprintln!("sounding: written: {}", screen::path(&path));
    }
    if args.write_udev_rule {
        eprintln!(
            "sounding: it takes effect with: sudo udevadm control --reload && sudo udevadm trigger && \
             sudo systemctl restart ModemManager"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn rules(sys: &Path, checks: &[Check]) -> Vec<Rule> {
    let sources = checks.iter().filter_map(ports::answered);
    let sources = sources.filter_map(|source| source.parse::<Source>().ok());
    let mut rules: Vec<Rule> = sources
        .filter_map(|source| match source.place() {
            Source::Path(port) => Rule::of(sys, port),
            _ => None,
        })
        .collect();
    rules.dedup();
    rules
}
