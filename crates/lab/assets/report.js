"use strict";
// Draws the figures from the JSON in the page. Every number drawn here stands in that JSON.
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  // Okabe and Ito's palette: told apart by people with any colour vision.
  const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
  const colour = new Map(report.runs.map((run, i) => [run.name, palette[i % palette.length]]));
  const ink = getComputedStyle(document.body).color;
  const rule = getComputedStyle(document.documentElement).getPropertyValue("--rule").trim();

  for (const cell of document.querySelectorAll("td[data-run]")) {
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = colour.get(cell.dataset.run) ?? "transparent";
    cell.prepend(swatch);
  }

  const axis = (label) => ({ label, stroke: ink, grid: { stroke: rule }, ticks: { stroke: rule } });
  const plots = [];

  function draw(id, xs, series, xLabel, yLabel, yScale) {
    const place = document.getElementById(id);
    const options = {
      width: place.clientWidth,
      height: 320,
      scales: { x: { time: false }, y: yScale },
      axes: [axis(xLabel), { ...axis(yLabel), size: 64 }],
      series: [{ label: xLabel }, ...series.map(({ values, ...style }) => style)],
      cursor: { sync: { key: xLabel } },
    };
    plots.push([place, new uPlot(options, [xs, ...series.map((one) => one.values)], place)]);
  }

  const line = (run, values) => ({ label: run.name, stroke: colour.get(run.name), width: 1.6, values, spanGaps: false });
  const rounded = (digits) => (_, v) => (v == null ? "–" : v.toFixed(digits));
  const valued = (series, digits) => series.map((one) => ({ ...one, value: rounded(digits) }));

  draw("throughput", report.time_s,
    valued([
      { label: "capacity", values: report.capacity_mbit_per_sec, stroke: "#8b95a3", fill: "#8b95a333", width: 1 },
      ...report.runs.map((run) => line(run, run.throughput_mbit_per_sec)),
    ], 2),
    "time (s)", "Mbit/s", { range: (_, low, high) => [0, high * 1.05 || 1] });

  draw("delay", report.time_s,
    valued(report.runs.map((run) => line(run, run.delay_p95_ms)), 1),
    "time (s)", "one-way delay (ms)", { distr: 3 });

  draw("cdf", report.cdf_percent,
    valued(report.runs.map((run) => line(run, run.delay_cdf_ms)), 1),
    "packets (%)", "one-way delay (ms)", { distr: 3 });

  addEventListener("resize", () => {
    for (const [place, plot] of plots) plot.setSize({ width: place.clientWidth, height: 320 });
  });
  document.documentElement.dataset.drawn = String(plots.length);
})();
