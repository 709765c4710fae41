import { useEffect, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { lookAt } from "../../core/plugin-install.js";
import { texts } from "../../texts/plugins.js";
import { Failure, Waiting } from "../../ui/states.js";
import Consent from "./consent.js";

/** Asks of an installed plugin in its row what it may do, before it is switched on. @param {{ plugin: import("../../core/plugin-facts.js").Plugin, blocked: string | undefined, onClose: () => void }} props */
export default function Enable({ plugin, blocked, onClose }) {
  const [found, setFound] = useState(/** @type {import("../../core/plugin-install.js").Arrived | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {unknown} */ (undefined));
  const read = () => {
    setError(undefined);
    lookAt(plugin).then(setFound, setError);
  };
  useEffect(read, []);
  return html`<div class="detail stack">
    ${error && html`<${Failure} what=${texts.pluginCouldNot} error=${error} onRetry=${read} />`}
    ${!error && !found && html`<${Waiting} rows=${2} label=${texts.loadingPlugin} />`}
    ${found && html`<${Consent} plugin=${found} blocked=${blocked} onDone=${onClose} onClose=${onClose} />`}
  </div>`;
}
