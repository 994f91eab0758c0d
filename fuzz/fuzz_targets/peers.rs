#![no_main]

#[allow(dead_code)]
#[path = "../../crates/bpf/tests/targets/mod.rs"]
mod targets;

use std::ffi::c_void;

// Made by the build script of `crates/bpf/tests/trust_host.c`.
#[link(name = "trust_host", kind = "static")]
unsafe extern "C" {
    fn trust_host(steps: *const c_void, count: usize, answers: *mut c_void);
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::peers(data, |bytes| {
        let (words, _) = bytes.as_chunks();
        // Aligned as the structs are.
        let steps: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        let count = bytes.len() / targets::STEP;
        let mut answers = vec![0u64; count * targets::ANSWER / 8];
        // SAFETY: there are `count` structs of integers, each of the target's size.
        unsafe { trust_host(steps.as_ptr().cast(), count, answers.as_mut_ptr().cast()) };
        answers.iter().flat_map(|word| word.to_ne_bytes()).collect()
    });
});
