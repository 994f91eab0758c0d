"use strict";
// Figures answer: a pointer or the arrow keys read values off them, and time can be looked at
// closer.
(() => {
  const part = ({ range: [from, to], logarithmic, reversed }, value) => {
    const along = logarithmic ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from);
    return reversed ? 1 - along : along;
  };
  const valueAt = ({ range: [from, to], logarithmic, reversed }, place) => {
    const along = reversed ? 1 - place : place;
    return logarithmic ? from * (to / from) ** along : from + (to - from) * along;
  };
  const within = (value, [least, most]) => Math.min(Math.max(value, least), most);
  // Four digits, and all before the point.
  const said = (value) => {
    if (value === null) return "–";
    return String(Math.abs(value) < 1000 ? Number(value.toPrecision(4)) : Math.round(value));
  };
  // `throughput (Mbit/s)` is measured in Mbit/s.
  const unit = (label) => label.match(/\(([^)]*)\)$/)?.[1] ?? "";

  // Which of a line's points is meant at this moment: none where the line has not begun or is over.
  const pointAt = ({ x, stepped }, at) => {
    let after = x.findIndex((one) => one > at);
    if (after < 0) after = x.length;
    if (stepped) return after - 1;
    const before = after - 1;
    const nearer = after < x.length && (before < 0 || x[after] - at < at - x[before]) ? after : before;
    const wide = x.length > 1 ? x[1] - x[0] : Infinity;
    return Math.abs(x[nearer] - at) <= wide ? nearer : -1;
  };

  // Round values, about as many as requested, each with enough digits to differ from its
  // neighbours.
  const ticks = ([from, to], most) => {
    const least = (to - from) / most;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((of) => of * power).find((one) => one >= least) ?? 10 * power;
    const [first, last] = [Math.ceil(from / step - 1e-9), Math.floor(to / step + 1e-9)];
    const decimals = Math.max(0, -Math.floor(Math.log10(step)));
    return Array.from({ length: last - first + 1 }, (_, number) => {
      const value = (first + number) * step;
      return { value, text: String(Number(value.toFixed(decimals))) };
    });
  };

  // The values at a place: a heading, rows, the positions of the dots and of the line. A place is a
  // moment, a percentage, or the number of a mark.
  const reads = {
    time({ lines, x }, at, happenings) {
      const points = lines.map((line) => ({ line, index: pointAt(line, at) }));
      const meant = points.find(({ line, index }) => index >= 0 && !line.stepped);
      const moment = meant ? meant.line.x[meant.index] : at;
      const rows = points.map(({ line, index }) => ({ ...line, value: line.y[index] ?? null, axis: "y" }));
      const during = happenings.filter(({ span }) => span[0] <= moment && moment <= span[1]);
      const dots = points
        .filter(({ line, index }) => !line.stepped && (line.y[index] ?? null) !== null)
        .map(({ line, index }) => ({ ...line, at: [line.x[index], line.y[index]] }));
      return { head: `${Number(moment.toFixed(3))} ${unit(x.label)}`, rows, during, dots, x: moment };
    },
    height({ lines, y }, at) {
      const rows = lines.map((line) => {
        const index = line.y.findIndex((percent) => percent >= at - 1e-9);
        return { ...line, value: line.x[index] ?? null, axis: "x" };
      });
      const dots = rows.filter(({ value }) => value !== null).map((row) => ({ ...row, at: [row.value, at] }));
      return { head: `${said(at)} % of ${y.label.replace(" (%)", "")}: at most`, rows, during: [], dots, y: at };
    },
    mark({ marks }, at) {
      const { name, ink, says } = marks[at];
      return { rows: [{ name, ink }], during: [], says, dots: [marks[at]] };
    },
  };
  reads.bar = reads.mark;

  // One figure on one screen; its two drawings share what is looked at.
  class Figure {
    constructor(element) {
      this.element = element;
      const { reads, panels, happenings = [] } = JSON.parse(element.dataset.values);
      this.kind = reads;
      this.panels = panels.map(({ lines = [], marks = [], ...axes }) => ({ lines, marks, ...axes }));
      this.happenings = happenings;
      this.tip = element.appendChild(document.createElement("div"));
      this.tip.className = "tip";
      this.tip.setAttribute("role", "status");
      this.tip.hidden = true;
      if (this.kind === "time") this.makeCloser();
      this.drawings = [...element.querySelectorAll(".drawing")].map((svg) => new Drawing(this, svg));
    }

    makeCloser() {
      const { lines, x } = this.panels[0];
      const first = lines.find((line) => line.x.length > 1)?.x ?? x.range;
      this.whole = this.view = x.range;
      this.least = Math.min(8 * (first[1] - first[0]), x.range[1] - x.range[0]);
      const bar = document.createElement("div");
      bar.className = "closer";
      const buttons = [["+", "Look closer", 0.5], ["−", "Look from farther away", 2], ["all", "Show all of it", Infinity]];
      for (const [text, title, factor] of buttons) {
        const button = bar.appendChild(document.createElement("button"));
        Object.assign(button, { type: "button", textContent: text, title });
        button.setAttribute("aria-label", title);
        button.addEventListener("click", () => this.zoom(factor));
      }
      this.element.insertBefore(bar, this.element.querySelector("figcaption"));
    }

    get isCloser() {
      return this.view !== this.whole;
    }

    zoom(factor, about = (this.view[0] + this.view[1]) / 2) {
      const [from, to] = this.view;
      this.look(factor === Infinity ? this.whole : [about - (about - from) * factor, about + (to - about) * factor]);
    }

    look([from, to]) {
      const [first, last] = this.whole;
      const wide = within(to - from, [this.least, last - first]);
      const begins = within(from, [first, last - wide]);
      this.view = wide < last - first ? [begins, begins + wide] : this.whole;
      for (const { x } of this.panels) x.range = this.view;
      for (const drawing of this.drawings) drawing.stretch();
      this.hide();
    }

    hide() {
      this.tip.hidden = true;
      for (const drawing of this.drawings) drawing.cursor.replaceChildren();
    }
  }

  // One of a figure's drawings: the one for a desk or the one for a phone.
  class Drawing {
    constructor(figure, svg) {
      this.figure = figure;
      this.svg = svg;
      this.most = svg.classList.contains("narrow") ? 5 : 10;
      const box = (inner) => ["x", "y", "width", "height"].map((name) => Number(inner.getAttribute(name)));
      this.boxes = [...svg.querySelectorAll("svg.panel")].map(box);
      this.ticks = [...svg.querySelectorAll("g.ticks")].map((group) => ({
        group,
        line: group.querySelector("path"),
        text: group.querySelector("text"),
      }));
      this.paths = [...svg.querySelectorAll("svg.panel path, svg.row path")].map((path) => ({
        path,
        box: box(path.parentNode),
        drawn: path.getAttribute("d"),
      }));
      this.cursor = svg.appendChild(this.make("g", { class: "cursor" }));
      this.panel = 0;
      this.listen();
    }

    make(name, attributes) {
      const element = document.createElementNS(this.svg.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      return element;
    }

    listen() {
      const { svg, figure } = this;
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("pointermove", (event) => this.move(event));
      svg.addEventListener("pointerdown", (event) => {
        this.held = figure.isCloser ? { x: this.place(event).x, view: figure.view } : null;
        if (!this.held) this.move(event);
      });
      for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (this.held = null));
      // A finger that is lifted leaves what it read.
      svg.addEventListener("pointerleave", (event) => event.pointerType === "touch" || figure.hide());
      svg.addEventListener("blur", () => figure.hide());
      svg.addEventListener("keydown", (event) => this.press(event) && event.preventDefault());
      if (figure.kind !== "time") return;
      svg.addEventListener("dblclick", () => figure.zoom(Infinity));
      svg.addEventListener(
        "wheel",
        (event) => {
          // Scrolling over it is not blocked.
          if (document.activeElement !== svg && !event.ctrlKey) return;
          event.preventDefault();
          figure.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.pointed(event).at);
          this.move(event);
        },
        { passive: false },
      );
    }

    // Where an event is, in steps of the drawing.
    place({ clientX, clientY }) {
      return new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    }

    spot(panel, [x, y]) {
      const [left, top, width, height] = this.boxes[panel];
      const { x: across, y: up } = this.figure.panels[panel];
      return [left + width * part(across, x), top + height * (1 - part(up, y))];
    }

    // What an event refers to: a panel, and the value in it.
    pointed(event) {
      const { x, y } = this.place(event);
      const far = ([, top, , height]) => Math.abs(y - top - height / 2);
      const panel = this.boxes.reduce((best, box, at) => (far(box) < far(this.boxes[best]) ? at : best), 0);
      const [left, top, width, height] = this.boxes[panel];
      const { kind, panels } = this.figure;
      if (kind === "time") return { panel, at: valueAt(panels[panel].x, within((x - left) / width, [0, 1])) };
      if (kind === "height") return { panel, at: Math.round(100 * within(1 - (y - top) / height, [0, 1])) };
      const away = ({ at }) => {
        const [markX, markY] = this.spot(panel, at);
        return kind === "bar" ? Math.abs(x - markX) : Math.hypot(x - markX, y - markY);
      };
      const all = panels[panel].marks.map(away);
      return { panel, at: all.indexOf(Math.min(...all)) };
    }

    move(event) {
      const { figure, held } = this;
      if (held) {
        const span = held.view[1] - held.view[0];
        const by = ((held.x - this.place(event).x) / this.boxes[0][2]) * span;
        figure.look([held.view[0] + by, held.view[1] + by]);
        return;
      }
      const { panel, at } = this.pointed(event);
      this.show(panel, at);
    }

    press({ key, shiftKey }) {
      const { figure, panel } = this;
      const { kind, panels } = figure;
      const { lines, marks } = panels[panel];
      if (key === "Escape") return figure.hide() ?? true;
      if (kind === "time" && "+=-_0".includes(key)) {
        figure.zoom({ "+": 0.5, "=": 0.5, 0: Infinity }[key] ?? 2);
        return true;
      }
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity }[key];
      if (step === undefined) return false;
      if (kind === "time" && (key === "ArrowUp" || key === "ArrowDown")) {
        this.show(within(panel - step, [0, panels.length - 1]), this.at ?? figure.view[0]);
        return true;
      }
      const far = shiftKey ? 10 * step : step;
      const moments = lines.find((line) => !line.stepped)?.x ?? [];
      const last = { time: moments.length, height: 101, mark: marks.length, bar: marks.length }[kind] - 1;
      if (last < 0) return false;
      const now = kind === "time" ? pointAt({ x: moments }, this.at ?? moments[0]) : (this.at ?? 0);
      const next = within(this.at === undefined ? 0 : now + far, [0, last]);
      this.show(panel, kind === "time" ? moments[next] : next);
      return true;
    }

    show(panel, at) {
      const { figure, cursor, boxes } = this;
      const { kind, panels, happenings, view } = figure;
      if (kind === "time" && (at < view[0] || at > view[1])) {
        const wide = view[1] - view[0];
        figure.look(at < view[0] ? [at, at + wide] : [at - wide, at]);
      }
      if (kind !== "time" && kind !== "height" && !panels[panel].marks[at]) return;
      [this.panel, this.at] = [panel, at];
      const read = reads[kind](panels[panel], at, happenings);
      const lines = boxes.map(([left, top, width, height], number) => {
        const [x, y] = this.spot(number, [read.x ?? 0, read.y ?? 0]);
        if (read.x !== undefined) return `M${x} ${top}v${height}`;
        return read.y !== undefined ? `M${left} ${y}h${width}` : "";
      });
      const rule = this.make("path", { class: "s dim", "stroke-width": 10, d: lines.join("") });
      const dots = read.dots.map(({ ink, at: value }) => {
        const [cx, cy] = this.spot(panel, value);
        return this.make("circle", { class: `f ${ink}`, cx, cy, r: kind === "bar" ? 30 : 45 });
      });
      cursor.replaceChildren(rule, ...dots);
      this.tell(read, panels[panel]);
      const [left, top, width, height] = boxes[panel];
      const [x, y] = read.dots.length && read.x === undefined && read.y === undefined
        ? this.spot(panel, read.dots[0].at)
        : this.spot(panel, [read.x ?? valueAt(panels[panel].x, 0.5), read.y ?? valueAt(panels[panel].y, 1)]);
      this.put(within(x, [left, left + width]), within(y, [top, top + height]));
    }

    tell({ head, rows, says = [], during }, panel) {
      const { tip } = this.figure;
      const line = (text, ink) => {
        const paragraph = document.createElement("p");
        if (ink) {
          const swatch = paragraph.appendChild(this.make("svg", { class: "swatch", viewBox: "0 0 10 10" }));
          swatch.append(this.make("path", { class: `f ${ink}`, d: "M0 0h10v10H0z" }));
        }
        paragraph.append(text);
        return paragraph;
      };
      const row = ({ name, ink, value, axis }) => {
        if (value === undefined) return line(name, ink);
        const paragraph = line(name, ink);
        const number = paragraph.appendChild(document.createElement("b"));
        number.textContent = `${said(value)} ${value === null ? "" : unit(panel[axis].label)}`.trim();
        return paragraph;
      };
      const events = during.map(({ kind, name, ink }) => line(`${name}: ${kind}`, ink));
      tip.replaceChildren(...(head ? [line(head)] : []), ...rows.map(row), ...says.map((one) => line(one)), ...events);
    }

    // Beside a place of the drawing, where there is more room.
    put(x, y) {
      const { element, tip } = this.figure;
      tip.hidden = false;
      const there = new DOMPoint(x, y).matrixTransform(this.svg.getScreenCTM());
      const frame = element.getBoundingClientRect();
      const [left, top] = [there.x - frame.left, there.y - frame.top];
      const beside = left > frame.width / 2 ? left - tip.offsetWidth - 12 : left + 12;
      tip.style.left = `${within(beside, [0, Math.max(0, frame.width - tip.offsetWidth)])}px`;
      tip.style.top = `${Math.max(0, top - 12)}px`;
    }

    // Redraws everything for the shown span of time.
    stretch() {
      const { figure, svg } = this;
      const { view, whole, isCloser } = figure;
      svg.classList.toggle("closer-look", isCloser);
      const [first, last] = whole;
      for (const { path, box: [left, , width], drawn } of this.paths) {
        const stretched = (x) => {
          const time = first + ((x - left) / width) * (last - first);
          return left + ((time - view[0]) / (view[1] - view[0])) * width;
        };
        let [x, y] = [0, 0];
        const absolute = drawn.replace(/([Ml])(-?\d+) (-?\d+)/g, (_, step, across, down) => {
          [x, y] = step === "M" ? [Number(across), Number(down)] : [x + Number(across), y + Number(down)];
          return `${step === "M" ? "M" : "L"}${stretched(x).toFixed(1)} ${y}`;
        });
        path.setAttribute("d", isCloser ? absolute : drawn);
      }
      this.ticks.forEach(({ group, line, text }, panel) => {
        if (!line || !text) return;
        const [left, , width] = this.boxes[panel];
        const marks = ticks(view, this.most).flatMap(({ value, text: written }) => {
          const x = (left + width * part({ range: view }, value)).toFixed(0);
          const [rule, label] = [line.cloneNode(), text.cloneNode()];
          rule.setAttribute("d", line.getAttribute("d").replace(/^M-?\d+/, `M${x}`));
          label.setAttribute("x", x);
          label.textContent = written;
          return [rule, label];
        });
        group.replaceChildren(...marks);
      });
    }
  }

  const figures = [...document.querySelectorAll("figure[data-values]")].map((element) => new Figure(element));
  // A touch elsewhere ends what a finger left.
  document.addEventListener("pointerdown", ({ target }) => {
    for (const figure of figures) if (!figure.element.contains(target)) figure.hide();
  });
  const hint = document.querySelector(".hint");
  if (hint && figures.length) hint.hidden = false;
})();
