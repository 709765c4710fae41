import { useId } from "preact/hooks";
import { html } from "../../core/html.js";
import { PanelOf, Refresh } from "./panel.js";

/** A panel of a plugin among other things. @param {{ panel: import("../../core/panel-facts.js").Panel, subject?: import("../../core/panel-facts.js").Subject, level: number }} props */
export default function Boxed({ panel, subject, level }) {
  const id = useId();
  return html`<${PanelOf} panel=${panel} subject=${subject} top=${level === 0 ? 3 : level + 1} draw=${(
    /** @type {Parameters<import("./panel.js").Draw>[0]} */ { title, onRefresh, body },
  ) =>
    level === 0
      ? html`<div class="plugin-panel stack">${body}</div>`
      : html`<section class="panel plugin-panel" aria-labelledby=${id}>
          <header><${level === 3 ? "h3" : "h2"} id=${id} class="wrap">${title}<//><${Refresh} label=${panel.label} onRefresh=${onRefresh} /></header>
          <div class="inside stack">${body}</div>
        </section>`} />`;
}
