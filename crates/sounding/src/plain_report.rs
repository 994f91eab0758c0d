//! Errors without miette's own drawing, which takes thirty crates to wrap a text: message, causes
//! and help, each on lines of its own. The daemon's build prints them so; a plan's text, which has
//! a picture, is not among its inputs.

use std::fmt;

use miette::{Diagnostic, ReportHandler};

pub(crate) struct Plain;

impl ReportHandler for Plain {
    fn debug(&self, error: &dyn Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        indent(f, "  × ", "  │ ", &error.to_string())?;
        let mut next = error.source();
        while let Some(cause) = next {
            next = cause.source();
            let (head, below) = match next {
                Some(_) => ("  ├─▶ ", "  │   "),
                None => ("  ╰─▶ ", "      "),
            };
            indent(f, head, below, &cause.to_string())?;
        }
        match error.help() {
            Some(help) => indent(f, "  help: ", "        ", &help.to_string()),
            None => Ok(()),
        }
    }
}

/// Writes a text's first line behind `head`, and its others behind `below`.
fn indent(f: &mut fmt::Formatter<'_>, head: &str, below: &str, text: &str) -> fmt::Result {
    for (at, line) in text.split_terminator('\n').enumerate() {
        writeln!(f, "{}{line}", if at == 0 { head } else { below })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use miette::{Report, miette};

    use super::*;

    struct Shown<'a>(&'a Report);

    impl fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            Plain.debug(self.0.as_ref(), f)
        }
    }

    #[test]
    fn an_error_keeps_its_message_its_causes_and_its_help() {
        let report = miette!(help = "free it\nor not", "the disk is full\nor nearly")
            .wrap_err("b.qmdl: record 7")
            .wrap_err("it stops");
        let lines = [
            "  × it stops",
            "  ├─▶ b.qmdl: record 7",
            "  ╰─▶ the disk is full",
            "      or nearly",
            "  help: free it",
            "        or not",
            "",
        ];
        assert_eq!(Shown(&report).to_string(), lines.join("\n"));
    }

    #[cfg(feature = "lab")]
    #[test]
    fn both_builds_print_an_error_in_the_same_way() {
        use miette::{GraphicalReportHandler, GraphicalTheme};
        let drawn = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .with_wrap_lines(false);
        for report in [
            miette!("a: b"),
            miette!(help = "do this\nand that", "a: b\nc"),
            miette!("a\nb").wrap_err("c\nd").wrap_err("e"),
        ] {
            let mut text = String::new();
            drawn.render_report(&mut text, report.as_ref()).expect("memory has room");
            assert_eq!(Shown(&report).to_string(), text);
        }
    }
}
