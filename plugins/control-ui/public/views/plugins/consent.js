import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { permissionWords } from "../../core/plugin-facts.js";
import { confirmPlugin } from "../../core/plugin-install.js";
import { texts } from "../../texts/plugins.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";

/** @typedef {import("../../core/plugin-install.js").Arrived} Arrived */

/**
 * Switches an installed plugin on, with the permissions that a person gives it.
 * @param {{ plugin: Arrived, blocked: string | undefined, onDone: () => void, onClose: () => void, children?: any }} props
 */
export default function Consent({ plugin, blocked, onDone, onClose, children }) {
  const { id, name, asked } = plugin;
  const [granted, setGranted] = useState(plugin.granted);
  const [state, setState] = useState(/** @type {{ isBusy?: boolean, failed?: string }} */ ({}));
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => place.current?.focus(), []);
  const confirm = async () => {
    if (state.isBusy) return;
    setState({ isBusy: true });
    try {
      const warnings = await confirmPlugin(id, granted);
      announce([texts.nowOn(name), ...warnings].join(" "));
      onDone();
    } catch (error) {
      setState({ failed: /** @type {Error} */ (error).message });
    }
  };
  /** @param {string} permission @param {boolean} isGranted */
  const grant = (permission, isGranted) => setGranted(asked.filter((one) => (one === permission ? isGranted : granted.includes(one))));
  return html`<div class="stack" role="group" aria-label=${texts.mayDo(name)} ref=${place} tabindex="-1">
    ${asked.length === 0 ? html`<p>${texts.asksNoPermission}</p>` : html`<p>${texts.asksThesePermissions}</p>`}
    ${asked.map(
      (permission) => html`<label key=${permission} class="check"><input type="checkbox" checked=${granted.includes(permission)}
        onChange=${(/** @type {any} */ e) => grant(permission, e.currentTarget.checked)} /><span>${permissionWords(permission)}</span></label>`,
    )}
    <p class="muted small">${texts.permissionsReviewNot}</p>
    ${state.failed !== undefined && html`<p class="reason bad wrap" role="alert">${texts.notSwitched(state.failed)}</p>`}
    <div class="actions">
      <${Button} kind="primary" blocked=${blocked} onClick=${confirm}>${state.isBusy ? texts.switching : texts.switch}<//>
      <${Button} onClick=${onClose}>${texts.leaveOff}<//>
      ${children}
    </div>
  </div>`;
}
