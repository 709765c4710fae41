import { useState } from "preact/hooks";
import { actOf, factsOf, reasonOf, stateOf, titleOf } from "../../core/channel-facts.js";
import { changeAccount, restartAccount, signOutAccount } from "../../core/channels.js";
import { html } from "../../core/html.js";
import { noAdminReason, now, readOnlyReason } from "../../core/store.js";
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
  const { word, level } = account ? stateOf(account) : { word: "not signed in", level: "warn" };
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
        <span class="top-line"><span class="cut title">${title}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span></span>
        <span class="facts muted small">${account && factsOf(account, now.value).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}</span>
        ${reason && html`<span class="reason small wrap" role=${failed ? "alert" : undefined}>${reason}</span>`}
      </span>
      <span class="actions">
        ${act === "start" && html`<${Button} kind="slim" label=${`Start ${title}`} blocked=${blocked} onClick=${() => run("start")}>${busy ? "Starting…" : "Start"}<//>`}
        ${mayTry && html`<${Button} kind="slim" id=${ids.login} label=${`Sign in ${title}`} blocked=${blocked} aria-expanded=${open === "login"} onClick=${() => toggle("login")}>Sign in<//>`}
        ${
          act === "stop" &&
          html`<${Button} kind="slim" id=${ids.test} label=${`Test message through ${title}`} blocked=${readOnlyReason.value} aria-expanded=${open === "test"} onClick=${() => toggle("test")}>Test message<//>
          <${Button} kind="slim" label=${`Restart ${title}`} blocked=${blocked} onClick=${() => run("restart")}>${busy ? "Restarting…" : "Restart"}<//>`
        }
        ${mayTry && account && html`<${Button} kind="slim danger" label=${`Sign out ${title}`} blocked=${blocked} onClick=${() => signOut(channel, accountId, title)}>Sign out<//>`}
        ${act === "stop" && html`<${Button} kind="slim danger" label=${`Stop ${title}`} blocked=${blocked} onClick=${() => stop(channel, accountId, title)}>Stop<//>`}
      </span>
    </div>
    ${open === "test" && html`<${Later} load=${testMessage} channel=${channel} accountId=${accountId} title=${title} onClose=${() => setOpen("")} />`}
    ${open === "login" && html`<${Later} load=${login} channel=${channel} accountId=${accountId} title=${title} onClose=${() => setOpen("")} />`}
  </li>`;
}

/** @param {string} channel @param {string} accountId @param {string} title */
function stop(channel, accountId, title) {
  ask({
    title: `Stop ${title}?`,
    text: "It receives nothing until it is started again or the gateway restarts. Messages to it wait in the queue.",
    action: "Stop",
    isDanger: true,
    run: () => changeAccount("stop", { channel, accountId }),
  });
}

/** @param {string} channel @param {string} accountId @param {string} title */
function signOut(channel, accountId, title) {
  ask({
    title: `Sign ${title} out?`,
    text: "It stops, and what its sign-in has stored is cleared: to come back it has to be signed in anew. Credentials in the config stay.",
    action: "Sign out",
    isDanger: true,
    run: async () => {
      const cleared = await signOutAccount({ channel, accountId });
      announce(cleared ? `${title} is signed out.` : `${title} is stopped; there was no sign-in to clear.`);
    },
  });
}
