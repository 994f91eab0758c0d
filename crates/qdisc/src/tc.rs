//! Reading the kernel's qdiscs, which every user may, and the requests that change them.

use std::io;

use nix::errno::Errno;

use crate::error::Error;
use crate::message::{At, Message};
use crate::numbers::{IFINFO_BYTES, SKIP_STATS};
use crate::objects::{Class, Device, Filter, Handle, Qdisc, Queue};
use crate::socket::{Refusal, Socket};

const READ: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
const LIST: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
/// A change of something that is there.
pub(crate) const CHANGE: u16 = READ;
/// Of something that is not there.
pub(crate) const MAKE: u16 = READ | (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;
/// Of something in the place of what is there.
pub(crate) const REPLACE: u16 = READ | (libc::NLM_F_CREATE | libc::NLM_F_REPLACE) as u16;

/// A way to the kernel's traffic control, in the network namespace of the thread that opened it.
/// Every user may read by it. Changes take CAP_NET_ADMIN there.
#[derive(Debug)]
pub struct Tc(Socket);

impl Tc {
    /// Opens it.
    ///
    /// # Errors
    ///
    /// [`Error::Socket`] if the kernel gives no such socket.
    pub fn open() -> Result<Self, Error> {
        Socket::open().map(Self).map_err(Error::Socket)
    }

    /// The device of this name.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if there is none, or the kernel's refusal.
    pub fn device(&self, name: &str) -> Result<Device, Error> {
        check_name(name)?;
        let by_name = Message::new(libc::RTM_GETLINK, READ)
            .raw(&[0; IFINFO_BYTES])
            .text(libc::IFLA_IFNAME, name);
        self.link(by_name, name)
    }

    /// The device that had this name and number, whatever its name is now; `None` if it has gone.
    ///
    /// # Errors
    ///
    /// The kernel's refusal.
    pub(crate) fn same(&self, name: &str, index: u32) -> Result<Option<Device>, Error> {
        match self.link(numbered(index), name) {
            Err(Error::NoDevice { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Asks for one device. `name` is for an error.
    fn link(&self, request: Message, name: &str) -> Result<Device, Error> {
        let mut found = None;
        let asked = self.0.ask(request.number(libc::IFLA_EXT_MASK, SKIP_STATS), |answer| {
            found = found.take().or(Device::read(answer.content));
        });
        asked.map_err(|refusal| refused(name, "read the device", refusal))?;
        found.ok_or_else(|| unreadable(name, "the device"))
    }

    /// The qdiscs of a device, but for those that the kernel hides.
    ///
    /// They are read as a list, because the kernel tells every listener of the machine about a
    /// qdisc that is read alone.
    ///
    /// # Errors
    ///
    /// The kernel's refusal.
    pub fn qdiscs(&self, device: &Device) -> Result<Vec<Qdisc>, Error> {
        let mut all: Vec<Qdisc> =
            self.list(libc::RTM_GETQDISC, device, Handle::default(), Qdisc::read)?;
        // The kernel lists those of all devices.
        all.retain(|qdisc| qdisc.device == device.index);
        Ok(all)
    }

    /// The classes of a device.
    ///
    /// # Errors
    ///
    /// The kernel's refusal.
    pub fn classes(&self, device: &Device) -> Result<Vec<Class>, Error> {
        self.list(libc::RTM_GETTCLASS, device, Handle::default(), Class::read)
    }

    /// The filters of a qdisc or class of a device, or of a side of its `clsact`.
    ///
    /// # Errors
    ///
    /// The kernel's refusal.
    pub fn filters(&self, device: &Device, parent: Handle) -> Result<Vec<Filter>, Error> {
        self.list(libc::RTM_GETTFILTER, device, parent, Filter::read)
    }

    /// The root qdisc of a device. `None` while it is down and has none.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if the device has gone, or the kernel's refusal.
    pub fn root(&self, device: &Device) -> Result<Option<Qdisc>, Error> {
        let root = self.qdiscs(device)?.into_iter().find(|qdisc| qdisc.parent == Handle::ROOT);
        if root.is_none() {
            self.check_there(device)?;
        }
        Ok(root)
    }

    /// The queue at the root of a device, all classes together. Every user may read it.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if there is no such device, [`Error::NoShaper`] if it has no root qdisc,
    /// or the kernel's refusal.
    pub fn queue(&self, device: &str) -> Result<Queue, Error> {
        let root = self.root(&self.device(device)?)?;
        let none = || Error::NoShaper { device: device.into(), kind: "none".into() };
        root.ok_or_else(none)?.queue.ok_or_else(|| unreadable(device, "the queue"))
    }

    /// The classes of one qdisc. None if the qdisc has gone.
    pub(crate) fn classes_of(&self, device: &Device, qdisc: Handle) -> Result<Vec<Class>, Error> {
        self.list(libc::RTM_GETTCLASS, device, qdisc, Class::read)
    }

    /// A list of nothing does not say whether its device is there.
    fn check_there(&self, device: &Device) -> Result<(), Error> {
        self.link(numbered(device.index), &device.name).map(drop)
    }

    /// A request that changes something.
    pub(crate) fn change(&self, request: Message) -> Result<(), Refusal> {
        self.0.ask(request, |_| ())
    }

    fn list<T>(
        &self,
        kind: u16,
        device: &Device,
        parent: Handle,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let at = At { device: device.index, parent: parent.number(), ..At::default() };
        let (mut all, mut unread) = (Vec::new(), false);
        let request = Message::new(kind, LIST).about(at);
        let asked = self.0.ask(request, |answer| match read(answer.content) {
            Some(one) => all.push(one),
            None => unread = true,
        });
        let doing = "list qdiscs, classes or filters";
        asked.map_err(|refusal| refused(&device.name, doing, refusal))?;
        // A list with a gap could hide a class or a filter that would be lost.
        if unread { Err(unreadable(&device.name, "its qdiscs")) } else { Ok(all) }
    }
}

/// A request for the device with this number.
fn numbered(index: u32) -> Message {
    let mut about = [0; IFINFO_BYTES];
    about[4..8].copy_from_slice(&index.to_ne_bytes());
    Message::new(libc::RTM_GETLINK, READ).raw(&about)
}

/// Whether this can be the name of a device: the kernel takes 1 to 15 bytes, and no path.
///
/// # Errors
///
/// [`Error::NoName`] if not.
pub fn check_name(name: &str) -> Result<(), Error> {
    let fits = (1..libc::IFNAMSIZ).contains(&name.len());
    let is_word = name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/' && byte != b':');
    if fits && is_word && ![".", ".."].contains(&name) {
        return Ok(());
    }
    Err(Error::NoName { device: name.into() })
}

pub(crate) fn refused(device: &str, doing: &str, refusal: Refusal) -> Error {
    let (device, doing) = (device.to_owned(), doing.to_owned());
    match refusal.errno {
        Errno::EPERM => Error::NotPermitted { device, doing },
        Errno::ENODEV => Error::NoDevice { device },
        errno => {
            let words = refusal.words.trim_end_matches('.');
            let words = if words.is_empty() { String::new() } else { format!(" ({words})") };
            Error::Kernel { device, doing, error: io::Error::from(errno), words }
        }
    }
}

pub(crate) fn unreadable(device: &str, about: &str) -> Error {
    Error::Unreadable { device: device.into(), about: about.into() }
}
