import { useState } from "preact/hooks";
import { issuesOf, outcomeOf } from "../../core/config-write.js";
import { html } from "../../core/html.js";
import { draft, writeServers } from "../../core/mcp.js";
import { freshDraft, patchOf, problemsOf } from "../../core/mcp-facts.js";
import { isOnline } from "../../core/store.js";
import { texts } from "../../texts/mcp.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";

/** @typedef {import("../../core/mcp-facts.js").Draft} Draft */

const ways = /** @type {const} */ ([
  ["stdio", texts.program],
  ["http", texts.address],
]);
const approvals = /** @type {const} */ ([
  ["writes", texts.beforeCallsTools],
  ["always", texts.beforeEachCall],
  ["never", "never"],
]);

/** Form of a new server. @param {{ taken: string[], onClose: () => void }} props */
export default function AddServer({ taken, onClose }) {
  const [problems, setProblems] = useState(/** @type {Partial<Record<keyof Draft, string>>} */ ({}));
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const { kind, name, approval } = draft.value;
  /** @param {Partial<Draft>} change */
  const change = (change) => {
    draft.value = { ...draft.value, ...change };
    setProblems({});
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const wrong = problemsOf(draft.value, taken);
    setProblems(wrong);
    setError("");
    if (isBusy || !isOnline.value || Object.keys(wrong).length > 0) return;
    setBusy(true);
    try {
      announce(`${name}: ${outcomeOf(await writeServers(patchOf(draft.value)))}`);
      draft.value = freshDraft();
      onClose();
    } catch (failure) {
      const [first] = issuesOf(failure);
      setError(first ? `${first.path}: ${first.message}` : /** @type {Error} */ (failure).message);
      setBusy(false);
    }
  };
  const field = (
    /** @type {{ id: keyof Draft, label: string, hint: string, isMono?: boolean, isFirst?: boolean }} */ {
      id,
      label,
      hint,
      isMono,
      isFirst,
    },
  ) => html`<div>
    <label><span class="label">${label}</span><input class=${`field ${isMono ? "mono" : ""}`} type="text" autocomplete="off" spellcheck="false" autofocus=${isFirst} maxlength="8192"
      placeholder=${hint} aria-invalid=${problems[id] ? "true" : undefined} value=${draft.value[id]} onInput=${(/** @type {any} */ e) => change({ [id]: e.currentTarget.value })} /></label>
    ${problems[id] && html`<p class="reason bad small" role="alert">${problems[id]}</p>`}
  </div>`;
  return html`<${Dialog} label=${texts.addServer} onClose=${onClose}>
    <form class="job-form" onSubmit=${submit} novalidate>
      <h2>${texts.addServer}</h2>
      ${field({ id: "name", label: texts.name, hint: "files", isFirst: true })}
      <fieldset>
        <legend class="label">${texts.howReached}</legend>
        <div class="choice" role="group" aria-label=${texts.howReached}>${ways.map(
          ([id, word]) =>
            html`<button key=${id} type="button" aria-pressed=${id === kind} onClick=${() => change({ kind: id })}>${word}</button>`,
        )}</div>
        ${
          kind === "stdio"
            ? html`${field({ id: "line", label: texts.command, hint: "npx -y @modelcontextprotocol/server-filesystem /srv/papers", isMono: true })}
              <p class="muted small">${texts.runsGatewayS}</p>`
            : html`${field({ id: "url", label: texts.addressLabel, hint: texts.httpsAddressServer, isMono: true })}
              <p class="muted small">${texts.headersSecretsCan}</p>`
        }
      </fieldset>
      <label><span class="label">${texts.personAsked}</span><select class="field" value=${approval} onChange=${(/** @type {any} */ e) => change({ approval: e.currentTarget.value })}>${approvals.map(
        ([id, word]) => html`<option key=${id} value=${id} selected=${id === approval}>${word}</option>`,
      )}</select></label>
      ${error && html`<p class="notice bad" role="alert">${error}</p>`}
      <div class="actions">
        <${Button} onClick=${onClose}>${texts.cancel}<//>
        <${Button} type="submit" kind="primary" blocked=${isOnline.value ? undefined : texts.notConnectedGateway}>${isBusy ? texts.adding : texts.add}<//>
      </div>
    </form>
  <//>`;
}
