#![no_main]

#[path = "../../crates/board/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::board(data);
});
