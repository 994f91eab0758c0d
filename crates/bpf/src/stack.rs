//! Stack use of the programs' calls. A kernel with private stacks (Linux 6.13) has no such limit;
//! older ones refuse more than 512 bytes in a chain of calls, each frame rounded up to 32 bytes
//! (`check_max_stack_depth` of the verifier).

use std::collections::BTreeMap;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget, SymbolKind};

const MAX_STACK: u32 = 512;
const FRAME_MULTIPLE: u32 = 32;
const MAX_CALLS: usize = 8;

/// Bytes of an instruction, and the parts of it that are needed here.
const SIZE: u64 = 8;
const CALL: u8 = 0x85;
const CALL_OF_OURS: u8 = 1;
const MOVE_REGISTER: u8 = 0xbf;
const ADD_CONSTANT: u8 = 0x07;
const FRAME_POINTER: u8 = 10;

/// One function: its deepest access below the frame pointer, and what it calls.
#[derive(Debug, Default)]
struct Function {
    name: String,
    depth: u32,
    calls: Vec<Place>,
}

/// A section's index and an offset in it.
type Place = (usize, u64);

fn functions(object: &[u8]) -> BTreeMap<Place, Function> {
    let file = object::File::parse(object).unwrap();
    let mut found = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
        let Some(section) = symbol.section_index() else { continue };
        let place = (section.0, symbol.address());
        let section = file.section_by_index(section).unwrap();
        let code = section.data_range(symbol.address(), symbol.size()).unwrap().unwrap();
        let mut function =
            Function { name: symbol.name().unwrap().to_owned(), ..Function::default() };
        let calls: BTreeMap<u64, Option<Place>> = section
            .relocations()
            .filter_map(|(at, relocation)| {
                let RelocationTarget::Symbol(index) = relocation.target() else { return None };
                let target = file.symbol_by_index(index).unwrap();
                Some((at, target.section_index().map(|section| (section.0, target.address()))))
            })
            .collect();
        let mut last = [0u8; SIZE as usize];
        for (number, insn) in code.as_chunks::<{ SIZE as usize }>().0.iter().enumerate() {
            let at = place.1 + number as u64 * SIZE;
            function.depth = function.depth.max(below_the_frame(insn, &last));
            if insn[0] == CALL && insn[1] >> 4 == CALL_OF_OURS {
                let distance = i64::from(i32::from_le_bytes(insn[4..].try_into().unwrap()));
                match calls.get(&at) {
                    // A static function is its section and how far into it, less this instruction.
                    Some(&Some((section, 0))) => {
                        function.calls.push((section, ((distance + 1) * SIZE as i64) as u64));
                    }
                    Some(&Some(global)) => function.calls.push(global),
                    // The kernel's own functions have separate stacks.
                    Some(None) => {}
                    None => {
                        let target = at.wrapping_add_signed((distance + 1) * SIZE as i64);
                        function.calls.push((place.0, target));
                    }
                }
            }
            last = *insn;
        }
        found.insert(place, function);
    }
    found
}

/// How far below the frame pointer an instruction reaches: by an access, or by an address that it
/// makes.
fn below_the_frame(insn: &[u8; SIZE as usize], last: &[u8; SIZE as usize]) -> u32 {
    let (class, target, source) = (insn[0] & 7, insn[1] & 15, insn[1] >> 4);
    let base = match class {
        1 => source,
        2 | 3 => target,
        _ => 0,
    };
    let offset = i16::from_le_bytes([insn[2], insn[3]]);
    let address = insn[0] == ADD_CONSTANT
        && last[0] == MOVE_REGISTER
        && (last[1] >> 4, last[1] & 15) == (FRAME_POINTER, target);
    match (base, address) {
        (FRAME_POINTER, _) => u32::from(offset.min(0).unsigned_abs()),
        (_, true) => i32::from_le_bytes(insn[4..].try_into().unwrap()).min(0).unsigned_abs(),
        _ => 0,
    }
}

/// The deepest chain of calls from a function, and its names.
fn deepest(functions: &BTreeMap<Place, Function>, from: Place) -> (u32, Vec<String>) {
    let function = &functions[&from];
    let calls = function.calls.iter().map(|&callee| deepest(functions, callee));
    let (below, names) = calls.max().unwrap_or_default();
    let frame = function.depth.max(1).next_multiple_of(FRAME_MULTIPLE);
    let name = format!("{} ({} bytes)", function.name, function.depth);
    (frame + below, [vec![name], names].concat())
}

#[test]
fn no_chain_of_calls_takes_more_stack_than_old_kernels_allow() {
    let objects: [(&str, &[u8]); 5] = [
        ("background", include_bytes!(concat!(env!("OUT_DIR"), "/background.bpf.o"))),
        ("cc", include_bytes!(concat!(env!("OUT_DIR"), "/cc.bpf.o"))),
        ("copa", include_bytes!(concat!(env!("OUT_DIR"), "/copa.bpf.o"))),
        ("downlink", include_bytes!(concat!(env!("OUT_DIR"), "/downlink.bpf.o"))),
        ("peers", include_bytes!(concat!(env!("OUT_DIR"), "/peers.bpf.o"))),
    ];
    for (name, object) in objects {
        let functions = functions(object);
        let (depth, chain) = functions.keys().map(|&from| deepest(&functions, from)).max().unwrap();
        println!("{name}: {depth} bytes: {}", chain.join(" > "));
        assert!((1..=MAX_STACK).contains(&depth), "{name}: {depth} bytes: {chain:?}");
        assert!(chain.len() <= MAX_CALLS, "{name}: {chain:?}");
    }
}
