import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { actsOf, lossWords, notesOf, reasonOf, stateOf } from "../../core/plugin-facts.js";
import { inspect, reloadPlugin, setEnabled } from "../../core/plugins.js";
import { now } from "../../core/store.js";
import { texts } from "../../texts/plugins.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Open } from "../../ui/icons.js";
import { Later } from "../../ui/later.js";
import { Detail } from "./detail.js";

/** @typedef {import("../../core/plugin-facts.js").Plugin} Plugin */

const enable = () => import("./enable.js");

const acts = {
  enable: { word: texts.enable, busy: texts.enabling },
  release: { word: texts.letLoadAgain, busy: texts.loading },
  reload: { word: texts.tryAgain, busy: texts.loading },
  disable: { word: texts.disable, busy: texts.disabling },
};

/** One plugin with its state and the acts that help now; it opens to all that is known of it. @param {{ plugin: Plugin, blocked: string | undefined }} props */
export function PluginRow({ plugin, blocked }) {
  const [isOpen, setOpen] = useState(false);
  const [busy, setBusy] = useState("");
  const [failed, setFailed] = useState("");
  const [isAsked, setAsked] = useState(false);
  const { id, name, version, description } = plugin;
  const { word, level } = stateOf(plugin);
  const reason = failed || reasonOf(plugin);
  const notes = notesOf(plugin, now.value);
  /** @param {keyof typeof acts} act */
  const run = async (act) => {
    if (busy) return;
    if (act === "disable") return disable(plugin);
    if (act === "enable" && plugin.origin === "global") return setAsked(true);
    setBusy(act);
    setFailed("");
    try {
      if (act === "reload") await reloadPlugin(id);
      else tell(texts.nowOn(name), await setEnabled(id, true));
    } catch (error) {
      setFailed(/** @type {Error} */ (error).message);
    }
    setBusy("");
  };
  return html`<li class="foldable">
    <div class="row-line">
      <button type="button" class="opener" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        <${Open} />
        <span class="grow">
          <span class="top-line"><span class="cut title" dir="auto">${name}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span></span>
          <span class="muted small cut">${description}</span>
          <span class="facts muted small"><span class="wrap">${id}</span><span>${version}</span></span>
        </span>
      </button>
      <span class="actions">${actsOf(plugin).map(
        (
          act,
        ) => html`<${Button} key=${act} kind=${act === "disable" ? "slim danger" : "slim"} label=${`${acts[act].word}: ${name}`} blocked=${blocked}
          onClick=${() => run(act)}>${busy === act ? acts[act].busy : acts[act].word}<//>`,
      )}</span>
    </div>
    ${
      (reason || notes.length > 0) &&
      html`<div class="notes small">
        ${reason && html`<p class=${`reason wrap ${level === "bad" || failed ? "bad" : ""}`} role=${failed ? "alert" : undefined}>${reason}</p>`}
        ${notes.map((note) => html`<p key=${note} class="wrap muted">${note}</p>`)}
      </div>`
    }
    ${isAsked && html`<${Later} load=${enable} plugin=${plugin} blocked=${blocked} onClose=${() => setAsked(false)} />`}
    ${isOpen && html`<${Detail} plugin=${plugin} blocked=${blocked} />`}
  </li>`;
}

/** @param {Plugin} plugin */
async function disable({ id, name }) {
  // Nobody has to wait for the loss to be named.
  const declared = await inspect(id).then(
    (found) => found.declared,
    () => undefined,
  );
  const loss = declared ? lossWords(declared) : texts.addsGoesOnce;
  ask({
    title: texts.disableOf(name),
    text: texts.configKept({ loss, more: id === "control-ui" ? texts.pageAfterwardsOnly : "" }),
    action: texts.disable,
    isDanger: true,
    ...(id === "control-ui" ? { field: { label: texts.typeContinue(id), value: "", maxLength: 64 } } : {}),
    run: async (value) => {
      if (id === "control-ui" && value.trim() !== id) throw new Error(texts.notNothingChanged(id));
      tell(texts.nowOff(name), await setEnabled(id, false));
    },
  });
}

/** @param {string} outcome @param {string[]} notes */
function tell(outcome, notes) {
  announce([outcome, ...notes].join(" "));
}
