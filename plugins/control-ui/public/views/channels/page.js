import { useEffect } from "preact/hooks";
import { sentenceOf } from "../../core/channel-facts.js";
import { failure, pairing, pairingFailure, readAt, readChannels, status } from "../../core/channels.js";
import { onEvent } from "../../core/conn.js";
import { clock } from "../../core/format.js";
import { html } from "../../core/html.js";
import { isOnline, lastOnlineAt } from "../../core/store.js";
import { texts } from "../../texts/channels.js";
import { Later } from "../../ui/later.js";
import { Trouble } from "../../ui/reading.js";
import { Waiting } from "../../ui/states.js";
import { Accounts } from "./accounts.js";
import { People } from "./people.js";

/** While the page is seen, an account that is lost or comes back is to be seen soon. */
const READ_EVERY_MS = 3_000;

const setUp = () => import("./set-up.js");

/** Page of the channels: how the accounts are, who waits to be let in, and a test message. */
export default function ChannelsPage() {
  useEffect(() => {
    const read = () => void (document.visibilityState === "visible" && readChannels());
    read();
    const timer = setInterval(read, READ_EVERY_MS);
    const ends = ["messaging.pairing.requested", "messaging.pairing.resolved"].map((event) => onEvent(event, read));
    document.addEventListener("visibilitychange", read);
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
      document.removeEventListener("visibilitychange", read);
    };
  }, [isOnline.value]);
  const list = status.value;
  return html`<div class="page channels">
    <div class="stack tight-head">
      <h1>${texts.channels}</h1>
      ${list && html`<p class="muted">${sentenceOf(list)}${!isOnline.value && texts.asOf(clock(readAt.value || lastOnlineAt.value))}</p>`}
    </div>
    ${failure.value ? html`<${Trouble} error=${failure.value} what=${texts.whatChannels} plugin="messaging" onRetry=${readChannels} />` : null}
    ${!list && !failure.value && html`<section class="panel"><div class="inside padded"><${Waiting} rows=${4} /></div></section>`}
    ${list && html`<${People} known=${pairing.value} failure=${pairingFailure.value} />`}
    ${list && list.channelOrder.length > 0 && html`<${Accounts} list=${list} />`}
    ${list && html`<${Later} load=${setUp} present=${inUse(list)} />`}
  </div>`;
}

/** Channels that have a section already, also one that does not work. @param {import("../../core/channel-facts.js").Status} list */
function inUse({ channelOrder, channelAccounts, channels }) {
  return channelOrder.filter((id) => (channelAccounts[id] ?? []).length > 0 || channels[id]?.error !== undefined);
}
