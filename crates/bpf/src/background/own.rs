//! What else this machine sends by each of its network devices. One program at the root of the
//! cgroups sees it, for all instances: a cgroup takes 64 programs.
//!
//! Every instance holds the same link, and so does its keeper. The kernel detaches the program with
//! the last of them, however they end. No process has to clean up.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::query::{
    LinkInfo, LinkInfoIter, LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo, Tag,
};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorKind, MapCore, MapHandle, libbpf_sys};

use crate::cost;
use crate::downlink::DownlinkError;
use crate::error::LoadError;
use crate::log::Complaints;
use crate::skel_own::OwnSkelBuilder;

use super::BackgroundError;

const PROGRAM: &str = "note_own";
const MAP: &str = "owns";

/// Instances that start at once each attach a program, and keep one of them. Meanwhile the root may
/// have no place left.
const ATTEMPTS: u32 = 400;
const STEP: Duration = Duration::from_millis(5);

/// The program, attached as long as this or another one lives.
pub(super) struct Own {
    link: OwnedFd,
    /// Where the program counts.
    pub(super) map: MapHandle,
}

impl Own {
    /// Shares the program that another instance attached to `root`, or attaches one.
    pub(super) fn join(root: &File) -> Result<Self, BackgroundError> {
        let log = Complaints::listen();
        let rejected = |source| LoadError::Rejected { source, complaint: log.take() };
        let refused = |source| DownlinkError::Attach { what: PROGRAM, source };
        let unreadable = |source: io::Error| refused(source.into());
        let mut slot = MaybeUninit::uninit();
        let open = OwnSkelBuilder::default().open(&mut slot).map_err(rejected)?;
        let skel = open.load().map_err(rejected)?;
        let place = root.metadata().map_err(unreadable)?.ino();
        let tag = Tag(cost::info(skel.progs.note_own.as_fd()).map_err(unreadable)?.tag);
        let mut attached = None;
        for _ in 0..ATTEMPTS {
            if let Some(own) = Self::oldest(place, &tag) {
                return Ok(own);
            }
            // Without CAP_SYS_ADMIN no process may look for the others'.
            if let Some(own) = attached.take() {
                return Ok(own);
            }
            match skel.progs.note_own.attach_cgroup(root.as_raw_fd()) {
                Ok(link) => {
                    let link = link.as_fd().try_clone_to_owned().map_err(unreadable)?;
                    let map = MapHandle::try_from(&skel.maps.owns)
                        .map_err(|source| LoadError::Map { map: MAP, source })?;
                    attached = Some(Self { link, map });
                    // One with a smaller number may become visible a moment later.
                    sleep(STEP);
                }
                Err(error) if error.kind() == ErrorKind::TooBig => sleep(STEP),
                Err(error) => return Err(refused(error).into()),
            }
        }
        let full = io::Error::from_raw_os_error(libc::E2BIG);
        Err(refused(full.into()).into())
    }

    /// The first that was attached of all that do the same. All instances that start at once find
    /// the same one.
    fn oldest(place: u64, tag: &Tag) -> Option<Self> {
        let with_maps = ProgInfoQueryOptions::default().include_map_ids(true);
        let programs: Vec<_> =
            ProgInfoIter::with_query_opts(with_maps).filter(|it| is_same(it, tag)).collect();
        let program_of = |link: &LinkInfo| match &link.info {
            LinkTypeInfo::Cgroup(at) if at.cgroup_id == place => {
                programs.iter().find(|program| program.id == link.prog_id)
            }
            _ => None,
        };
        let links = LinkInfoIter::default();
        let mut links: Vec<_> =
            links.filter_map(|link| Some((link.id, program_of(&link)?))).collect();
        links.sort_unstable_by_key(|(link, _)| *link);
        // One that goes at this moment cannot be opened.
        links.into_iter().find_map(|(link, program)| Self::open(link, program))
    }

    fn open(link: u32, program: &ProgramInfo) -> Option<Self> {
        // SAFETY: the call takes a number, and returns a new descriptor or an error.
        let link = unsafe {
            let fd = libbpf_sys::bpf_link_get_fd_by_id(link);
            (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
        }?;
        // Its program and the program's maps live as long as the link.
        let maps = program.map_ids.iter().filter_map(|id| MapHandle::from_map_id(*id).ok());
        let map = maps.into_iter().find(|map| map.name() == MAP)?;
        Some(Self { link, map })
    }
}

impl AsFd for Own {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}

/// Whether it has the same instructions. One of another version counts elsewhere.
fn is_same(program: &ProgramInfo, tag: &Tag) -> bool {
    program.name == OsStr::new(PROGRAM) && program.tag.0 == tag.0
}
