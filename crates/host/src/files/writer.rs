//! The rights with which a result is written.

use std::io;
use std::thread;

use nix::unistd::{Gid, Uid, geteuid, setfsgid, setfsuid};
use rustix::thread::{capabilities, set_thread_groups};

use crate::caller::Caller;
use crate::privilege::{Capabilities, keep_only};

/// The user for whom a result is written.
#[derive(Clone, Debug)]
pub(super) enum Writer {
    /// This process's user, with its own rights, which are not root's.
    Own,
    /// The user who called sudo, with the groups of that user and without root's rights. So a link
    /// leads root no further than that user.
    User(Caller, Vec<u32>),
    /// Root, for which no other user is known. It follows no link of other users.
    Root,
}

impl Writer {
    pub(super) fn now() -> io::Result<Self> {
        if !geteuid().is_root() {
            return Ok(Self::Own);
        }
        let Some(caller) = Caller::of_sudo().map_err(io::Error::other)? else {
            return Ok(Self::Root);
        };
        // A daemon that has dropped its capabilities stays root, and may not become another user.
        let needed = Capabilities::SETUID | Capabilities::SETGID;
        Ok(match capabilities(None)?.effective.contains(needed) {
            true => Self::User(caller, caller.known().0),
            false => Self::Root,
        })
    }

    /// The owner of what it makes.
    pub(super) fn uid(&self) -> u32 {
        match self {
            Self::User(caller, _) => caller.uid,
            Self::Own | Self::Root => geteuid().as_raw(),
        }
    }

    /// Does something with these rights.
    pub(super) fn act<T: Send>(&self, act: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let Self::User(caller, groups) = self else { return act() };
        // Rights are a thread's. This thread ends, so root's cannot fail to come back.
        let done = thread::scope(|scope| {
            let with_rights = || become_user(*caller, groups).and_then(|()| act());
            let thread = thread::Builder::new().spawn_scoped(scope, with_rights)?;
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread that writes broke off")))
        });
        done.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                let uid = caller.uid;
                let message = format!(
                    "{error}; with sudo a result is written with the rights of its user, {uid}"
                );
                io::Error::new(error.kind(), message)
            }
            _ => error,
        })
    }
}

/// Gives the calling thread the rights of this user, for good.
fn become_user(caller: Caller, groups: &[u32]) -> io::Result<()> {
    let (uid, gid) = (Uid::from_raw(caller.uid), Gid::from_raw(caller.gid));
    let groups: Vec<_> = groups.iter().map(|&group| rustix::thread::Gid::from_raw(group)).collect();
    set_thread_groups(&groups)?;
    setfsgid(gid);
    setfsuid(uid);
    // Neither reports a failure. A second call changes nothing, and returns the present one.
    let unchanged = u32::MAX;
    if (setfsuid(Uid::from_raw(unchanged)), setfsgid(Gid::from_raw(unchanged))) != (uid, gid) {
        return Err(io::Error::other(format!("the rights of user {uid} cannot be taken on")));
    }
    // The kernel has taken away those over files. The others are not needed either.
    keep_only(Capabilities::empty())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    const STRANGER: u32 = 4_242_420;

    #[test]
    fn what_is_done_for_a_user_of_sudo_is_done_with_its_rights_and_root_keeps_its_own() {
        if !geteuid().is_root() {
            return sounding_testdata::skip(
                sounding_testdata::Need::Root,
                "to act as another user",
            );
        }
        let writer = Writer::User(Caller { uid: STRANGER, gid: STRANGER + 1 }, vec![STRANGER + 2]);
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("closed"), "root's").expect("room");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).expect("its owner");
        fs::set_permissions(at("closed"), Permissions::from_mode(0o600)).expect("its owner");
        fs::write(at("group"), "").expect("room");
        std::os::unix::fs::chown(at("group"), None, Some(STRANGER + 2)).expect("root may");
        fs::set_permissions(at("group"), Permissions::from_mode(0o060)).expect("its owner");

        writer.act(|| File::create(at("own"))).expect("it may");
        writer.act(|| File::create(at("group"))).expect("its group may");
        let refused = writer.act(|| File::create(at("closed"))).expect_err("it may not");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        assert!(refused.to_string().contains("4242420"), "{refused}");
        let refused = writer.act(|| File::open(at("closed"))).expect_err("nor read it");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);

        let own = fs::metadata(at("own")).expect("it is there");
        assert_eq!((own.uid(), own.gid()), (STRANGER, STRANGER + 1));
        assert_eq!(fs::read(at("closed")).expect("this thread is root"), b"root's");
    }
}
