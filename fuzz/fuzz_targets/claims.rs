#![no_main]

#[allow(dead_code)]
#[path = "../../crates/bpf/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::claims(data);
});
