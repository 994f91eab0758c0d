//! Who registered a congestion control: only asked when a name is taken.

use std::fs;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};

/// Whoever holds the name, in words: a process, the kernel, or somebody out of sight.
pub(crate) fn holder_of(name: &str) -> String {
    let Some(map_id) = map_of(name) else {
        return "the kernel itself".into();
    };
    let link_id = LinkInfoIter::default()
        .find(|link| {
            matches!(&link.info, LinkTypeInfo::StructOps(registered) if registered.map_id == map_id)
        })
        .map(|link| link.id);
    let process = link_id.and_then(process_of);
    process.unwrap_or_else(|| format!("struct_ops map {map_id}, pinned or in another namespace"))
}

/// The struct_ops map whose value carries the name, NUL included.
fn map_of(name: &str) -> Option<u32> {
    let needle: Vec<u8> = name.bytes().chain([0]).collect();
    MapInfoIter::default().filter(|map| map.ty == MapType::StructOps).map(|map| map.id).find(|id| {
        let value = MapHandle::from_map_id(*id)
            .and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY));
        value
            .ok()
            .flatten()
            .is_some_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
    })
}

/// The process that holds a BPF link open.
fn process_of(link_id: u32) -> Option<String> {
    let wanted = format!("link_id:\t{link_id}");
    let processes = fs::read_dir("/proc").ok()?.flatten();
    for process in processes {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let Ok(descriptors) = fs::read_dir(process.path().join("fdinfo")) else { continue };
        let holds = descriptors.flatten().any(|entry| {
            fs::read_to_string(entry.path())
                .is_ok_and(|text| text.lines().any(|line| line == wanted))
        });
        if holds {
            let command = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            return Some(format!("process {pid} ({})", command.trim()));
        }
    }
    None
}
