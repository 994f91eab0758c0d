//! The commands of a page of Markdown, in their order, and what the page says they print.

/// What a comment above a block says of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum How {
    /// Nothing: it runs to its end.
    ToItsEnd,
    /// `<!-- not run: reason -->`.
    Not(String),
    /// `<!-- runs until Ctrl-C -->`: it is given a few seconds.
    UntilInterrupted,
    /// `<!-- runs in the background -->`: until the page ends.
    InTheBackground,
    /// `<!-- file: NAME -->`: no command, but a file with the block in it.
    File(String),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) command: String,
    /// Lines that the page shows below the command.
    pub(crate) shown: Vec<String>,
    pub(crate) how: How,
}

/// The commands of blocks of `console`, which begin with `$`, and of `sh`, where each line is one.
pub(crate) fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut above = "";
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            if !line.trim().is_empty() {
                above = line.trim();
            }
            continue;
        };
        let how = how(above).map_err(|error| format!("line {number}: {error}"))?;
        above = "";
        let block = lines.by_ref().take_while(|(_, line)| !line.trim_start().starts_with("```"));
        let block: Vec<_> = block.map(|(number, line)| (number + 1, line)).collect();
        match language {
            _ if matches!(how, How::File(_)) => steps.extend(file(&block, how)),
            "sh" => steps.extend(script(&block, &how)),
            "console" => steps.extend(session(&block, &how)),
            "" => return Err(format!("line {}: a block without a language", number + 1)),
            _ => {}
        }
    }
    Ok(steps)
}

fn how(above: &str) -> Result<How, String> {
    let Some(comment) = above.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) else {
        return Ok(How::ToItsEnd);
    };
    match comment.trim() {
        "runs until Ctrl-C" => Ok(How::UntilInterrupted),
        "runs in the background" => Ok(How::InTheBackground),
        other => match other.split_once(": ") {
            Some(("not run", reason)) => Ok(How::Not(reason.into())),
            Some(("file", name)) => Ok(How::File(name.into())),
            _ => Err(format!("{other:?} says nothing of how the block is run")),
        },
    }
}

fn file(block: &[(usize, &str)], how: How) -> Option<Step> {
    let &(line, _) = block.first()?;
    let text = block.iter().map(|(_, line)| format!("{line}\n")).collect();
    Some(Step { line, command: text, shown: Vec::new(), how })
}

/// Each line is a command, and goes on after a `\`.
fn script(block: &[(usize, &str)], how: &How) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut open = false;
    for &(line, text) in block {
        let text = text.trim();
        match steps.last_mut().filter(|_| open) {
            Some(step) => step.command = format!("{}\n{text}", step.command),
            None if text.is_empty() || text.starts_with('#') => continue,
            None => {
                steps.push(Step {
                    line,
                    command: text.into(),
                    shown: Vec::new(),
                    how: how.clone(),
                });
            }
        }
        open = text.ends_with('\\');
    }
    steps
}

/// A command after each `$`, and what it prints.
fn session(block: &[(usize, &str)], how: &How) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for &(line, text) in block {
        if let Some(command) = text.strip_prefix("$ ") {
            steps.push(Step { line, command: command.into(), shown: Vec::new(), how: how.clone() });
        } else if let Some(step) = steps.last_mut() {
            if step.shown.is_empty() && step.command.ends_with('\\') {
                step.command = format!("{}\n{text}", step.command);
            } else {
                step.shown.push(text.into());
            }
        }
    }
    steps
}

/// The first shown line that none of the streams has, after those before it in that stream. Numbers
/// are as good as each other, widths do not count, and a line of `…` stands for any.
pub(crate) fn missing<'a>(shown: &'a [String], streams: [&str; 2]) -> Option<&'a str> {
    let mut streams = streams.map(|text| text.lines().map(plain));
    shown.iter().map(String::as_str).find(|line| {
        let wanted = plain(line);
        if wanted.is_empty() || wanted == "…" {
            return false;
        }
        !streams.iter_mut().any(|stream| {
            let mut ahead = stream.clone();
            let found = ahead.any(|line| line == wanted);
            if found {
                *stream = ahead;
            }
            found
        })
    })
}

fn plain(line: &str) -> String {
    let mut plain = String::new();
    for word in line.split_whitespace() {
        let mut number = false;
        for letter in word.chars() {
            let goes_on = number && (letter == '.' || letter == ',');
            if letter.is_ascii_digit() && !number {
                plain.push('#');
            } else if !letter.is_ascii_digit() && !goes_on {
                plain.push(letter);
            }
            number = letter.is_ascii_digit() || goes_on;
        }
        plain.push(' ');
    }
    plain.trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(line: usize, command: &str, shown: &[&str], how: How) -> Step {
        let shown = shown.iter().map(|&line| line.into()).collect();
        Step { line, command: command.into(), shown, how }
    }

    #[test]
    fn commands_come_with_what_they_print_and_how_they_are_run() {
        let text = "# A page\n\n```sh\none   # why\n\ntwo \\\n  more\n```\n\n<!-- runs until Ctrl-C -->\n```console\n\
                    $ three\nshown\n$ four\n```\n\n```toml\n$ no = 1\n```\n";
        let found = steps(text).unwrap();
        let wanted = [
            step(4, "one   # why", &[], How::ToItsEnd),
            step(6, "two \\\nmore", &[], How::ToItsEnd),
            step(12, "three", &["shown"], How::UntilInterrupted),
            step(14, "four", &[], How::UntilInterrupted),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_block_that_is_not_run_has_a_reason() {
        let not = |comment: &str| steps(&format!("{comment}\n\n```sh\none\n```\n"));
        assert_eq!(
            not("<!-- not run: it installs -->").unwrap()[0].how,
            How::Not("it installs".into())
        );
        for comment in ["<!-- not run: -->", "<!-- what -->"] {
            assert!(not(comment).is_err(), "{comment}");
        }
    }

    #[test]
    fn a_file_is_the_unchanged_block() {
        let found = steps("<!-- file: plan.toml -->\n```toml\na = 1\n\n[b]\n```\n").unwrap();
        assert_eq!(found, [step(3, "a = 1\n\n[b]\n", &[], How::File("plan.toml".into()))]);
    }

    #[test]
    fn a_block_says_what_it_is() {
        assert!(steps("```\nsounding\n```\n").is_err());
    }

    #[test]
    fn shown_lines_are_found_in_order_whatever_their_numbers_and_widths() {
        let shown = |lines: &[&str]| lines.iter().map(|&line| line.into()).collect::<Vec<String>>();
        let streams = ["a    1.25 Mbit/s\nb 7\nc\n", "aside\nlast"];
        for good in [&["a 10.5 Mbit/s", "aside", "c"][..], &["…", "b 100", "…", "last"], &[]] {
            assert_eq!(missing(&shown(good), streams), None, "{good:?}");
        }
        for (bad, first) in [(&["c", "b 7"][..], "b 7"), (&["a 1 kbit/s"], "a 1 kbit/s")] {
            assert_eq!(missing(&shown(bad), streams), Some(first), "{bad:?}");
        }
    }
}
