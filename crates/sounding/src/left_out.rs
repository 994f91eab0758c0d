//! Kinds of files that a build may leave out. Without the feature `captures`, using one is an error
//! that says so.

#[cfg(not(feature = "captures"))]
pub(crate) use absent::{Decoder, Encoder};
#[cfg(feature = "captures")]
pub(crate) use present::{Decoder, Encoder};

/// The remedy for a kind of file that this build leaves out.
pub(crate) const REMEDY: &str = "`sounding`, the whole program, has it";

#[cfg(feature = "captures")]
mod present {
    pub(crate) use zstd::stream::read::Decoder;

    pub(crate) type Encoder<W> = zstd::stream::write::Encoder<'static, W>;
}

/// The same names. No value of these types exists.
#[cfg(not(feature = "captures"))]
mod absent {
    use std::convert::Infallible;
    use std::io::{self, ErrorKind, Read, Write};
    use std::marker::PhantomData;

    use super::REMEDY;

    fn refused<T>(lacks: &str) -> io::Result<T> {
        let text = format!("this build {lacks}; {REMEDY}");
        Err(io::Error::new(ErrorKind::Unsupported, text))
    }

    pub(crate) struct Encoder<W>(Infallible, PhantomData<W>);

    impl<W> Encoder<W> {
        pub(crate) fn new(_: W, _: i32) -> io::Result<Self> {
            refused("writes no zstd")
        }

        pub(crate) fn finish(self) -> io::Result<W> {
            match self.0 {}
        }
    }

    impl<W> Write for Encoder<W> {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            match self.0 {}
        }

        fn flush(&mut self) -> io::Result<()> {
            match self.0 {}
        }
    }

    pub(crate) struct Decoder(Infallible);

    impl Decoder {
        pub(crate) fn new(_: impl Read) -> io::Result<Self> {
            refused("reads no zstd")
        }
    }

    impl Read for Decoder {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            match self.0 {}
        }
    }
}

#[cfg(test)]
#[cfg(not(feature = "captures"))]
mod tests {
    use super::*;

    #[test]
    fn a_kind_of_file_that_is_left_out_is_named_with_the_program_that_has_it() {
        let lacks = [
            ("writes no zstd", Encoder::new(Vec::<u8>::new(), 3).err()),
            ("reads no zstd", Decoder::new(&b""[..]).err()),
        ];
        for (lacks, error) in lacks {
            let text = error.expect(lacks).to_string();
            assert!(text.starts_with(&format!("this build {lacks}; `sounding`")), "{text}");
        }
    }
}
