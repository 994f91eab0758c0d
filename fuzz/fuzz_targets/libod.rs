#![no_main]

#[path = "../../crates/libod/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::libod(data);
});
