import { useMemo, useState } from "preact/hooks";
import { request } from "../../core/conn.js";
import { html } from "../../core/html.js";
import { createReading } from "../../core/reading.js";
import { texts } from "../../texts/panels.js";
import { Button } from "../../ui/button.js";
import { Reset } from "../../ui/icons.js";
import { Later } from "../../ui/later.js";
import { useLive } from "../../ui/live.js";
import { Failure, Notice, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/panel-facts.js").Panel} Panel */
/** @typedef {import("../../core/panel-facts.js").Subject} Subject */
/** @typedef {import("../../core/panel-facts.js").Content} Content */
/** @typedef {(parts: { title: string, readAt: number, onRefresh: () => void, body: any }) => any} Draw */

/** Most pages show panels of one kind. */
const blocks = () => import("./blocks.js");
const frame = () => import("./frame.js");

/** Data has no event of its own that tells of a change. */
const READ_MS = 15_000;

/** One panel; where its title and its body stand is for whoever shows it. @param {{ panel: Panel, subject?: Subject, top: number, draw: Draw }} props `top`: level of headings in its texts */
export function PanelOf({ panel, subject = {}, top, draw }) {
  return panel.kind === "data"
    ? html`<${Data} panel=${panel} subject=${subject} top=${top} draw=${draw} />`
    : html`<${Framed} panel=${panel} subject=${subject} draw=${draw} />`;
}

/** @param {{ panel: Panel, subject: Subject, draw: Draw }} props */
function Framed({ panel, subject, draw }) {
  const [turn, setTurn] = useState(0);
  // Another page, or other methods, is another frame.
  const key = [turn, panel.src, ...(panel.methods ?? [])].join(" ");
  const body = html`<${Later} load=${frame} key=${key} panel=${panel} subject=${subject} />`;
  return draw({ title: panel.label, readAt: 0, onRefresh: () => setTurn(turn + 1), body });
}

/** @param {{ panel: Panel, subject: Subject, top: number, draw: Draw }} props */
function Data({ panel: { label, method = "" }, subject, top, draw }) {
  const inputs = [method, ...Object.values(subject)];
  const reading = useMemo(() => createReading(() => /** @type {Promise<Content>} */ (request(method, { ...subject }))), inputs);
  const read = () => void reading.read();
  useLive(read, { events: ["plugins.changed"], everyMs: READ_MS }, inputs);
  const content = reading.answer.value;
  /** @param {string} name @param {Record<string, unknown>} params */
  const call = async (name, params) => {
    const result = await request(name, params);
    read();
    return result;
  };
  const failure = /** @type {any} */ (reading.failure.value);
  const isForbidden = failure && [failure.code, failure.detailCode].includes("FORBIDDEN");
  const body = html`${isForbidden && html`<${Notice}>${texts.notAllowed}<//>`}
    ${failure && !isForbidden && html`<${Failure} what=${texts.notShown} error=${failure} onRetry=${read} />`}
    ${content ? html`<${Later} load=${blocks} blocks=${content.blocks} call=${call} top=${top} />` : !failure && html`<${Waiting} rows=${3} label=${texts.loading} />`}`;
  return draw({ title: content?.title ?? label, readAt: reading.readAt.value, onRefresh: read, body });
}

/** @param {{ label: string, onRefresh: () => void }} props */
export function Refresh({ label, onRefresh }) {
  return html`<${Button} kind="quiet slim" icon=${Reset} label=${texts.refreshOf(label)} onClick=${onRefresh} />`;
}
