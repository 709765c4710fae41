import { useState } from "preact/hooks";
import { actOf, factsOf, reasonOf, stateOf, titleOf } from "../../core/channel-facts.js";
import { changeAccount, restartAccount, signOutAccount } from "../../core/channels.js";
import { html } from "../../core/html.js";
import { noAdminReason, now, readOnlyReason } from "../../core/store.js";
import { texts } from "../../texts/channels.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";
import { Later } from "../../ui/later.js";
import { useRefocus } from "../../ui/refocus.js";

/** @typedef {import("../../core/channel-facts.js").Account} Account */

const testMessage = () => import("./test-message.js");
const login = () => import("./login.js");

/** One account, what can be done with it, and below it what is being done. @param {{ channel: string, label: string, account?: Account, mayLogin: boolean }} props */
export function AccountRow({ channel, label, account, mayLogin }) {
  const [open, setOpen] = useState(/** @type {"" | "test" | "login"} */ (""));
  const [failed, setFailed] = useState("");
  const [busy, setBusy] = useState("");
  const accountId = account?.accountId ?? "default";
  const title = titleOf({ label, accountId, name: account?.name });
  const { word, level } = account ? stateOf(account) : { word: texts.notSigned, level: "warn" };
  const ids = { test: `test-${channel}-${accountId}`, login: `login-${channel}-${accountId}` };
  useRefocus(open === "test", ids.test);
  useRefocus(open === "login", ids.login);
  const reason = failed || (account && reasonOf(account));
  const act = account && actOf(account);
  const mayTry = mayLogin && account?.enabled !== false;
  /** @param {"start" | "restart"} which */
  const run = async (which) => {
    if (busy) return;
    setBusy(which);
    setFailed("");
    const done = which === "start" ? changeAccount("start", { channel, accountId }) : restartAccount({ channel, accountId });
    await done.catch((error) => setFailed(/** @type {Error} */ (error).message));
    setBusy("");
  };
  /** @param {"test" | "login"} which */
  const toggle = (which) => setOpen(open === which ? "" : which);
  const blocked = noAdminReason.value;
  return html`<li class="account">
    <div class="row-line">
      <span class="grow">
        <span class="top-line"><span class="cut title" dir="auto">${title}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span></span>
        <span class="facts muted small">${account && factsOf(account, now.value).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}</span>
        ${reason && html`<span class="reason small wrap" role=${failed ? "alert" : undefined}>${reason}</span>`}
      </span>
      <span class="actions">
        ${act === "start" && html`<${Button} kind="slim" label=${texts.start(title)} blocked=${blocked} onClick=${() => run("start")}>${busy ? texts.starting : texts.startLabel}<//>`}
        ${mayTry && html`<${Button} kind="slim" id=${ids.login} label=${texts.signOf(title)} blocked=${blocked} aria-expanded=${open === "login"} onClick=${() => toggle("login")}>${texts.sign}<//>`}
        ${
          act === "stop" &&
          html`<${Button} kind="slim" id=${ids.test} label=${texts.testMessageThrough(title)} blocked=${readOnlyReason.value} aria-expanded=${open === "test"} onClick=${() => toggle("test")}>${texts.testMessage}<//>
          <${Button} kind="slim" label=${texts.restart(title)} blocked=${blocked} onClick=${() => run("restart")}>${busy ? texts.restarting : texts.restartLabel}<//>`
        }
        ${mayTry && account && html`<${Button} kind="slim danger" label=${texts.signOutOf(title)} blocked=${blocked} onClick=${() => signOut(channel, accountId, title)}>${texts.signOut}<//>`}
        ${act === "stop" && html`<${Button} kind="slim danger" label=${texts.stopOf(title)} blocked=${blocked} onClick=${() => stop(channel, accountId, title)}>${texts.stop}<//>`}
      </span>
    </div>
    ${open === "test" && html`<${Later} load=${testMessage} channel=${channel} accountId=${accountId} title=${title} onClose=${() => setOpen("")} />`}
    ${open === "login" && html`<${Later} load=${login} channel=${channel} accountId=${accountId} title=${title} onClose=${() => setOpen("")} />`}
  </li>`;
}

/** @param {string} channel @param {string} accountId @param {string} title */
function stop(channel, accountId, title) {
  ask({
    title: texts.stopQuestion(title),
    text: texts.receivesNothingUntil,
    action: texts.stop,
    isDanger: true,
    run: () => changeAccount("stop", { channel, accountId }),
  });
}

/** @param {string} channel @param {string} accountId @param {string} title */
function signOut(channel, accountId, title) {
  ask({
    title: texts.signOutQuestion(title),
    text: texts.stopsSignStored,
    action: texts.signOut,
    isDanger: true,
    run: async () => {
      const cleared = await signOutAccount({ channel, accountId });
      announce(cleared ? texts.signedOut(title) : texts.stoppedThereNo(title));
    },
  });
}
