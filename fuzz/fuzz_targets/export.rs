#![no_main]

#[path = "../../crates/export/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::export(data);
});
