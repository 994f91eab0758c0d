//! The sockets that a process has claimed, and their text. A separate file, because the fuzz target
//! includes it.

use std::collections::BTreeSet;

/// What a process claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sockets {
    /// Their network namespace.
    pub(super) netns_cookie: u64,
    /// The number of their cgroup, with all its descendants, and those of its ancestors.
    pub(super) cgroups: Vec<u64>,
    /// The devices that they receive by; empty for all.
    pub(super) interfaces: BTreeSet<String>,
}

impl Sockets {
    /// Whether some are both's.
    pub(super) fn overlap(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.interfaces, &other.interfaces);
        let shares_interface = ours.is_empty() || theirs.is_empty() || !ours.is_disjoint(theirs);
        let is_below = |one: &Self, other: &Self| {
            one.cgroups.first().is_some_and(|cgroup| other.cgroups.contains(cgroup))
        };
        let shares_cgroup = is_below(self, other) || is_below(other, self);
        self.netns_cookie == other.netns_cookie && shares_interface && shares_cgroup
    }

    /// What a person calls them.
    pub(super) fn name(&self) -> String {
        let interfaces: Vec<_> = self.interfaces.iter().map(String::as_str).collect();
        let over = match interfaces[..] {
            [] => "every interface".into(),
            _ => interfaces.join(", "),
        };
        format!("what comes over {over}")
    }

    /// Lines of a word and its value.
    pub(super) fn to_text(&self, process: u32) -> String {
        let Self { netns_cookie, cgroups, interfaces } = self;
        let mut text = format!("process {process}\nnetns {netns_cookie}\ncgroups");
        for cgroup in cgroups {
            text.push_str(&format!(" {cgroup}"));
        }
        text.push('\n');
        for interface in interfaces {
            text.push_str(&format!("interface {interface}\n"));
        }
        text
    }

    /// The process and its sockets; `None` where the text is none of ours.
    pub(super) fn from_text(text: &str) -> Option<(u32, Self)> {
        let mut lines = text.split_terminator('\n');
        let mut value = |key| lines.next()?.strip_prefix(key)?.strip_prefix(' ');
        let process = value("process")?.parse().ok()?;
        let netns_cookie = value("netns")?.parse().ok()?;
        let cgroups = value("cgroups")?.split(' ').map(|cgroup| cgroup.parse().ok());
        let cgroups = cgroups.collect::<Option<_>>()?;
        let interfaces = lines.map(|line| line.strip_prefix("interface ").map(String::from));
        let interfaces = interfaces.collect::<Option<_>>()?;
        Some((process, Self { netns_cookie, cgroups, interfaces }))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const ROOT: &[u64] = &[1];

    pub(in super::super) fn sockets(
        netns_cookie: u64,
        cgroups: &[u64],
        interfaces: &[&str],
    ) -> Sockets {
        let interfaces = interfaces.iter().map(|name| (*name).into()).collect();
        Sockets { netns_cookie, cgroups: cgroups.into(), interfaces }
    }

    #[test]
    fn sockets_overlap_by_namespace_and_cgroup_and_interface() {
        let all = sockets(1, &[10, 1], &[]);
        for (other, overlaps) in [
            (all.clone(), true),
            (sockets(2, &[10, 1], &[]), false),
            (sockets(1, &[11, 10, 1], &["wwan0"]), true),
            (sockets(1, ROOT, &["wwan0"]), true),
            (sockets(1, &[20, 1], &[]), false),
        ] {
            assert_eq!(all.overlap(&other), overlaps, "{other:?}");
            assert_eq!(other.overlap(&all), overlaps, "{other:?}");
        }
        let some = sockets(1, &[11, 10, 1], &["wwan0", "wwan1"]);
        assert!(some.overlap(&sockets(1, &[12, 11, 10, 1], &["wwan1", "wwan2"])));
        assert!(!some.overlap(&sockets(1, &[11, 10, 1], &["wwan2"])));
        assert!(!some.overlap(&sockets(1, &[13, 10, 1], &["wwan0"])));
    }

    #[test]
    fn text_goes_there_and_back_and_any_other_is_none() {
        let some = sockets(7, &[12, 1], &["wwan0", "wwan 1"]);
        assert_eq!(Sockets::from_text(&some.to_text(5)), Some((5, some)));
        for text in [
            "",
            "process 1",
            "process 1\nnetns x\ncgroups 1\n",
            "process 1\nnetns 1\ncgroups\n",
            "process 1\nnetns 1\ncgroups 1 x\n",
            "process 1\nnetns 1\ncgroups 1\nwhat\n",
        ] {
            assert_eq!(Sockets::from_text(text), None, "{text:?}");
        }
    }
}
