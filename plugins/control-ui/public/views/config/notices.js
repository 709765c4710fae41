import { base, foreign } from "../../core/config.js";
import { takeForeign } from "../../core/config-draft.js";
import { requestRestart } from "../../core/config-write.js";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { noAdminReason } from "../../core/store.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Notice } from "../../ui/states.js";
import { IssueList } from "./issue-list.js";

/** Notices to be read before anything is changed. */
export default function Notices() {
  const { pendingRestart = [], issues: broken = [], warnings = [], valid = true } = base.value ?? {};
  return html`<div class="stack bars">
    ${noAdminReason.value && html`<${Notice}>${noAdminReason.value}: settings can be read, not changed.<//>`}
    ${
      foreign.value &&
      html`<${Notice} level="warn"><p role="alert">Somebody else has changed the config. Nothing of yours was overwritten.</p>
        <div class="actions"><${Button} kind="slim" onClick=${takeForeign}>Show theirs under my changes<//></div><//>`
    }
    ${!valid && html`<${Notice} level="bad"><p><strong>The file is not valid.</strong></p><${IssueList} list=${broken} /><//>`}
    ${warnings.length > 0 && html`<${Notice} level="warn"><${IssueList} list=${warnings} /><//>`}
    ${
      pendingRestart.length > 0 &&
      html`<${Notice} level="warn"><p>${plural(pendingRestart.length, "saved change")} ${pendingRestart.length === 1 ? "waits" : "wait"} for a restart: <span class="mono wrap">${pendingRestart.join(", ")}</span></p>
        <div class="actions"><${Button} kind="slim" label="Restart the gateway" blocked=${noAdminReason.value} onClick=${askRestart}>Restart<//></div><//>`
    }
  </div>`;
}

function askRestart() {
  ask({
    title: "Restart the gateway?",
    text: "Answers that are being written end first. Everybody is disconnected for a moment; this page comes back by itself.",
    action: "Restart",
    run: async () => {
      await requestRestart("a changed config");
      announce("The gateway restarts.");
    },
  });
}
