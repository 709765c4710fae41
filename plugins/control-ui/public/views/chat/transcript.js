import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { placed } from "../../core/asked-facts.js";
import { pointsByTurn } from "../../core/branch-facts.js";
import { loadOlder, reload, trimOlder } from "../../core/chat.js";
import { clock } from "../../core/format.js";
import { html } from "../../core/html.js";
import { outbox } from "../../core/outbox.js";
import { approvals, isOnline, lastOnlineAt, now } from "../../core/store.js";
import { blocksOf, chaptersOf, piecesOf } from "../../core/turn-blocks.js";
import { daysOf } from "../../core/turn-days.js";
import { turnsOf } from "../../core/turns.js";
import { texts } from "../../texts/chat.js";
import { Button } from "../../ui/button.js";
import { Down } from "../../ui/icons.js";
import { Later, prefetch } from "../../ui/later.js";
import { Failure, Waiting } from "../../ui/states.js";
import { Block } from "./block.js";
import { useFollowing } from "./follow.js";
import { asked, TurnView, tool } from "./turn.js";

const finding = () => import("./finding.js");
const start = () => import("./start.js");

/** Blocks at the end that are drawn at once. */
const DRAWN_BLOCKS = 4;
/** Height of a turn that was not drawn yet, px. */
const TURN_PX = 200;

/** @param {{ chat: import("../../core/chat.js").Chat, message?: string | undefined }} props `message`: id or number of the one to show */
export function Transcript({ chat, message }) {
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const outgoing = outbox.value.filter((entry) => entry.sessionKey === chat.key);
  const messages = chat.messages.value;
  const live = chat.live.value;
  const turns = useMemo(() => turnsOf({ messages, live, outgoing }), [messages, live, outbox.value]);
  const { isFollowing, toEnd, toTurn } = useFollowing(scroller, chat, { onNearTop: () => loadOlder(chat), onEnd: () => trimOlder(chat) });
  const [shown, setShown] = useState("");
  const branches = useMemo(() => pointsByTurn(turns, chat.branches.value), [turns, chat.branches.value]);
  const { requests, others } = placed(approvals.value, chat.key, live);
  const isBusy = live.length + outgoing.length > 0;
  useEffect(() => void (isBusy && prefetch(tool)), [isBusy]);
  const isEmpty = chat.isLoaded.value && turns.length === 0;
  const blocks = useMemo(() => blocksOf(turns), [turns]);
  const headings = useMemo(() => daysOf(turns, now.peek()), [turns]);
  const heights = useMemo(() => new Map(), [chat]);
  /** @typedef {ReturnType<typeof blocksOf>[number]} TurnBlock */
  /** Blocks that are still growing, and the one that the address names. @param {TurnBlock} block */
  const isBlockKept = ({ list }) => list.some(({ key, isLive }) => isLive || key === shown);
  /** Position of the reader, to which the view returns. @param {TurnBlock} block */
  const isPlace = ({ list }) => !chat.position.isFollowing && list.some(({ key }) => key === chat.position.turn);
  const end = (blocks.at(-1)?.id ?? 0) - DRAWN_BLOCKS;
  /** The newest are drawn at once, and all others when they come near. @param {TurnBlock[]} some */
  const estimateOf = (some) => (some.some(({ id }) => id > end) ? undefined : some.reduce((px, { list }) => px + list.length * TURN_PX, 0));
  const drawTurns =
    (/** @type {TurnBlock} */ { list }) =>
    (/** @type {number} */ share) =>
      list.map(
        (turn) =>
          html`<${TurnView} key=${turn.key} turn=${turn} heading=${headings.get(turn.key)} chat=${chat} requests=${turn.isLive ? requests : undefined} isShown=${turn.key === shown} branch=${branches.get(turn.key)} share=${share} />`,
      );
  const drawBlock = (/** @type {TurnBlock} */ block) =>
    html`<${Block} key=${block.id} id=${block.id} turn=${block.list[0]?.key} heights=${heights} isKept=${isBlockKept(block)} isPlace=${isPlace(block)} root=${scroller} estimate=${estimateOf([block])} pieces=${piecesOf(block.list)} draw=${drawTurns(block)} />`;
  return html`<div class="transcript-frame">
    <div class="transcript" ref=${scroller} tabindex="0" role="region" aria-label=${texts.messages}>
      <div class="column">
        ${chat.hasOlder.value && html`<p class="older muted small">${chat.isLoadingOlder.value ? texts.loadingEarlierMessages : texts.earlierMessages}</p>`}
        ${!isOnline.value && chat.isLoaded.value && html`<p class="older muted small">${texts.asOf(clock(lastOnlineAt.value))}</p>`}
        ${chat.error.value && html`<${Failure} what=${texts.messagesCouldNot} error=${chat.error.value} onRetry=${() => reload(chat)} />`}
        ${!chat.isLoaded.value && turns.length === 0 && !chat.error.value && html`<${Waiting} rows=${6} />`}
        ${isEmpty && html`<${Later} load=${start} />`}
        ${chaptersOf(blocks).map(
          ({ id, list }) =>
            html`<${Block} key=${`${chat.key} ${id}`} id=${id} turn=${list[0]?.list[0]?.key} heights=${heights} kind="chapter" isKept=${list.some((block) => isBlockKept(block) || isPlace(block))} root=${scroller} estimate=${estimateOf(list)} draw=${() =>
              list.map(drawBlock)} />`,
        )}
        ${(message !== undefined || shown !== "") && html`<${Later} load=${finding} chat=${chat} message=${message} onFound=${setShown} toTurn=${toTurn} />`}
        ${others.length > 0 && html`<${Later} load=${asked} list=${others} />`}
      </div>
    </div>
    <p class="sr-only" role="status">${live.some((run) => run.state === "running") ? texts.answeringLabel : ""}</p>
    ${!isFollowing && turns.length > 0 && html`<${Button} kind="slim latest" icon=${Down} onClick=${toEnd}>${texts.latest}<//>`}
  </div>`;
}
