//! The policy for sharing the link, as the command line and the file write it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use sounding_bpf::{Application, MAX_WEIGHTS, Owner, Policy, Sharing};
use thiserror::Error;

/// By what the link is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ShareWord {
    /// Every user alike, and every active flow of a user
    Equal,
    /// Every application of a user alike, however many flows it opens
    App,
    /// By the weights given; a user by the mean of its flows'
    Weighted,
}

/// What an application is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ApplicationWord {
    /// A user: on Android, each application is one
    User,
    /// A cgroup: under systemd, each service or application has one
    Cgroup,
}

/// What is wrong with a weight.
#[derive(Debug, Error)]
pub(crate) enum WeightError {
    /// No such kind of owner, or none at all.
    #[error("cc.weights: {0:?} is not user:NUMBER, port:NUMBER or cgroup:FOLDER")]
    Owner(String),
    /// The folder is not there.
    #[error(
        "cc.weights: {folder}: {error}: a cgroup of version 2 is a folder below /sys/fs/cgroup"
    )]
    Cgroup { folder: String, error: std::io::Error },
    /// Outside what the arithmetic takes.
    #[error("cc.weights: {0} is outside 0.01 to 1000; an ordinary flow has 1")]
    Factor(f64),
    /// On the command line.
    #[error("--weight: {0:?} is not OWNER=FACTOR, as in port:443=2")]
    Pair(String),
    /// More than the kernel side has room for.
    #[error("cc.weights: {0} of them, and there is room for {MAX_WEIGHTS}")]
    TooMany(usize),
    /// They would not be looked at.
    #[error("cc.weights: flows share by weights only with share = \"weighted\"")]
    Unused,
}

/// Owners and factors, from the file and the flags; a flag wins over the file's line on the same
/// owner.
pub(super) fn sharing(
    share: ShareWord,
    application: ApplicationWord,
    mut weights: BTreeMap<String, f64>,
    flags: &[String],
    others: bool,
) -> Result<Sharing, WeightError> {
    for flag in flags {
        let pair = flag
            .rsplit_once('=')
            .and_then(|(owner, factor)| Some((owner.to_string(), factor.parse::<f64>().ok()?)));
        let (owner, factor) = pair.ok_or_else(|| WeightError::Pair(flag.clone()))?;
        weights.insert(owner, factor);
    }
    if weights.len() > MAX_WEIGHTS {
        return Err(WeightError::TooMany(weights.len()));
    }
    if !weights.is_empty() && share != ShareWord::Weighted {
        return Err(WeightError::Unused);
    }
    let weights = weights.into_iter().map(|(text, factor)| Ok((owner(&text)?, weight(factor)?)));
    Ok(Sharing {
        policy: match share {
            ShareWord::Equal => Policy::Flows,
            ShareWord::App => Policy::Applications,
            ShareWord::Weighted => Policy::Weights,
        },
        application: match application {
            ApplicationWord::User => Application::User,
            ApplicationWord::Cgroup => Application::Cgroup,
        },
        weights: weights.collect::<Result<_, WeightError>>()?,
        others,
    })
}

fn owner(text: &str) -> Result<Owner, WeightError> {
    let wrong = || WeightError::Owner(text.into());
    let (kind, name) = text.split_once(':').ok_or_else(wrong)?;
    match kind {
        "user" => name.parse().map(Owner::User).map_err(|_| wrong()),
        "port" => name.parse().map(Owner::Port).map_err(|_| wrong()),
        "cgroup" => {
            let found = fs::metadata(name);
            let found =
                found.map_err(|error| WeightError::Cgroup { folder: name.into(), error })?;
            Ok(Owner::Cgroup(found.ino()))
        }
        _ => Err(wrong()),
    }
}

/// In 1/256 of an ordinary flow's.
fn weight(factor: f64) -> Result<u32, WeightError> {
    if (0.01..=1000.0).contains(&factor) {
        Ok((factor * f64::from(sounding_cc::sharing::WEIGHT)).round() as u32)
    } else {
        Err(WeightError::Factor(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(flags: &[&str]) -> Result<Sharing, WeightError> {
        let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
        let file = BTreeMap::from([("user:1000".to_string(), 2.0)]);
        sharing(ShareWord::Weighted, ApplicationWord::User, file, &flags, false)
    }

    #[test]
    fn weights_are_of_users_ports_and_cgroups_and_flags_win() {
        let found = weighted(&["port:443=0.5", "user:1000=3", "cgroup:/=1"]).expect("fine");
        let root = fs::metadata("/").expect("a folder").ino();
        let expected =
            [(Owner::Cgroup(root), 256), (Owner::Port(443), 128), (Owner::User(1000), 768)];
        assert_eq!(found.weights, expected);
        assert_eq!(found.policy, Policy::Weights);
    }

    #[test]
    fn a_weight_that_is_none_is_refused_with_what_it_should_be() {
        for (flag, said) in [
            ("port:443", "port:443=2"),
            ("port:70000=1", "port:NUMBER"),
            ("pid:1=1", "user:NUMBER"),
            ("cgroup:/no/such/folder=1", "/sys/fs/cgroup"),
            ("port:443=0", "0.01 to 1000"),
            ("port:443=nan", "0.01 to 1000"),
        ] {
            let error = weighted(&[flag]).expect_err(flag).to_string();
            assert!(error.contains(said), "{flag}: {error}");
        }
    }

    #[test]
    fn weights_without_the_policy_that_looks_at_them_are_refused() {
        let weights = BTreeMap::from([("port:443".to_string(), 2.0)]);
        let error = sharing(ShareWord::App, ApplicationWord::User, weights, &[], false);
        assert!(matches!(error, Err(WeightError::Unused)));
    }
}
