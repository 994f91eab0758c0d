//! Features that not every kernel has. Found from its types and not from its version, because distributions backport.

use std::fs;

use libbpf_rs::btf::types::{Enum, FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, ReferencesType};

use crate::error::LoadError;

/// With what a kernel calls `cong_control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CongControl {
    /// Socket and sample: before Linux 6.10.
    Sample,
    /// Between them the number acknowledged and the flags of the ACK.
    Ack,
}

/// The running kernel, by its types.
pub(crate) struct Kernel {
    types: Btf<'static>,
}

impl Kernel {
    pub(crate) fn running() -> Result<Self, LoadError> {
        // Read here first, because libbpf reports less about why it could not.
        fs::File::open("/sys/kernel/btf/vmlinux").map_err(|source| LoadError::NoBtf { source })?;
        let types = Btf::from_vmlinux()
            .map_err(|error| LoadError::NoBtf { source: std::io::Error::other(error) })?;
        Ok(Self { types })
    }

    pub(crate) fn types(&self) -> &Btf<'static> {
        &self.types
    }

    /// Not by trial: a kernel with the old shape loads a program with the new one as long as that leaves the surplus
    /// arguments alone, and one with the new shape takes the second argument for the sample.
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

    /// Whether a congestion control's name goes with its registrar's last descriptor (Linux 6.4). Without links it
    /// stays until it is removed.
    pub(crate) fn has_links(&self) -> bool {
        self.attaches("BPF_STRUCT_OPS")
    }

    /// Whether programs can be attached to a device's egress by a link (Linux 6.6).
    pub(crate) fn has_tcx(&self) -> bool {
        self.attaches("BPF_TCX_EGRESS")
    }

    /// Whether callbacks can be asked for on behalf of a socket that is connected already (Linux 6.12).
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

/// As `uname -r` says.
pub(crate) fn release() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| "of unknown release".into(), |release| release.trim().into())
}
