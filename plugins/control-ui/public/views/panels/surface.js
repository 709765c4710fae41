import { useEffect, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { keyOf, panelAddress, panelsAt } from "../../core/panel-facts.js";
import { panels, readTools, tabs, toolsOf } from "../../core/panels.js";
import { route } from "../../core/router.js";
import { texts } from "../../texts/panels.js";
import { Open } from "../../ui/icons.js";
import { Later } from "../../ui/later.js";
import { iconOf } from "./icon.js";

/** @typedef {import("../../core/panel-facts.js").Panel} Panel */
/** @typedef {import("../../core/panel-facts.js").Subject} Subject */

const loadBoxed = () => import("./boxed.js");

/**
 * Panels at one place of the page; nothing where no plugin shows any.
 * @param {{ at: "rail" | "menu" | "widget" | "settings" | "tool" | "run", pluginId?: string, subject?: Subject, onDone?: () => void }} props
 */
export default function Surface({ at, pluginId, subject, onDone }) {
  if (at === "rail") return html`<${Rail} />`;
  if (at === "menu") return html`<${Links} role="menuitem" onDone=${onDone} />`;
  if (at === "tool") return html`<${OfTool} subject=${subject ?? {}} />`;
  const shown = panelsAt(panels.value, at, pluginId);
  if (shown.length === 0) return null;
  return html`<div class=${`plugin-panels ${at}`}>${shown.map(
    (panel) =>
      html`<${Later} key=${keyOf(panel)} load=${loadBoxed} panel=${panel} subject=${subject} level=${at === "settings" ? 3 : 2} />`,
  )}</div>`;
}

function Rail() {
  if (tabs.value.length === 0) return null;
  return html`<p class="group muted small">${texts.panels}</p><${Links} />`;
}

/** @param {{ role?: string, onDone?: (() => void) | undefined }} props */
function Links({ role, onDone }) {
  const { view, rest } = route.value;
  return tabs.value.map((panel) => {
    const isCurrent = view === "panel" && rest === keyOf(panel);
    return html`<a key=${keyOf(panel)} role=${role} href=${panelAddress(panel)} aria-current=${isCurrent ? "page" : undefined} title=${panel.label}
      onClick=${onDone}><${iconOf(panel)} /><span class="cut">${panel.label}</span></a>`;
  });
}

/** Panels about one call of a tool, of the plugin whose tool it is. @param {{ subject: Subject }} props */
function OfTool({ subject }) {
  const own = panelsAt(panels.value, "tool");
  const ids = [...new Set(own.map(({ pluginId }) => pluginId))].join(" ");
  useEffect(() => {
    for (const id of ids.split(" ")) if (id) void readTools(id);
  }, [ids]);
  const shown = own.filter(({ pluginId }) => toolsOf.value[pluginId]?.includes(subject.tool ?? ""));
  return shown.map((panel) => html`<${Folded} key=${keyOf(panel)} panel=${panel} subject=${subject} />`);
}

/** @param {{ panel: Panel, subject: Subject }} props */
function Folded({ panel, subject }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="tool fold" onToggle=${(/** @type {any} */ e) => setOpen(e.currentTarget.open)}>
    <summary><span class="turnable"><${Open} /></span><${iconOf(panel)} /><span class="cut">${panel.label}</span></summary>
    ${isOpen && html`<div class="body"><${Later} load=${loadBoxed} panel=${panel} subject=${subject} level=${0} /></div>`}
  </details>`;
}
