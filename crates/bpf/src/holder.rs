//! The registrar of a congestion control: only looked up when a name is taken.

use std::fs;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};

/// The holder of the name, as text: a process, the kernel, or a process out of sight.
pub(crate) fn holder_of(name: &str) -> String {
    let Some(map_id) = map_of(name) else {
        return "the kernel itself".into();
    };
    let link_id = LinkInfoIter::default()
        .find(|link| {
            matches!(&link.info, LinkTypeInfo::StructOps(registered) if registered.map_id == map_id)
        })
        .map(|link| link.id);
    match link_id {
        Some(id) => process_of("link_id", id)
            .unwrap_or_else(|| format!("struct_ops map {map_id}, pinned or in another namespace")),
        // Without a link the map keeps the name, also that of a killed process.
        None => process_of("map_id", map_id).unwrap_or_else(|| {
            format!(
                "struct_ops map {map_id}, whose process has ended or is out of sight: \
                 `bpftool struct_ops unregister id {map_id}` takes it out"
            )
        }),
    }
}

/// The struct_ops map that registered the name.
fn map_of(name: &str) -> Option<u32> {
    let mut maps = MapInfoIter::default().filter(|map| map.ty == MapType::StructOps);
    maps.find(|map| MapHandle::from_map_id(map.id).is_ok_and(|map| is_named(&map, name)))
        .map(|map| map.id)
}

/// Whether the value of a struct_ops map carries the name, NUL included.
pub(crate) fn is_named(map: &MapHandle, name: &str) -> bool {
    let needle: Vec<u8> = name.bytes().chain([0]).collect();
    let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten();
    value.is_some_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
}

/// The process that holds a BPF object open, by what its descriptors call it and its number.
fn process_of(kind: &str, id: u32) -> Option<String> {
    let wanted = format!("{kind}:\t{id}");
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
