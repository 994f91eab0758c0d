//! Features that not every kernel has. They are found from the kernel's types, not from its
//! version, because distributions backport.

use std::fs;

use libbpf_rs::btf::types::{Enum, FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, ReferencesType};

use crate::error::LoadError;

/// Arguments with which a kernel calls `cong_control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CongControl {
    /// Socket and sample: before Linux 6.10.
    Sample,
    /// Socket, number of acknowledged packets, flags of the ACK, and sample: since Linux 6.10.
    Ack,
}

/// The running kernel, by its types.
pub(crate) struct Kernel {
    types: Btf<'static>,
}

impl Kernel {
    pub(crate) fn running() -> Result<Self, LoadError> {
        // Opened here first, because libbpf reports less about the reason of a failure.
        fs::File::open("/sys/kernel/btf/vmlinux").map_err(|source| LoadError::NoBtf { source })?;
        let types = Btf::from_vmlinux()
            .map_err(|error| LoadError::NoBtf { source: std::io::Error::other(error) })?;
        Ok(Self { types })
    }

    pub(crate) fn types(&self) -> &Btf<'static> {
        &self.types
    }

    /// Finds the arguments of `cong_control`. A trial would not show them: a kernel with the old
    /// arguments loads a program for the new ones if the program does not use the additional
    /// arguments. A kernel with the new ones would pass its second argument as the sample.
    pub(crate) fn cong_control(&self) -> Result<CongControl, LoadError> {
        match self.cong_control_arguments() {
            Some(2) => Ok(CongControl::Sample),
            Some(4) => Ok(CongControl::Ack),
            arguments => {
                Err(LoadError::Shape { release: release(), arguments: arguments.unwrap_or(0) })
            }
        }
    }

    fn cong_control_arguments(&self) -> Option<usize> {
        let ops: Struct<'_> = self.types.type_by_name("tcp_congestion_ops")?;
        let member =
            ops.iter().find(|member| member.name.is_some_and(|name| name == "cong_control"))?;
        let pointer: Ptr<'_> = self.types.type_by_id(member.ty)?;
        let function =
            FuncProto::try_from(pointer.referenced_type().skip_mods_and_typedefs()).ok()?;
        Some(function.len())
    }

    /// Whether a congestion control's name disappears when its owner's last descriptor closes
    /// (Linux 6.4). Without links it stays until it is removed.
    pub(crate) fn has_links(&self) -> bool {
        self.attaches("BPF_STRUCT_OPS")
    }

    /// Whether programs can be attached to a device's egress by a link (Linux 6.6).
    pub(crate) fn has_tcx(&self) -> bool {
        self.attaches("BPF_TCX_EGRESS")
    }

    /// Whether callbacks can be enabled for a socket that is already connected (Linux 6.12).
    pub(crate) fn adopts(&self) -> bool {
        // An enumeration without a name.
        self.types.type_by_kind().any(|all| names(&all, "TCP_BPF_SOCK_OPS_CB_FLAGS"))
    }

    fn attaches(&self, what: &str) -> bool {
        self.types.type_by_name("bpf_attach_type").is_some_and(|all| names(&all, what))
    }
}

fn names(all: &Enum<'_>, what: &str) -> bool {
    all.iter().any(|member| member.name.is_some_and(|name| name == what))
}

/// Output of `uname -r`.
pub(crate) fn release() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| "of unknown release".into(), |release| release.trim().into())
}
