use std::io;

/// Why BISCAY could not be loaded. [`cure`](Self::cure) is the remedy.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The name cannot be a congestion control's.
    #[error("name {name:?} is not 1 to 15 bytes of a-z, 0-9 and _")]
    Name {
        /// As given.
        name: String,
    },
    /// The kernel has no type information.
    #[error("/sys/kernel/btf/vmlinux cannot be read: {source}")]
    NoBtf {
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel's congestion controls have another interface than those here.
    #[error(
        "Linux {release} has a cong_control of {arguments} arguments; supported are 2, and 4 (since 6.10)"
    )]
    Shape {
        /// Output of `uname -r`.
        release: String,
        /// Arguments its `cong_control` takes; 0 if it has none.
        arguments: usize,
    },
    /// This process may not load it.
    #[error("this process lacks {missing}")]
    Privilege {
        /// Names of the capabilities, separated by spaces.
        missing: String,
    },
    /// Struct_ops need the JIT compiler.
    #[error("net.core.bpf_jit_enable is 0")]
    NoJit,
    /// The kernel has no BBR to fall back to.
    #[error("the kernel has no bbr_main in its types: bbr is absent or its module not loaded")]
    NoBbr,
    /// The kernel has no CUBIC, which is the configured fallback.
    #[error(
        "the kernel has no cubictcp_cong_avoid in its types: cubic is absent or its module not loaded"
    )]
    NoCubic,
    /// The name is taken.
    #[error("congestion control {name} is already registered by {holder}")]
    NameTaken {
        /// The requested name.
        name: String,
        /// The holder, as far as it can be found.
        holder: String,
    },
    /// libbpf or the kernel's verifier refused the object.
    #[error("load of the BPF object: {source}{complaint}")]
    Rejected {
        /// libbpf's error.
        source: libbpf_rs::Error,
        /// libbpf's last lines of output before the error, or an empty text.
        complaint: String,
    },
    /// The kernel refused to register the congestion control.
    #[error("registration of congestion control {name}: {source}{complaint}")]
    Attach {
        /// The requested name.
        name: String,
        /// libbpf's error.
        source: libbpf_rs::Error,
        /// libbpf's last lines of output before the error, or an empty text.
        complaint: String,
    },
    /// The feed's page could not be mapped.
    #[error("mmap of the feed: {source}")]
    Feed {
        /// The kernel's error.
        source: io::Error,
    },
    /// A map of the loaded object could not be opened.
    #[error("map {map}: {source}")]
    Map {
        /// Its name.
        map: &'static str,
        /// libbpf's error.
        source: libbpf_rs::Error,
    },
}

impl LoadError {
    /// The remedy, in one line.
    pub fn cure(&self) -> &'static str {
        match self {
            Self::Name { .. } => "choose another name, with _ for a hyphen: Linux takes none there",
            Self::NoBtf { .. } => "run a kernel built with CONFIG_DEBUG_INFO_BTF=y",
            Self::Shape { .. } => "run Linux 6.1 or newer",
            Self::Privilege { .. } => {
                "run as root, or as the systemd unit sounding@.service, which passes these capabilities on"
            }
            Self::NoJit => "sysctl -w net.core.bpf_jit_enable=1",
            Self::NoBbr => "modprobe tcp_bbr, or a kernel with CONFIG_TCP_CONG_BBR",
            Self::NoCubic => "modprobe tcp_cubic, or fall back to bbr",
            Self::NameTaken { .. } => "stop its holder, or load under another name",
            Self::Rejected { source, .. } | Self::Attach { source, .. }
                if lacks_descriptors(source) =>
            {
                "this process may open no more files: raise `ulimit -n`, in a unit of systemd LimitNOFILE="
            }
            Self::Rejected { .. } | Self::Attach { .. } => {
                "a kernel this was not tested on: report the lines above with uname -r"
            }
            Self::Feed { .. } | Self::Map { .. } => "raise RLIMIT_NOFILE and RLIMIT_MEMLOCK",
        }
    }
}

/// Whether the cause was a lack of descriptors. libbpf-rs hides the number of an error and shows
/// only its text.
fn lacks_descriptors(error: &libbpf_rs::Error) -> bool {
    error.to_string().contains(&io::Error::from_raw_os_error(libc::EMFILE).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_descriptors_is_not_reported_as_an_untested_kernel() {
        let rejected = |code| LoadError::Rejected {
            source: io::Error::from_raw_os_error(code).into(),
            complaint: String::new(),
        };
        assert!(rejected(libc::EMFILE).cure().contains("ulimit -n"));
        assert!(!rejected(libc::EINVAL).cure().contains("ulimit -n"));
    }
}
