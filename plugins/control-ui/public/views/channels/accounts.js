import { canSignIn } from "../../core/channel-facts.js";
import { html } from "../../core/html.js";
import { texts } from "../../texts/channels.js";
import { AccountRow } from "./account.js";

/** @typedef {import("../../core/channel-facts.js").Status} Status */

/** Accounts of all channels, in the order of the channels. @param {{ list: Status }} props */
export function Accounts({ list }) {
  const { channelOrder, channelLabels, channels, channelAccounts } = list;
  const rows = channelOrder.flatMap((channel) =>
    (channelAccounts[channel] ?? []).map((account) => ({
      channel,
      label: channelLabels[channel] ?? channel,
      account,
      mayLogin: canSignIn(list, channel),
    })),
  );
  // A channel may have its first account by signing in.
  const bare = channelOrder.filter((channel) => channelAccounts[channel]?.length === 0 && canSignIn(list, channel));
  const broken = channelOrder.filter((channel) => channels[channel]?.error !== undefined);
  return html`<section class="panel" aria-labelledby="accounts">
    <header><h2 id="accounts">${texts.accounts}</h2></header>
    <ul class="rows">
      ${broken.map(
        (channel) => html`<li key=${channel} class="row-line"><span class="grow">
          <span class="top-line"><span class="cut title" dir="auto">${channelLabels[channel] ?? channel}</span>
            <span class="badge bad"><i class="dot bad"></i>${texts.doesNotWork}</span></span>
          <span class="reason small wrap">${channels[channel]?.error}</span>
        </span></li>`,
      )}
      ${rows.map((row) => html`<${AccountRow} key=${`${row.channel} ${row.account.accountId}`} ...${row} />`)}
      ${bare.map((channel) => html`<${AccountRow} key=${`${channel} first`} channel=${channel} label=${channelLabels[channel] ?? channel} mayLogin=${true} />`)}
    </ul>
    ${rows.length + broken.length + bare.length === 0 && html`<p class="inside muted">${texts.noAccountConfig}</p>`}
  </section>`;
}
