// Acts on a report as a reader does, and reports the result to the page around it.
addEventListener("load", () => {
  const shown = [...document.querySelectorAll(".drawing")].filter((drawing) => drawing.clientWidth > 0);
  const told = { drawings: shown.length, overflow: 0 };
  const measure = () => {
    told.overflow = Math.max(told.overflow, document.documentElement.scrollWidth - innerWidth);
  };

  const reader = (kind) => {
    const drawing = shown.find((one) => JSON.parse(one.closest("figure").dataset.values).reads === kind);
    const figure = drawing.closest("figure");
    const values = JSON.parse(figure.dataset.values);
    const box = drawing.querySelector("svg.panel");
    const [left, top, width, height] = ["x", "y", "width", "height"].map((name) => Number(box.getAttribute(name)));
    figure.scrollIntoView();
    // The element at this share of the first panel, from its left and top, receives an event.
    const meet = (type, across, down, more = {}) => {
      const { x, y } = new DOMPoint(left + across * width, top + down * height).matrixTransform(drawing.getScreenCTM());
      const target = document.elementFromPoint(x, y);
      const init = { clientX: x, clientY: y, bubbles: true, cancelable: true, ...more };
      const kinds = { wheel: WheelEvent, dblclick: MouseEvent };
      target.dispatchEvent(new (kinds[type] ?? PointerEvent)(type, init));
      measure();
      return tip();
    };
    const tip = () => {
      const tip = figure.querySelector(".tip");
      return tip.hidden ? null : [...tip.children].map((line) => line.innerText.replace(/\s+/g, " "));
    };
    const press = (key) => {
      drawing.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      return tip();
    };
    const ticks = () => [...drawing.querySelector("g.ticks").querySelectorAll("text")].map((text) => text.textContent);
    return { drawing, figure, values, meet, tip, press, ticks };
  };

  for (const kind of ["height", "mark", "bar"]) {
    const { values, meet } = reader(kind);
    const [{ x, y, marks = [] }] = values.panels;
    const share = ({ range: [from, to], logarithmic, reversed }, value) => {
      const along = logarithmic ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from);
      return reversed ? 1 - along : along;
    };
    const read = kind === "height"
      ? [meet("pointermove", 0.5, 0.5)]
      : marks.map(({ at }) => meet("pointermove", share(x, at[0]), 1 - share(y, at[1])));
    told[kind] = { values, read };
    meet("pointerleave", 0.5, 0.5, { bubbles: false });
  }

  const { drawing, figure, values, meet, tip, press, ticks } = reader("time");
  const time = { values, whole: ticks() };
  time.hovered = meet("pointermove", 0.5, 0.5);
  meet("wheel", 0.5, 0.5, { deltaY: -100 });
  time.scrolledOver = ticks();
  drawing.focus();
  for (let turn = 0; turn < 5; turn += 1) meet("wheel", 0.5, 0.5, { deltaY: -100 });
  time.closer = ticks();
  meet("pointerdown", 0.75, 0.5);
  meet("pointermove", 0.25, 0.5);
  meet("pointerup", 0.25, 0.5);
  time.dragged = ticks();
  meet("dblclick", 0.5, 0.5);
  time.again = ticks();
  time.first = press("Home");
  time.second = press("ArrowRight");
  time.below = press("ArrowDown");
  press("Escape");
  time.escaped = tip();
  const [closer, , all] = figure.querySelectorAll(".closer button");
  closer.click();
  time.pressed = ticks();
  all.click();
  time.released = ticks();
  // One name alone, and all again: how much of each drawn name is seen.
  const [first] = document.querySelectorAll("nav button");
  const seen = () => [...document.querySelectorAll('.drawing [class*=" c"]')].map((part) => getComputedStyle(part).opacity);
  const faint = () => seen().filter((opacity) => Number(opacity) < 0.5).length;
  const alone = { before: faint() };
  first.click();
  Object.assign(alone, { clicked: faint(), all: seen().length });
  first.click();
  alone.after = faint();
  told.alone = alone;
  // For the picture.
  for (let turn = 0; turn < 3; turn += 1) meet("wheel", 0.5, 0.5, { deltaY: -100 });
  meet("pointermove", 0.4, 0.5);
  told.time = time;
  measure();
  parent.postMessage(JSON.stringify(told), "*");
});
