//! One self-contained HTML page: a table, three plots and how they were made. Nothing is fetched from anywhere.

use std::fmt::Write as _;

use serde::Serialize;

/// What a page shows.
#[derive(Clone, Debug)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// One line below the heading.
    pub subtitle: String,
    /// Headings of the table's columns.
    pub columns: Vec<String>,
    /// Rows of the table; the first cell is the name of a run.
    pub rows: Vec<Vec<String>>,
    /// What the columns mean.
    pub legend: String,
    /// Command, commit, seed, machine and the like: name and value.
    pub origin: Vec<(String, String)>,
    /// What is drawn.
    pub plots: Plots,
}

/// The series behind the plots; they stand in the page as JSON, units in the names.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plots {
    /// Width of a bin of the time series in milliseconds.
    pub bin_ms: u64,
    /// Start of each bin.
    pub time_s: Vec<f64>,
    /// What the link offered in each bin.
    pub capacity_mbit_per_sec: Vec<f64>,
    /// Shares of packets that `delay_cdf_ms` stands for.
    pub cdf_percent: Vec<f64>,
    /// One entry a run.
    pub runs: Vec<RunPlot>,
}

/// The series of one run.
#[derive(Clone, Debug, Serialize)]
pub struct RunPlot {
    /// The name in the table's first column.
    pub name: String,
    /// IP bytes that left the link in each bin.
    pub throughput_mbit_per_sec: Vec<f64>,
    /// 95th percentile of the one-way delay of the packets that left in each bin; nothing where none left.
    pub delay_p95_ms: Vec<Option<f64>>,
    /// One-way delay that the share of packets in `cdf_percent` stayed below.
    pub delay_cdf_ms: Vec<Option<f64>>,
}

impl Page {
    /// The page as one HTML document.
    pub fn html(&self) -> String {
        let data = serde_json::to_string(&self.plots).expect("plain structs of numbers serialise");
        let bin = format!("{} ms", self.plots.bin_ms);
        // Longest parts last, so that no placeholder is looked for inside them.
        [
            ("{{title}}", escape(&self.title)),
            ("{{subtitle}}", escape(&self.subtitle)),
            ("{{table}}", self.table()),
            ("{{legend}}", escape(&self.legend)),
            ("{{origin}}", self.origin_list()),
            ("{{bin}}", escape(&bin)),
            ("{{css}}", include_str!("../assets/report.css").into()),
            ("{{uplot_css}}", include_str!("../assets/uplot/uPlot.min.css").into()),
            ("{{js}}", include_str!("../assets/report.js").into()),
            ("{{uplot_js}}", include_str!("../assets/uplot/uPlot.iife.min.js").into()),
            // A `</script>` inside the JSON would end it.
            ("{{data}}", data.replace("</", "<\\/")),
        ]
        .iter()
        .fold(include_str!("../assets/report.html").to_string(), |page, (place, text)| {
            page.replace(place, text)
        })
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut line = |cells: &[String]| {
            writeln!(text, "| {} |", cells.join(" | ")).expect("a string takes all text");
        };
        line(&self.columns);
        let rule: Vec<String> =
            (0..self.columns.len()).map(|i| if i == 0 { "---" } else { "--:" }.into()).collect();
        line(&rule);
        for row in &self.rows {
            line(row);
        }
        text
    }

    /// The table for a terminal.
    pub fn text(&self) -> String {
        let lines: Vec<&Vec<String>> = std::iter::once(&self.columns).chain(&self.rows).collect();
        let width = |column: usize| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
        };
        let mut text = String::new();
        for line in &lines {
            for (column, cell) in line.iter().enumerate() {
                let width = width(column).unwrap_or(0);
                let written = if column == 0 {
                    write!(text, "{cell:<width$}")
                } else {
                    write!(text, "  {cell:>width$}")
                };
                written.expect("a string takes all text");
            }
            text.push('\n');
        }
        text
    }

    fn table(&self) -> String {
        let mut html = String::from("<table><thead><tr>");
        for column in &self.columns {
            write!(html, "<th>{}</th>", escape(column)).expect("a string takes all text");
        }
        html.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            html.push_str("<tr>");
            for (i, cell) in row.iter().enumerate() {
                let cell = escape(cell);
                let run = if i == 0 { format!(" data-run=\"{cell}\"") } else { String::new() };
                write!(html, "<td{run}>{cell}</td>").expect("a string takes all text");
            }
            html.push_str("</tr>");
        }
        html.push_str("</tbody></table>");
        html
    }

    fn origin_list(&self) -> String {
        let items = self.origin.iter().fold(String::new(), |mut html, (name, value)| {
            write!(html, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value))
                .expect("a string takes all text");
            html
        });
        format!("<dl>{items}</dl>")
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        Page {
            title: "a <b> & c".into(),
            subtitle: String::new(),
            columns: vec!["run".into(), "Mbit/s".into()],
            rows: vec![vec!["bbr".into(), "4.53".into()]],
            legend: String::new(),
            origin: vec![("command".into(), "sounding demo".into())],
            plots: Plots {
                runs: vec![RunPlot {
                    name: "</script>".into(),
                    throughput_mbit_per_sec: vec![],
                    delay_p95_ms: vec![],
                    delay_cdf_ms: vec![],
                }],
                ..Plots::default()
            },
        }
    }

    #[test]
    fn nothing_in_the_data_can_end_its_script() {
        let html = page().html();
        assert_eq!(html.matches("</script>").count(), 3);
        assert!(html.contains("a &lt;b&gt; &amp; c"));
    }

    #[test]
    fn every_placeholder_is_filled() {
        // uPlot's own code has no double braces with a lower-case word in them.
        let html = page().html();
        for place in ["title", "subtitle", "table", "legend", "origin", "bin", "css", "js", "data"]
        {
            assert!(!html.contains(&format!("{{{{{place}}}}}")), "{place}");
        }
    }

    #[test]
    fn nothing_is_fetched() {
        let html = page().html();
        assert!(!html.contains("src=\"http") && !html.contains("href=\"http"));
    }

    #[test]
    fn the_markdown_table_lines_up() {
        assert_eq!(page().markdown(), "| run | Mbit/s |\n| --- | --: |\n| bbr | 4.53 |\n");
    }
}
