//! BPF objects of a process and of this machine. Tests use it to check that no object is left
//! behind.

use std::collections::BTreeSet;
use std::fs;

use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter};

/// A BPF object by the kernel's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// A map.
    Map(u32),
    /// A program.
    Program(u32),
    /// A link.
    Link(u32),
}

/// Objects that a process holds by its descriptors; none if it has ended or may not be inspected.
pub fn held_by(pid: u32) -> BTreeSet<Object> {
    let entries = fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    texts.flat_map(|text| text.lines().filter_map(object).collect::<Vec<_>>()).collect()
}

/// All BPF objects of this machine; empty without CAP_SYS_ADMIN.
pub fn alive() -> BTreeSet<Object> {
    let maps = MapInfoIter::default().map(|map| Object::Map(map.id));
    let programs = ProgInfoIter::default().map(|program| Object::Program(program.id));
    let links = LinkInfoIter::default().map(|link| Object::Link(link.id));
    maps.chain(programs).chain(links).collect()
}

fn object(line: &str) -> Option<Object> {
    let (kind, number) = line.split_once(":\t")?;
    let number = number.trim().parse().ok()?;
    match kind {
        "map_id" => Some(Object::Map(number)),
        "prog_id" => Some(Object::Program(number)),
        "link_id" => Some(Object::Link(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_descriptor_name_objects_or_nothing() {
        assert_eq!(object("map_id:\t12"), Some(Object::Map(12)));
        assert_eq!(object("link_id:\t3"), Some(Object::Link(3)));
        for line in ["pos:\t0", "prog_id:\tmany", "prog_id", ""] {
            assert_eq!(object(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_process_without_descriptors_of_that_kind_holds_nothing() {
        assert_eq!(held_by(u32::MAX), BTreeSet::new());
    }
}
