import { useState } from "preact/hooks";
import { html } from "../../core/html.js";
import { installCommand, sourceOf } from "../../core/plugin-facts.js";
import { arrived, installing, installPlugin, removePlugin, typedSource } from "../../core/plugin-install.js";
import { texts } from "../../texts/plugins.js";
import { Button, Command } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Notice } from "../../ui/states.js";
import Consent from "./consent.js";

/** Installs a plugin on the gateway's machine, and asks then what it may do. @param {{ blocked: string | undefined }} props */
export default function Install({ blocked }) {
  const [failed, setFailed] = useState("");
  const text = typedSource.value;
  const source = sourceOf(text);
  const isWrong = text.trim() !== "" && source === undefined;
  /** @param {boolean} [replaceBundled] */
  const install = async (replaceBundled = false) => {
    if (!source || installing.value !== undefined) return;
    setFailed("");
    arrived.value = undefined;
    try {
      await installPlugin(source, replaceBundled);
    } catch (error) {
      const { detailCode, message } = /** @type {any} */ (error);
      if (!replaceBundled && detailCode === "PLUGIN_SHADOWS_BUNDLED") return askToReplace(install, source);
      setFailed(message);
    }
  };
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    if (!blocked) void install();
  };
  return html`<section class="panel" aria-labelledby="install">
    <header><h2 id="install">${texts.installAnotherOne}</h2></header>
    <form class="inside stack" onSubmit=${submit}>
      <p>${texts.folderArchiveGateway}</p>
      <label><span class="label">${texts.nameNpmFolder}</span>
        <input class="field" autocomplete="off" spellcheck=${false} maxlength="500" value=${text} aria-invalid=${isWrong ? "true" : undefined}
          onInput=${(/** @type {any} */ e) => (typedSource.value = e.currentTarget.value)} /></label>
      ${isWrong && html`<p class="reason" role="alert">${texts.expectedNameNpm}</p>`}
      ${failed !== "" && html`<p class="reason bad wrap" role="alert">${texts.notInstalled(failed)}</p>`}
      <div class="actions line"><${Button} type="submit" kind="primary" blocked=${blocked ?? (source ? undefined : texts.sayFirstInstall)}>${installing.value === undefined ? texts.install : texts.installing}<//>
        <span role="status" class="muted small wrap">${installing.value}</span></div>
      <details class="folded"><summary>${texts.commandLine}</summary>
        <${Command} command=${source ? installCommand(source) : "svc plugins install npm:<name>"} /></details>
    </form>
    ${arrived.value && html`<div class="inside stack"><${Arrived} plugin=${arrived.value} blocked=${blocked} /></div>`}
  </section>`;
}

/** @param {{ plugin: import("../../core/plugin-install.js").Arrived, blocked: string | undefined }} props */
function Arrived({ plugin, blocked }) {
  const close = () => {
    arrived.value = undefined;
  };
  return html`<${Notice}><p role="status"><strong>${plugin.name} ${plugin.version}</strong> ${texts.installedSwitchedOff}</p><//>
    <${Consent} key=${plugin.id} plugin=${plugin} blocked=${blocked} onDone=${close} onClose=${close}>
      <${Button} kind="danger" blocked=${blocked} onClick=${() => askToRemove(plugin)}>${texts.removeAgain}<//><//>`;
}

/** @param {(replaceBundled: boolean) => Promise<void>} install @param {string} source */
function askToReplace(install, source) {
  ask({
    title: texts.usePlacePart,
    text: texts.idPluginComes(source),
    action: texts.usePlace,
    isDanger: true,
    run: () => void install(true),
  });
}

/** Asks before an installed plugin goes, with its loss named. @param {{ id: string, name: string, version: string }} plugin */
export function askToRemove({ id, name, version }) {
  ask({
    title: texts.removeQuestion({ name, version }),
    text: texts.filesEntryConfig(id),
    action: texts.remove,
    isDanger: true,
    run: () => removePlugin(id),
  });
}
