use std::fmt::Display;

/// What a test needs of its machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The shared captures, traces and reference results.
    Data,
    /// Rights: namespaces, other users, mounts.
    Root,
    /// A kernel that loads this project's BPF programs, with the namespaces and queueing
    /// disciplines that tests use.
    Kernel,
    /// A program that is not the project's: a compiler, Wireshark.
    Tools,
    /// Python with the packages that its tests name. Those tests look for it themselves.
    Python,
    /// Node and npm, with the packages that the lock files of this repository name.
    Npm,
    /// User-Mode Linux, as `scripts/setup uml` unpacks it.
    Uml,
    /// The program that checks metrics, as `scripts/setup promtool` unpacks it.
    Promtool,
    /// A kernel with CAKE, codel and fq_codel.
    Cake,
    /// A kernel with flowtables. Neither User-Mode Linux nor every host has them.
    Flowtables,
    /// Debian's library of SRT, as `scripts/setup srt` unpacks it.
    Srt,
    /// GStreamer, as `scripts/setup gstreamer` unpacks it.
    Gstreamer,
    /// A checkout of mahimahi, which `MAHIMAHI` names.
    Mahimahi,
    /// The small daemon, which `SOUNDING_PROGRAM` names.
    Soundingd,
}

impl Need {
    const ALL: [Self; 14] = [
        Self::Data,
        Self::Root,
        Self::Kernel,
        Self::Tools,
        Self::Python,
        Self::Npm,
        Self::Uml,
        Self::Promtool,
        Self::Cake,
        Self::Flowtables,
        Self::Srt,
        Self::Gstreamer,
        Self::Mahimahi,
        Self::Soundingd,
    ];

    /// Its name in `SOUNDING_REQUIRE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Root => "root",
            Self::Kernel => "kernel",
            Self::Tools => "tools",
            Self::Python => "python",
            Self::Npm => "npm",
            Self::Uml => "uml",
            Self::Promtool => "promtool",
            Self::Cake => "cake",
            Self::Flowtables => "flowtables",
            Self::Srt => "srt",
            Self::Gstreamer => "gstreamer",
            Self::Mahimahi => "mahimahi",
            Self::Soundingd => "soundingd",
        }
    }
}

/// Reports that a test, or a part of it, is skipped, because the machine lacks what it needs.
///
/// # Panics
///
/// If `SOUNDING_REQUIRE`, a list of [names](Need::name) with commas, has this need; or has a word
/// that is none.
#[track_caller]
pub fn skip(need: Need, why: impl Display) {
    let required = std::env::var("SOUNDING_REQUIRE").unwrap_or_default();
    if is_required(need, &required) {
        panic!("SOUNDING_REQUIRE has {:?}, and this machine lacks it: {why}", need.name());
    }
    crate::say(&format!("SKIPPED: {why}"));
}

fn is_required(need: Need, required: &str) -> bool {
    let words: Vec<&str> =
        required.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    for word in &words {
        let is_known = Need::ALL.iter().any(|known| known.name() == *word);
        assert!(
            is_known,
            "SOUNDING_REQUIRE has {word:?}; there are {}",
            Need::ALL.map(Need::name).join(", ")
        );
    }
    words.contains(&need.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_what_is_required() {
        let all = Need::ALL.map(Need::name).join(", ");
        for need in Need::ALL {
            assert!(!is_required(need, "") && is_required(need, &all));
        }
        assert!(is_required(Need::Root, "kernel,root") && !is_required(Need::Data, "kernel,root"));
    }

    #[test]
    #[should_panic(expected = "SOUNDING_REQUIRE has \"rot\"")]
    fn a_word_that_names_nothing_is_refused() {
        is_required(Need::Root, "rot");
    }
}
