// Lines, plots and bars. They are SVG whose sizes are attributes: the page allows no inline style.

import { h } from "./tree.js";
import { clock, count, isKnown, rate } from "./words.js";

/// A line through values from left to right; what is null leaves a hole. Values are at least 0.
function path(values, width, height, top) {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let text = "";
  let isOpen = false;
  values.forEach((value, place) => {
    if (!isKnown(value)) {
      isOpen = false;
      return;
    }
    const y = height - (value / top) * height;
    text += `${isOpen ? "L" : "M"}${(place * step).toFixed(1)} ${y.toFixed(1)}`;
    isOpen = true;
  });
  return text;
}

/// The last minute as a small line.
export function spark(values, className) {
  const top = Math.max(...values.filter(isKnown), 0) * 1.15 || 1;
  return h(
    "svg",
    {
      class: "spark",
      viewBox: "0 0 100 20",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    h("path", { class: className, d: path(values, 100, 19, top) }),
  );
}

/// The next round number: 1, 2, 2.5 or 5 with zeros.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

const plotHeight = 150;
const margin = { left: 44, right: 4, top: 18, bottom: 20 };

/// Series over time. Each is `{ className, values }`, from the oldest to the newest; `times` are
/// the times of the values. The key beside the plot names them.
export function plot({ width, times, series, sentence }) {
  const inner = Math.max(width - margin.left - margin.right, 60);
  const most = Math.max(...series.flatMap(({ values }) => values.filter(isKnown)), 0);
  const step = roundStep(Math.max(most / 4, 0.25));
  const top = step * Math.max(Math.ceil(most / step), 1);
  const y = (value) => plotHeight - (value / top) * plotHeight;
  const lines = [];
  for (let value = 0; value <= top + step / 2; value += step) {
    const text = step < 1 ? rate(value) : count(value);
    lines.push(
      h("line", {
        class: value === 0 ? "base" : "gl",
        x1: 0,
        x2: inner,
        y1: y(value),
        y2: y(value),
      }),
      h("text", { x: -8, y: y(value) + 4, "text-anchor": "end" }, value === 0 ? "0" : text),
    );
  }
  return h(
    "svg",
    {
      class: "plot",
      role: "img",
      "aria-label": sentence,
      width,
      height: plotHeight + margin.top + margin.bottom,
    },
    h(
      "g",
      { transform: `translate(${margin.left} ${margin.top})` },
      lines,
      series.map(({ className, values }) =>
        h("path", { class: className, d: path(values, inner, plotHeight, top) }),
      ),
      timeLabels(times, inner),
    ),
  );
}

function timeLabels(times, inner) {
  if (times.length < 2) return null;
  const parts = inner < 420 ? 2 : 4;
  return Array.from({ length: parts + 1 }, (_, part) => {
    const time = times[0] + ((times.at(-1) - times[0]) * part) / parts;
    const anchor = part === 0 ? "start" : part === parts ? "end" : "middle";
    const [hours, minutes, seconds] = clock(time).split(":");
    const text = seconds === "00" ? `${hours}:${minutes}` : `${hours}:${minutes}:${seconds}`;
    return h(
      "text",
      { x: (inner * part) / parts, y: plotHeight + 16, "text-anchor": anchor },
      text,
    );
  });
}

/// A sample of a line, for the key of a plot.
export const sample = (className) =>
  h(
    "svg",
    {
      class: "sample",
      viewBox: "0 0 16 8",
      "aria-hidden": "true",
    },
    h("line", { class: className, x1: 0, x2: 16, y1: 4, y2: 4 }),
  );

/// A bar of parts `[share of 1, class]`, one after another.
export function bar(parts) {
  let x = 0;
  return h(
    "svg",
    {
      class: "bar",
      viewBox: "0 0 100 6",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    h("rect", { class: "track", width: 100, height: 6 }),
    parts.map(([share, className]) => {
      const width = Math.min(100 * share, 100 - x);
      const rect = h("rect", {
        class: className,
        x: x.toFixed(2),
        width: width.toFixed(2),
        height: 6,
      });
      x += width;
      return rect;
    }),
  );
}

/// A figure against its limit: amber from 80 %, red from 95 %; without a limit there is no bar.
export function meter(word, value, limit, format) {
  const share = isKnown(limit) && limit > 0 ? value / limit : null;
  const level = share >= 0.95 ? "fb" : share >= 0.8 ? "fw" : "f";
  return h(
    "div",
    { class: "meter" },
    h("span", null, word),
    h(
      "span",
      { class: "val" },
      h("b", null, format(value)),
      " ",
      h("span", { class: "lim" }, share === null ? "no limit" : `of ${format(limit)}`),
    ),
    share !== null && bar([[share, level]]),
  );
}

/// Of what something consists: a square of its color, before the word.
export const swatch = (className) =>
  h(
    "svg",
    {
      class: "sw",
      viewBox: "0 0 10 10",
      "aria-hidden": "true",
    },
    h("rect", { class: className, width: 10, height: 10 }),
  );

/// Where a plot stands: `draw` makes it as wide as there is room.
export function plotPlace(app, draw) {
  const width = document.querySelector(".plots")?.clientWidth ?? 640;
  return h(
    "div",
    { class: "plots", ref: () => requestAnimationFrame(() => app.paint()) },
    draw(width),
  );
}
