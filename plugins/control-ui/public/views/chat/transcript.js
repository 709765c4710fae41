import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { approvals } from "../../core/approvals.js";
import { findMessage, isReadable, loadOlder, reload, trimOlder } from "../../core/chat.js";
import { clock, day } from "../../core/format.js";
import { html } from "../../core/html.js";
import { outbox } from "../../core/outbox.js";
import { isOnline, lastOnlineAt, now } from "../../core/store.js";
import { turnKeyOf, turnsOf } from "../../core/turns.js";
import { announce } from "../../ui/announce.js";
import { Button } from "../../ui/button.js";
import { Down } from "../../ui/icons.js";
import { Later, prefetch } from "../../ui/later.js";
import { Failure, Waiting } from "../../ui/states.js";
import { Block } from "./block.js";
import { useFollowing } from "./follow.js";
import { TurnView, tool } from "./turn.js";

const start = () => import("./start.js");
const asked = () => import("./asked.js");

/** Turns per block; a block far from the view is replaced by its height. Few enough to be drawn between two frames, on a slow machine too. */
const BLOCK_TURNS = 3;
/** Height of a turn that was not drawn yet, px. */
const TURN_PX = 180;

/** @param {{ chat: import("../../core/chat.js").Chat, message?: string | undefined }} props `message`: id or number of the one to show */
export function Transcript({ chat, message }) {
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const outgoing = outbox.value.filter((entry) => entry.sessionKey === chat.key);
  const messages = chat.messages.value;
  const live = chat.live.value;
  const turns = useMemo(() => turnsOf({ messages, live, outgoing }), [messages, live, outbox.value]);
  const { isFollowing, toEnd, toTurn } = useFollowing(scroller, chat, { onNearTop: () => loadOlder(chat), onEnd: () => trimOlder(chat) });
  const shown = useShownTurn(chat, message, toTurn);
  const isBusy = live.length + outgoing.length > 0;
  useEffect(() => void (isBusy && prefetch(tool)), [isBusy]);
  const isEmpty = chat.isLoaded.value && turns.length === 0;
  const blocks = blocksOf(turns);
  const first = useRef({ chat, id: Number.NEGATIVE_INFINITY });
  if (first.current.chat !== chat || (first.current.id < 0 && chat.isLoaded.value))
    first.current = { chat, id: blocks[0]?.id ?? Number.NEGATIVE_INFINITY };
  /** Position of the reader, to which the view returns, and what is still growing. @param {import("../../core/turns.js").Turn} turn */
  const isHeld = ({ key, isLive }) => isLive || key === shown || (!chat.position.isFollowing && key === chat.position.turn);
  return html`<div class="transcript-frame">
    <div class="transcript" ref=${scroller} tabindex="0" role="region" aria-label="Messages">
      <div class="column">
        ${chat.hasOlder.value && html`<p class="older muted small">${chat.isLoadingOlder.value ? "Loading earlier messages…" : "Earlier messages"}</p>`}
        ${!isOnline.value && chat.isLoaded.value && html`<p class="older muted small">As of ${clock(lastOnlineAt.value)}</p>`}
        ${chat.error.value && html`<${Failure} what="The messages could not be read." error=${chat.error.value} onRetry=${() => reload(chat)} />`}
        ${!chat.isLoaded.value && turns.length === 0 && !chat.error.value && html`<${Waiting} rows=${6} />`}
        ${isEmpty && html`<${Later} load=${start} />`}
        ${blocks.map(
          ({ id, list }) =>
            html`<${Block} key=${id} isKept=${list.some(isHeld)} root=${scroller} estimate=${id < first.current.id ? list.length * TURN_PX : undefined} draw=${() =>
              withDays(list).map(
                ({ turn, heading }) =>
                  html`<${TurnView} key=${turn.key} turn=${turn} heading=${heading} chat=${chat} isShown=${turn.key === shown} />`,
              )} />`,
        )}
        ${approvals.value.some(({ request }) => request.sessionKey === chat.key) && html`<${Later} load=${asked} sessionKey=${chat.key} />`}
      </div>
    </div>
    <p class="sr-only" role="status">${live.some((run) => run.state === "running") ? "Answering" : ""}</p>
    ${!isFollowing && turns.length > 0 && html`<${Button} kind="slim latest" icon=${Down} onClick=${toEnd}>Latest<//>`}
  </div>`;
}

/**
 * Key of the turn with the message that the address names, once it is found; the view goes there, once. A search that a lost connection
 * or a failed read ended begins again when messages can be read.
 * @param {import("../../core/chat.js").Chat} chat
 * @param {string | undefined} message
 * @param {(turn: string) => void} toTurn
 */
function useShownTurn(chat, message, toTurn) {
  const [shown, setShown] = useState("");
  const isSettled = useRef(false);
  const canSearch = isReadable(chat);
  useEffect(() => {
    isSettled.current = message === undefined;
    setShown("");
  }, [chat, message]);
  useEffect(() => {
    if (message === undefined || isSettled.current || !canSearch) return undefined;
    let isWanted = true;
    void findMessage(chat, message).then((found) => {
      if (!isWanted || (!found && !isReadable(chat))) return;
      isSettled.current = true;
      if (!found) return announce("That message is not in this conversation");
      setShown(turnKeyOf(found));
      toTurn(turnKeyOf(found));
    });
    return () => {
      isWanted = false;
    };
  }, [chat, message, canSearch]);
  return shown;
}

/**
 * Turns in blocks whose borders do not move when older ones are put before them.
 * @param {import("../../core/turns.js").Turn[]} turns
 */
function blocksOf(turns) {
  /** @type {Array<{ id: number, list: import("../../core/turns.js").Turn[] }>} */
  const blocks = [];
  for (const turn of turns) {
    const last = blocks.at(-1);
    const id = turn.seq === Number.MAX_SAFE_INTEGER ? (last?.id ?? 0) : Math.floor(turn.seq / (2 * BLOCK_TURNS));
    if (last && last.id >= id) last.list.push(turn);
    else blocks.push({ id, list: [turn] });
  }
  return blocks;
}

/** @param {import("../../core/turns.js").Turn[]} turns */
function withDays(turns) {
  let before = "";
  return turns.map((turn) => {
    const first = turn.items.find((item) => "at" in item);
    const name = first && "at" in first ? day(first.at, now.peek()) : before;
    const heading = name === before ? undefined : name;
    before = name;
    return { turn, heading };
  });
}
