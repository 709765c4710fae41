import { base, foreign } from "../../core/config.js";
import { takeForeign } from "../../core/config-draft.js";
import { requestRestart } from "../../core/config-write.js";
import { plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/config-more.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Notice } from "../../ui/states.js";
import { IssueList } from "./issue-list.js";

/** Notices to be read before anything is changed. */
export default function Notices() {
  const { pendingRestart = [], issues: broken = [], warnings = [], valid = true } = base.value ?? {};
  return html`<div class="stack bars">
    ${noAdminReason.value && html`<${Notice}>${texts.settingsCanRead(noAdminReason.value)}<//>`}
    ${
      foreign.value &&
      html`<${Notice} level="warn"><p role="alert">${texts.somebodyElseChanged}</p>
        <div class="actions"><${Button} kind="slim" onClick=${takeForeign}>${texts.showTheirsUnder}<//></div><//>`
    }
    ${!valid && html`<${Notice} level="bad"><p><strong>${texts.fileNotValid}</strong></p><${IssueList} list=${broken} /><//>`}
    ${warnings.length > 0 && html`<${Notice} level="warn"><${IssueList} list=${warnings} /><//>`}
    ${
      pendingRestart.length > 0 &&
      html`<${Notice} level="warn"><p>${plural(pendingRestart.length, texts.changesWait)} <span class="mono wrap">${pendingRestart.join(", ")}</span></p>
        <div class="actions"><${Button} kind="slim" label=${texts.restartGateway} blocked=${noAdminReason.value} onClick=${askRestart}>${texts.restartLabel}<//></div><//>`
    }
  </div>`;
}

function askRestart() {
  ask({
    title: texts.restartTheGateway,
    text: texts.answersBeingWritten,
    action: texts.restartLabel,
    run: async () => {
      await requestRestart("a changed config");
      announce(texts.gatewayRestarts);
    },
  });
}
