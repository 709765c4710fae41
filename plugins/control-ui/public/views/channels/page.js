import { useEffect } from "preact/hooks";
import { sentenceOf } from "../../core/channel-facts.js";
import { failure, pairing, pairingFailure, readAt, readChannels, status } from "../../core/channels.js";
import { onEvent } from "../../core/conn.js";
import { clock } from "../../core/format.js";
import { html } from "../../core/html.js";
import { isOnline, lastOnlineAt } from "../../core/store.js";
import { Command } from "../../ui/button.js";
import { Trouble } from "../../ui/reading.js";
import { Waiting } from "../../ui/states.js";
import { Accounts } from "./accounts.js";
import { People } from "./people.js";

/** While the page is seen, an account that is lost or comes back is to be seen soon. */
const READ_EVERY_MS = 3_000;

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
      <h1>Channels</h1>
      ${list && html`<p class="muted">${sentenceOf(list)}${!isOnline.value && ` As of ${clock(readAt.value || lastOnlineAt.value)}.`}</p>`}
    </div>
    ${failure.value ? html`<${Trouble} error=${failure.value} what="channels" plugin="messaging" onRetry=${readChannels} />` : null}
    ${!list && !failure.value && html`<section class="panel"><div class="inside padded"><${Waiting} rows=${4} /></div></section>`}
    ${list && html`<${People} known=${pairing.value} failure=${pairingFailure.value} />`}
    ${list && (list.channelOrder.length === 0 ? html`<${SetUp} />` : html`<${Accounts} list=${list} />`)}
  </div>`;
}

function SetUp() {
  return html`<section class="panel" aria-labelledby="set-up">
    <header><h2 id="set-up">Set one up</h2></header>
    <div class="inside stack">
      <p>A channel lets people talk to the agent where they already are. This command installs what one needs and says what its account takes:</p>
      <${Command} command="svc channels add irc" />
      <p class="muted small">The account appears here as soon as it is in the config; nothing is restarted.</p>
    </div>
  </section>`;
}
