//! The cgroup whose sockets are limited.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::DownlinkError;
use crate::kernel::Kernel;
use crate::preflight::{Check, privileges};

/// The mount point of the root of cgroups of version 2, to which every process of the machine
/// belongs.
pub fn cgroup_root() -> Option<PathBuf> {
    root_in(&fs::read_to_string("/proc/self/mounts").ok()?)
}

fn root_in(mounts: &str) -> Option<PathBuf> {
    let mut lines = mounts.lines().map(|line| line.split(' '));
    // Device, mount point, type.
    lines.find_map(|mut words| {
        let place = words.nth(1)?;
        (words.next()? == "cgroup2").then(|| place.into())
    })
}

/// Opens a cgroup, by default the root.
pub(crate) fn open(path: Option<&Path>) -> Result<File, DownlinkError> {
    let path = match path {
        Some(path) => path.to_path_buf(),
        None => cgroup_root().ok_or(DownlinkError::NoCgroup)?,
    };
    // The kernel refuses other folders too, but without a reason.
    let opened = File::open(path.join("cgroup.procs")).and_then(|_| File::open(&path));
    opened.map_err(|source| DownlinkError::Cgroup { path, source })
}

/// The number that the kernel gives the root of the cgroups.
const ROOT: u64 = 1;

/// The number of an open cgroup, and of all its ancestors. They are numbers, because a path depends
/// on the mount point. If the mount point is not the root, as in a container, the ancestors above
/// it are not visible.
pub(super) fn lineage(cgroup: &File) -> Result<Vec<u64>, DownlinkError> {
    let path = PathBuf::from(format!("/proc/self/fd/{}", cgroup.as_raw_fd()));
    let fail = |source| DownlinkError::Cgroup { path: path.clone(), source };
    let (place, own) = (fs::read_link(&path).map_err(fail)?, cgroup.metadata().map_err(fail)?);
    let above = place.ancestors().skip(1).map_while(|above| fs::metadata(above).ok());
    let above = above.take_while(|above| above.dev() == own.dev());
    Ok([own.ino()].into_iter().chain(above.map(|above| above.ino())).chain([ROOT]).collect())
}

/// The requirements for limiting senders, in addition to those of [`preflight`](crate::preflight).
pub fn downlink_preflight() -> Vec<Check> {
    let mut checks = vec![found(
        "cgroup v2",
        cgroup_root()
            .map(|root| root.display().to_string())
            .ok_or(DownlinkError::NoCgroup)
            .map_err(|error| (error.to_string(), error.cure())),
    )];
    checks.push(found(
        "attach to cgroup",
        privileges().map_err(|error| (error.to_string(), error.cure())),
    ));
    let kernel = Kernel::running().map_err(|error| (error.to_string(), error.cure()));
    let walk = kernel.and_then(|kernel| {
        kernel
            .types()
            .type_by_name::<libbpf_rs::btf::types::Struct<'_>>("bpf_iter__tcp")
            .map(|_| "iter/tcp".to_owned())
            .ok_or(("the kernel has no iter/tcp".into(), "run Linux 5.9 or newer"))
    });
    checks.push(found("walk over sockets", walk));
    checks
}

fn found(name: &'static str, found: Result<String, (String, &'static str)>) -> Check {
    match found {
        Ok(detail) => Check { name, ok: true, detail, cure: None },
        Err((detail, cure)) => Check { name, ok: false, detail, cure: Some(cure) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_mount_of_the_second_version() {
        let mounts = "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n";
        assert_eq!(root_in(mounts), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(root_in("proc /proc proc rw 0 0\n\n"), None);
    }

    #[test]
    fn everything_is_below_the_root() {
        let Some(root) = cgroup_root() else {
            return sounding_testdata::skip(sounding_testdata::Need::Kernel, "no cgroups here");
        };
        let numbers = lineage(&open(None).expect("the root")).expect("its number");
        assert_eq!(numbers.last(), Some(&ROOT), "{root:?}");
        let below = fs::read_dir(&root).expect("listed").flatten().map(|entry| entry.path());
        for cgroup in below.filter(|path| path.is_dir()) {
            let below = lineage(&open(Some(&cgroup)).expect("a cgroup")).expect("its numbers");
            assert!(below[1..].contains(&numbers[0]) && below[0] != numbers[0], "{below:?}");
        }
    }

    #[test]
    fn a_folder_that_is_no_cgroup_is_named() {
        let error = open(Some(Path::new("/proc"))).expect_err("no cgroup");
        assert!(error.to_string().starts_with("cgroup /proc: "), "{error}");
    }
}
