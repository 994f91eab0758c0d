//! The congestion control of routes, by the tool that knows them.

use std::process::Command;

use sounding_host::tool;

use super::GuardError;

/// The keyword of `ip route` for a route's algorithm.
const KEY: &str = "congctl";

/// A route as the words of `ip route`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route(Vec<String>);

impl Route {
    /// The one route to exactly this prefix.
    pub(super) fn only(prefix: &str) -> Result<Self, GuardError> {
        let shown = ip(&["route", "show", "exact", prefix])?;
        let routes: Vec<&str> = shown.lines().filter(|line| !line.trim().is_empty()).collect();
        match routes[..] {
            [route] => Ok(Self::from_shown(route)),
            _ => Err(GuardError::NotOne { prefix: prefix.into(), count: routes.len() }),
        }
    }

    /// Keeps the words of `ip`'s output that describe the route. `ip` also prints the state of the
    /// route's device, but does not accept it as input.
    fn from_shown(route: &str) -> Self {
        const STATES: [&str; 3] = ["linkdown", "dead", "offload"];
        let words = route.split_whitespace().filter(|word| !STATES.contains(word));
        Self(words.map(Into::into).collect())
    }

    /// The algorithm of new flows over this route, if it names one.
    pub(super) fn algorithm(&self) -> Option<&str> {
        self.0.windows(2).find(|pair| pair[0] == KEY).map(|pair| pair[1].as_str())
    }

    /// The same route with another algorithm, or without one.
    pub(super) fn with(&self, algorithm: Option<&str>) -> Self {
        let mut rest = self.0.iter();
        let mut words = Vec::new();
        while let Some(word) = rest.next() {
            if word == KEY {
                rest.next();
            } else {
                words.push(word.clone());
            }
        }
        words.extend(algorithm.into_iter().flat_map(|name| [KEY.to_string(), name.to_string()]));
        Self(words)
    }

    /// Has it be so.
    pub(super) fn set(&self) -> Result<(), GuardError> {
        let mut all = vec!["route", "replace"];
        all.extend(self.0.iter().map(String::as_str));
        ip(&all).map(drop)
    }
}

fn ip(words: &[&str]) -> Result<String, GuardError> {
    let output = Command::new(tool("ip")).args(words).output().map_err(GuardError::NoTool)?;
    if !output.status.success() {
        return Err(GuardError::Tool {
            words: words.join(" "),
            message: String::from_utf8_lossy(&output.stderr).trim().to_string(),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_described_without_the_state_of_its_device() {
        let route = Route::from_shown("10.0.0.0/24 dev veth0 proto kernel scope link linkdown");
        assert_eq!(route.0.join(" "), "10.0.0.0/24 dev veth0 proto kernel scope link");
        assert_eq!(route.algorithm(), None);
    }

    #[test]
    fn an_older_choice_of_algorithm_gives_way_and_comes_back() {
        let route = Route::from_shown("default via 10.0.0.1 congctl cubic dev eth0");
        assert_eq!(route.algorithm(), Some("cubic"));
        let ours = route.with(Some("biscay"));
        assert_eq!(ours.0.join(" "), "default via 10.0.0.1 dev eth0 congctl biscay");
        assert_eq!(ours.with(None).0.join(" "), "default via 10.0.0.1 dev eth0");
        assert_eq!(ours.with(route.algorithm()).algorithm(), Some("cubic"));
    }
}
