//! `background` in the kernel: flows that use what a cell leaves over, without a modem and without
//! a stock algorithm.

mod flow;
mod own;

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapHandle, ProgramMut};

pub use flow::{BackgroundFlow, BackgroundPhase, BackgroundReceiver};

use crate::config::BackgroundConfig;
use crate::cost;
use crate::downlink::{DownlinkError, cgroup_root, open_cgroup};
use crate::error::LoadError;
pub use crate::flows::borrow_descriptor;
use crate::flows::{FlowError, stored};
use crate::preflight::{self, Check};
use crate::reports::BackgroundCounts;
use crate::skel_background::{BackgroundSkel, BackgroundSkelBuilder};
use crate::struct_ops::{Registered, Registration, operations, set_name};
use own::Own;

/// Why it is not loaded, or its cgroup's sockets do not get it.
#[derive(Debug, thiserror::Error)]
pub enum BackgroundError {
    /// The algorithm.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The cgroup.
    #[error(transparent)]
    Cgroup(#[from] DownlinkError),
}

impl BackgroundError {
    /// The remedy, in one line.
    pub fn cure(&self) -> &'static str {
        match self {
            Self::Load(error) => error.cure(),
            Self::Cgroup(error) => error.cure(),
        }
    }
}

/// A loaded and registered instance. Dropping it takes the name away. Flows under it keep it, and
/// stay background.
pub struct Background {
    // Dropped in this order: first no socket gets it any more.
    attached: Vec<Link>,
    own: Option<Own>,
    registered: Registered,
    flows: MapHandle,
    receivers: MapHandle,
    skel: BackgroundSkel<'static>,
}

impl Background {
    /// Loads the program, registers it and attaches it to the cgroup, if there is one.
    ///
    /// # Errors
    ///
    /// [`BackgroundError::Load`] if the name is taken or the kernel rejects the program;
    /// [`BackgroundError::Cgroup`] if the cgroup is missing or takes no program.
    pub fn load(config: &BackgroundConfig) -> Result<Self, BackgroundError> {
        let name = &config.name;
        let registration = Registration::begin(name, preflight::kernel_without_stock(name)?);
        let rejected = |source| registration.rejected(source);
        let cgroup: Option<File> =
            config.cgroup.as_deref().map(|path| open_cgroup(Some(path))).transpose()?;

        // As for the laws: a slot that outlives the skeleton, whose object is dropped.
        let slot = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = BackgroundSkelBuilder::default().open(slot).map_err(rejected)?;
        if let Some(rodata) = open.maps.rodata_data.as_mut() {
            set_name(&mut rodata.algorithm, name);
        }
        registration.adapt(operations!(open, background, background_cong_control_before_6_10))?;
        open.progs.choose.set_autoload(cgroup.is_some());
        open.progs.receive.set_autoload(cgroup.is_some() && config.downloads);
        // All traffic of this machine passes there. Older kernels do not show a program the
        // namespace of a packet.
        let all = cgroup_root().filter(|_| registration.kernel.has_tcx());
        let all = all.map(|root| open_cgroup(Some(&root))).transpose()?;
        let own = all.as_ref().map(Own::join).transpose()?;
        if let Some(own) = &own {
            open.maps.owns.reuse_fd(own.map.as_fd()).map_err(rejected)?;
        }
        let mut skel = open.load().map_err(rejected)?;

        let flows = MapHandle::try_from(&skel.maps.backgrounds)
            .map_err(|source| LoadError::Map { map: "backgrounds", source })?;
        let receivers = MapHandle::try_from(&skel.maps.receivers)
            .map_err(|source| LoadError::Map { map: "receivers", source })?;
        let registered = registration.register(&mut skel.maps.background)?;
        let attach = |program: &ProgramMut<'_>, to: &File, what| {
            program
                .attach_cgroup(to.as_raw_fd())
                .map_err(|source| DownlinkError::Attach { what, source })
        };
        let mut attached = Vec::new();
        if let Some(cgroup) = &cgroup {
            attached.push(attach(&skel.progs.choose, cgroup, "choose")?);
            if config.downloads {
                attached.push(attach(&skel.progs.receive, cgroup, "receive")?);
            }
        }
        Ok(Self { attached, own, registered, flows, receivers, skel })
    }

    /// What sockets select.
    pub fn name(&self) -> &str {
        &self.registered.name
    }

    /// Before Linux 6.4 the name outlasts a killed process: the number of the map that keeps it,
    /// for [`unregister`](crate::unregister).
    pub fn outlasting(&self) -> Option<u32> {
        self.registered.outlasting
    }

    /// What became of sockets so far.
    pub fn counts(&self) -> BackgroundCounts {
        let counts = self.skel.maps.bss_data.as_ref().map(|bss| bss.counts);
        counts.map_or_else(BackgroundCounts::default, |counts| BackgroundCounts {
            flows: counts.flows,
            by_delay: counts.by_delay,
            without_memory: counts.without_memory,
            chosen: counts.chosen,
            refused: counts.refused,
            received: counts.received,
        })
    }

    /// The state of one of this process's sockets; `None` if it does not run under this instance.
    ///
    /// # Errors
    ///
    /// [`FlowError`] if the socket's storage cannot be read.
    pub fn flow(&self, socket: impl AsFd) -> Result<Option<BackgroundFlow>, FlowError> {
        stored(&self.flows, socket, BackgroundFlow::read)
    }

    /// What one of this process's sockets receives; `None` if this instance does not set its
    /// receive window.
    ///
    /// # Errors
    ///
    /// [`FlowError`] if the socket's storage cannot be read.
    pub fn receiver(&self, socket: impl AsFd) -> Result<Option<BackgroundReceiver>, FlowError> {
        stored(&self.receivers, socket, BackgroundReceiver::read)
    }

    /// What keeps it in the kernel. A process that inherits these keeps the name, and what the
    /// cgroup's sockets get.
    pub fn keeps(&self) -> Vec<BorrowedFd<'_>> {
        let attached = self.attached.iter().map(AsFd::as_fd);
        let own = self.own.as_ref().map(AsFd::as_fd);
        [self.registered.as_fd()].into_iter().chain(attached).chain(own).collect()
    }

    /// Instructions that the verifier walked through for each program at load; the kernel's limit
    /// is a million.
    ///
    /// # Errors
    ///
    /// The kernel's error, if it tells nothing of a program.
    pub fn verified(&self) -> io::Result<Vec<(&'static str, u32)>> {
        let progs = &self.skel.progs;
        let cong_control = match progs.background_cong_control.autoload() {
            true => progs.background_cong_control.as_fd(),
            false => progs.background_cong_control_before_6_10.as_fd(),
        };
        let all = [
            ("init", progs.background_begins.as_fd()),
            ("cong_control", cong_control),
            ("set_state", progs.background_set_state.as_fd()),
            ("undo_cwnd", progs.background_undo_cwnd.as_fd()),
            ("min_tso_segs", progs.background_min_tso_segs.as_fd()),
        ];
        let verified = |(name, fd)| Ok((name, cost::info(fd)?.verified_insns));
        all.into_iter().map(verified).collect()
    }
}

/// All requirements of loading it under `name`, and of giving it to a cgroup's sockets.
pub fn background_preflight(name: &str) -> Vec<Check> {
    let mut checks = preflight::preflight_without_stock(name);
    let root = cgroup_root();
    checks.push(Check {
        name: "cgroup v2",
        ok: root.is_some(),
        detail: root
            .as_deref()
            .map(Path::display)
            .map_or_else(|| DownlinkError::NoCgroup.to_string(), |root| root.to_string()),
        cure: root.is_none().then(|| DownlinkError::NoCgroup.cure()),
    });
    checks
}
