#![no_main]

#[path = "../../crates/export/tests/targets/mod.rs"]
#[allow(dead_code, reason = "each target has its own needs")]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::packets(data);
});
