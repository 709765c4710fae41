import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { short } from "../core/format.js";
import { html } from "../core/html.js";
import { theme } from "../core/look.js";
import { texts } from "../texts/parts.js";

/** @typedef {{ xs: number[], ys: Array<number | null>, from: number, to: number, most: (most: number | null) => [number, number] }} Plotted `xs` in epoch seconds */

const HEIGHT = 112;
const AXIS = 44;

/**
 * A chart with a sentence that says the same; whoever points into it reads the value there.
 * @param {{ title: string, sentence: string, plotted: Plotted, say: (value: number) => string, sayX: (seconds: number) => string, isBars?: boolean }} props
 */
export function Chart({ title, sentence, plotted, say, sayX, isBars = false }) {
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  const plot = useRef(/** @type {any} */ (undefined));
  const latest = useRef(plotted);
  latest.current = plotted;
  const [pointed, setPointed] = useState("");
  useEffect(() => {
    const place = /** @type {HTMLDivElement} */ (host.current);
    /** @param {any} u */
    const point = ({ cursor: { idx }, data }) => {
      const value = idx === null || idx === undefined ? null : data[1][idx];
      setPointed(value === null || value === undefined ? "" : texts.valueAt({ value: say(value), place: sayX(data[0][idx]) }));
    };
    plot.current = new uPlot(optionsOf(place, { latest, sayX, isBars, point }), dataOf(latest.current), place);
    const resize = new ResizeObserver(() => plot.current.setSize({ width: place.clientWidth, height: HEIGHT }));
    resize.observe(place);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => plot.current.redraw(false);
    scheme.addEventListener("change", redraw);
    return () => {
      scheme.removeEventListener("change", redraw);
      resize.disconnect();
      plot.current.destroy();
      plot.current = undefined;
    };
  }, []);
  useEffect(() => void plot.current?.setData(dataOf(plotted)), [plotted]);
  useEffect(() => void plot.current?.redraw(false), [theme.value]);
  return html`<figure class="chart">
    <p class="chart-head"><span class="title">${title}</span><span class="muted small" aria-hidden="true">${pointed}</span></p>
    <div ref=${host} class="plot" aria-hidden="true"><i class="plot-line"></i><i class="plot-grid"></i></div>
    <figcaption class="muted small">${sentence}</figcaption>
  </figure>`;
}

/** @param {Plotted} plotted @returns {import("uplot").AlignedData} */
function dataOf({ xs, ys }) {
  return [xs, ys];
}

/** @param {HTMLElement} place @param {{ latest: { current: Plotted }, sayX: (seconds: number) => string, isBars: boolean, point: (u: any) => void }} how @returns {import("uplot").Options} */
function optionsOf(place, { latest, sayX, isBars, point }) {
  // The canvas knows no custom properties: two elements of the page have the colours.
  /** @param {string} selector @param {"color" | "backgroundColor"} [property] */
  const colour = (selector, property = "color") => getComputedStyle(/** @type {Element} */ (place.querySelector(selector)))[property];
  const line = () => colour(".plot-line");
  const grid = { stroke: () => colour(".plot-grid", "backgroundColor"), width: 1 };
  const axis = { stroke: () => colour(".plot-grid"), font: "11px system-ui", grid, ticks: { show: false } };
  return {
    width: place.clientWidth || 300,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
    scales: {
      x: { time: true, range: () => [latest.current.from, latest.current.to] },
      y: { range: (/** @type {any} */ _u, /** @type {number} */ _least, /** @type {number | null} */ most) => latest.current.most(most) },
    },
    axes: [
      {
        ...axis,
        size: 22,
        gap: 6,
        space: 90,
        grid: { show: false },
        values: (/** @type {any} */ _u, /** @type {number[]} */ at) => at.map(sayX),
      },
      { ...axis, size: AXIS, gap: 4, space: 36, values: (/** @type {any} */ _u, /** @type {number[]} */ at) => at.map(shortly) },
    ],
    series: [
      {},
      {
        stroke: line,
        width: 1.5,
        spanGaps: false,
        points: { show: isLonely },
        ...(isBars ? { fill: line, paths: /** @type {any} */ (uPlot).paths.bars({ size: [0.7, 24] }) } : {}),
      },
    ],
    hooks: { setCursor: [point] },
  };
}

/** A single point between two gaps has no line: it is drawn as a dot. @param {any} u @param {number} series @param {number} first @param {number} last */
function isLonely(u, series, first, last) {
  const values = u.data[series];
  let drawn = 0;
  for (let i = first; i <= last; i++) if (values[i] !== null && values[i] !== undefined) drawn += 1;
  return drawn === 1;
}

/** Half a run is none: places between whole numbers have no label. @param {number} value */
function shortly(value) {
  return Number.isInteger(value) ? short(value) : "";
}
