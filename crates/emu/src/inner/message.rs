//! What an emulator inside and the one outside say to each other: datagrams with descriptors.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, UnixAddr, recvmsg, sendmsg};

/// The name of the socket, which is no file: it is known in its network namespace alone.
pub(super) const NAME: &[u8] = b"sounding-emu";

/// Arguments and environment of a command, in bytes. A shell's have some ten kilobytes. Linux takes
/// 128 KiB as one variable (`MAX_ARG_STRLEN`).
const LONGEST: usize = 100 << 10;
/// Standard input, output, error, and the folder.
pub(super) const DESCRIPTORS: usize = 4;
/// `SCM_MAX_FD`: no message has more, so none is cut, and every descriptor is closed again.
const MOST: usize = 253;

/// Sends one message.
pub(super) fn send(socket: &impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    if bytes.len() > LONGEST {
        return Err(io::Error::other(
            "the command's arguments and environment are longer than 100 KiB",
        ));
    }
    let fds: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&fds)];
    let rights = if fds.is_empty() { &rights[..0] } else { &rights[..] };
    let (socket, parts) = (socket.as_fd().as_raw_fd(), [IoSlice::new(bytes)]);
    sendmsg::<UnixAddr>(socket, &parts, rights, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// Receives one message; `None` at the end.
pub(super) fn receive(socket: &impl AsFd) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; LONGEST];
    let mut space = nix::cmsg_space!([RawFd; MOST]);
    let (length, fds, is_cut) = {
        let mut into = [IoSliceMut::new(&mut bytes)];
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        let received = loop {
            let fd = socket.as_fd().as_raw_fd();
            match recvmsg::<UnixAddr>(fd, &mut into, Some(&mut space), flags) {
                Err(Errno::EINTR) => continue,
                // The other end was closed before it had read all.
                Err(Errno::ECONNRESET) => return Ok(None),
                received => break received?,
            }
        };
        let fds: Vec<RawFd> = received
            .cmsgs()?
            .filter_map(|one| match one {
                ControlMessageOwned::ScmRights(fds) => Some(fds),
                _ => None,
            })
            .flatten()
            .collect();
        let cut = MsgFlags::MSG_TRUNC | MsgFlags::MSG_CTRUNC;
        (received.bytes, fds, received.flags.intersects(cut))
    };
    // SAFETY: the kernel has just made these descriptors for this process.
    let fds = fds.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).collect();
    if is_cut {
        return Err(io::Error::from(Errno::EMSGSIZE));
    }
    if length == 0 {
        return Ok(None);
    }
    bytes.truncate(length);
    Ok(Some((bytes, fds)))
}

/// A command as one process of the user describes it to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) umask: u32,
    /// The program and its arguments.
    pub(super) words: Vec<OsString>,
    /// Each `NAME=VALUE`.
    pub(super) environment: Vec<OsString>,
}

impl Wanted {
    /// Texts with a zero behind each: the umask, the number of words, the words, the environment.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}\0{}\0", self.umask, self.words.len()).into_bytes();
        for text in self.words.iter().chain(&self.environment) {
            bytes.extend(text.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// Lines of a shell that export the environment. Names that a shell cannot have are left out,
    /// and so are those that some shells keep to themselves.
    pub(super) fn exports(&self) -> OsString {
        const KEPT: [&[u8]; 5] = [b"UID", b"EUID", b"PPID", b"SHELLOPTS", b"BASHOPTS"];
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let mut lines = Vec::new();
        for variable in &self.environment {
            let Some(at) = variable.as_bytes().iter().position(|byte| *byte == b'=') else {
                continue;
            };
            let (name, value) = (&variable.as_bytes()[..at], &variable.as_bytes()[at + 1..]);
            let begins = name.first().is_some_and(|byte| !byte.is_ascii_digit());
            if !begins || !name.iter().all(is_of_name) || KEPT.contains(&name) {
                continue;
            }
            lines.extend([b"export ", name, b"='"].concat());
            for byte in value {
                match byte {
                    b'\'' => lines.extend(br"'\''"),
                    byte => lines.push(*byte),
                }
            }
            lines.extend(b"'\n");
        }
        OsString::from_vec(lines)
    }

    /// `None` if it is none.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut texts = bytes.strip_suffix(&[0])?.split(|byte| *byte == 0);
        let mut number = || str::from_utf8(texts.next()?).ok()?.parse::<u32>().ok();
        let (umask, count) = (number()?, usize::try_from(number()?).ok()?);
        let mut texts = texts.map(|text| OsString::from_vec(text.to_vec()));
        let words: Vec<OsString> = texts.by_ref().take(count).collect();
        let environment: Vec<OsString> = texts.collect();
        let is_variable = |text: &OsString| {
            let at = text.as_bytes().iter().position(|byte| *byte == b'=');
            at.is_some_and(|at| at > 0)
        };
        let is_whole = umask <= 0o777
            && words.len() == count
            && words.first().is_some_and(|word| !word.is_empty())
            && environment.iter().all(is_variable);
        is_whole.then_some(Self { umask, words, environment })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wanted() -> Wanted {
        let texts = |texts: &[&str]| texts.iter().map(Into::into).collect();
        Wanted {
            umask: 0o22,
            words: texts(&["sh", "-c", "", "a=b"]),
            environment: texts(&["A=", "B=c=d"]),
        }
    }

    #[test]
    fn a_command_is_the_same_behind_the_socket() {
        assert_eq!(Wanted::from_bytes(&wanted().to_bytes()), Some(wanted()));
    }

    #[test]
    fn a_shell_makes_the_same_environment_and_no_more() {
        let environment = ["A=it's $(id) `id` \"\n", "UID=0", "1=x", "x%%=() { id; }", "B;id=1"];
        let environment = environment.map(OsString::from).to_vec();
        let exports = Wanted { environment, ..wanted() }.exports();
        assert_eq!(exports, "export A='it'\\''s $(id) `id` \"\n'\n");
        let script = "eval \"$exports\"; printf %s \"$A\"";
        let mut shell = std::process::Command::new(sounding_host::tool("sh"));
        let told =
            shell.args(["-c", script]).env_clear().env("exports", &exports).output().unwrap();
        assert_eq!(told.stdout, b"it's $(id) `id` \"\n");
    }

    #[test]
    fn what_is_no_command_is_none() {
        let without = |change: fn(&mut Wanted)| {
            let mut wanted = wanted();
            change(&mut wanted);
            Wanted::from_bytes(&wanted.to_bytes())
        };
        assert_eq!(without(|wanted| wanted.words.clear()), None);
        assert_eq!(without(|wanted| wanted.words[0] = "".into()), None);
        assert_eq!(without(|wanted| wanted.environment[0] = "=x".into()), None);
        assert_eq!(without(|wanted| wanted.umask = 0o1777), None);
        assert_eq!(Wanted::from_bytes(b"18\x004000000000\0sh\0"), None);
        assert_eq!(Wanted::from_bytes(b""), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            if let Some(wanted) = Wanted::from_bytes(&bytes) {
                prop_assert!(wanted.words.len() <= bytes.len());
            }
        }
    }
}
