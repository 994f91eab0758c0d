//! The C that the kernel runs, compiled for this host as a filter: structs in, 64-bit numbers out.
//!
//! It is compiled with clang's undefined-behaviour traps; a shift or a division that C leaves open
//! ends it, and the test with it.

use std::fmt::Debug;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prop_assert_eq;
use proptest::test_runner::TestCaseError;

/// A filter, until the test ends.
pub(crate) struct Filter(tempfile::TempPath);

impl Filter {
    /// Compiles `tests/NAME.c`.
    pub(crate) fn compile(name: &str) -> Self {
        Self::compile_with(name, None)
    }

    /// The same with `was` replaced by `is` in `src/bpf/HEADER`, where it stands once.
    #[allow(dead_code, reason = "not every law is also compared with a changed one")]
    pub(crate) fn compile_changed(name: &str, header: &str, [was, is]: [&str; 2]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bpf").join(header);
        let text = std::fs::read_to_string(source).unwrap();
        assert_eq!(text.matches(was).count(), 1, "{was} in {header}");
        let changed = folder.path().join(header);
        std::fs::create_dir_all(changed.parent().unwrap()).unwrap();
        std::fs::write(changed, text.replace(was, is)).unwrap();
        Self::compile_with(name, Some(folder.path()))
    }

    /// Headers of `before` go before those of the same name.
    fn compile_with(name: &str, before: Option<&Path>) -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let filter = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let clang = std::env::var_os("BPF_CLANG").unwrap_or_else(|| "clang".into());
        let status = Command::new(clang)
            .args(["-O1", "-Wall", "-Wextra", "-Werror"])
            .args(["-fsanitize=undefined", "-fsanitize-trap=all"])
            .args(before.into_iter().flat_map(|folder| [Path::new("-I"), folder]))
            .arg("-I")
            .arg(here.join("src/bpf"))
            .arg(here.join("tests").join(format!("{name}.c")))
            .arg("-o")
            .arg(&filter)
            .status()
            .unwrap();
        assert!(status.success(), "clang could not compile {name}.c");
        Self(filter)
    }

    /// What it answers.
    pub(crate) fn ask(&self, told: Told) -> Vec<u64> {
        let mut filter = Command::new(self.0.as_os_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = filter.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(&told.0));
        let mut heard = Vec::new();
        filter.stdout.take().unwrap().read_to_end(&mut heard).unwrap();
        let wrote = writer.join().unwrap();
        assert!(filter.wait().unwrap().success(), "undefined behaviour in the C");
        wrote.unwrap();
        let (numbers, rest) = heard.as_chunks();
        assert!(rest.is_empty(), "half a number at the end");
        numbers.iter().map(|number| u64::from_ne_bytes(*number)).collect()
    }

    /// Holds what a law in Rust answered against what it answers, `N` numbers each, step by step.
    #[allow(dead_code, reason = "one of the tests asks for single numbers")]
    pub(crate) fn agrees<A: PartialEq + Debug, const N: usize>(
        &self,
        (told, ours): (Told, Vec<A>),
        parse: impl Fn([u64; N]) -> A,
    ) -> Result<(), TestCaseError> {
        let heard = self.ask(told);
        let (answers, rest) = heard.as_chunks::<N>();
        prop_assert_eq!((answers.len(), rest.len()), (ours.len(), 0));
        for (at, (mine, theirs)) in ours.iter().zip(answers).enumerate() {
            prop_assert_eq!(mine, &parse(*theirs), "step {}: Rust left, C right", at);
        }
        Ok(())
    }
}

/// Input of the filter.
#[derive(Default)]
pub(crate) struct Told(Vec<u8>);

impl Told {
    pub(crate) fn longs(&mut self, values: &[u64]) {
        self.0.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
    }

    pub(crate) fn ints(&mut self, values: &[u32]) {
        self.0.extend(values.iter().flat_map(|value| value.to_ne_bytes()));
    }
}
