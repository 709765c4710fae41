import { useState } from "preact/hooks";
import { actOf, factsOf, reasonOf, sentWords, stateOf, titleOf } from "../../core/channel-facts.js";
import { changeAccount, sendTest } from "../../core/channels.js";
import { html } from "../../core/html.js";
import { noAdminReason, now, readOnlyReason } from "../../core/store.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { ask } from "../../ui/dialog.js";

/** @typedef {import("../../core/channel-facts.js").Status} Status */
/** @typedef {import("../../core/channel-facts.js").Account} Account */

/** Accounts of all channels, in the order of the channels. @param {{ list: Status }} props */
export function Accounts({ list: { channelOrder, channelLabels, channels, channelAccounts } }) {
  const rows = channelOrder.flatMap((channel) =>
    (channelAccounts[channel] ?? []).map((account) => ({ channel, label: channelLabels[channel] ?? channel, account })),
  );
  const broken = channelOrder.filter((channel) => channels[channel]?.error !== undefined);
  return html`<section class="panel" aria-labelledby="accounts">
    <header><h2 id="accounts">Accounts</h2></header>
    <ul class="rows">
      ${broken.map(
        (channel) => html`<li key=${channel} class="row-line"><span class="grow">
          <span class="top-line"><span class="cut title">${channelLabels[channel] ?? channel}</span>
            <span class="badge bad"><i class="dot bad"></i>does not work</span></span>
          <span class="reason small wrap">${channels[channel]?.error}</span>
        </span></li>`,
      )}
      ${rows.map((row) => html`<${Row} key=${`${row.channel} ${row.account.accountId}`} ...${row} />`)}
    </ul>
    ${rows.length === 0 && broken.length === 0 && html`<p class="inside muted">No account is in the config yet.</p>`}
  </section>`;
}

/** @param {{ channel: string, label: string, account: Account }} props */
function Row({ channel, label, account }) {
  const [failed, setFailed] = useState("");
  const [isBusy, setBusy] = useState(false);
  const { accountId, name } = account;
  const { word, level } = stateOf(account);
  const reason = failed || reasonOf(account);
  const act = actOf(account);
  const title = titleOf({ label, accountId, name });
  const start = async () => {
    if (isBusy) return;
    setBusy(true);
    setFailed("");
    await changeAccount("start", { channel, accountId }).catch((error) => setFailed(/** @type {Error} */ (error).message));
    setBusy(false);
  };
  const test = () =>
    ask({
      title: `Test message through ${title}`,
      text: "A sentence with the name of this gateway is sent to one recipient, as the channel writes them: a room, or a person.",
      action: "Send",
      field: { label: "Recipient", value: "", maxLength: 512 },
      run: async (to) => announce(sentWords(await sendTest({ channel, accountId }, to.trim()))),
    });
  const stop = () =>
    ask({
      title: `Stop ${title}?`,
      text: "It receives nothing until it is started again or the gateway restarts. Messages to it wait in the queue.",
      action: "Stop",
      isDanger: true,
      run: () => changeAccount("stop", { channel, accountId }),
    });
  return html`<li class="row-line account">
    <span class="grow">
      <span class="top-line"><span class="cut title">${title}</span><span class=${`badge ${level}`}><i class=${`dot ${level}`}></i>${word}</span></span>
      <span class="facts muted small">${factsOf(account, now.value).map((fact) => html`<span key=${fact} class="wrap">${fact}</span>`)}</span>
      ${reason && html`<span class="reason small wrap" role=${failed ? "alert" : undefined}>${reason}</span>`}
    </span>
    ${
      act &&
      html`<span class="actions">
        ${act === "start" && html`<${Button} kind="slim" label=${`Start ${title}`} blocked=${noAdminReason.value} onClick=${start}>${isBusy ? "Starting…" : "Start"}<//>`}
        ${act === "stop" && html`<${Button} kind="slim" label=${`Test message through ${title}`} blocked=${readOnlyReason.value} onClick=${test}>Test message<//>`}
        ${act === "stop" && html`<${Button} kind="slim danger" label=${`Stop ${title}`} blocked=${noAdminReason.value} onClick=${stop}>Stop<//>`}
      </span>`
    }
  </li>`;
}
