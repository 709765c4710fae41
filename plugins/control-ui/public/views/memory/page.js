import { useEffect } from "preact/hooks";
import { clock, count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { isWide } from "../../core/look.js";
import { agents, memoryOf, progressOf, readDreaming, readMemory, searchMemory } from "../../core/memory.js";
import { isWorking, progressWords, sentenceOf } from "../../core/memory-facts.js";
import { formatRoute, go, route } from "../../core/router.js";
import { defaultAgentId, isOnline, lastOnlineAt, noAdminReason, now } from "../../core/store.js";
import { Button } from "../../ui/button.js";
import { Plus } from "../../ui/icons.js";
import { Failure, Waiting } from "../../ui/states.js";
import { FilePane } from "../chat/file.js";
import { AgentChoice } from "./agent.js";
import { Dreams } from "./dreams.js";
import { NoteEditor } from "./editor.js";
import { Files } from "./files.js";
import { Hits } from "./hits.js";
import { IndexMenu } from "./menu.js";
import { SearchForm } from "./search-form.js";
import { Troubles } from "./troubles.js";

/** Page of an agent's memory: its notes, and a search over them; a file opens beside the search. */
export default function MemoryPage() {
  const { rest, params } = route.value;
  const isFile = rest.startsWith("file/");
  const isNew = rest === "new";
  const isEdit = isNew || (isFile && params.e !== undefined);
  const isBeside = isFile || isNew;
  const agentId = params.a ?? defaultAgentId.value;
  const query = params.q ?? "";
  useEffect(() => void readMemory(agentId), [agentId, isOnline.value]);
  useEffect(() => void readDreaming(agentId), [agentId, isOnline.value]);
  useEffect(() => void searchMemory(agentId, query), [agentId, query, isOnline.value]);
  const back = () => memoryAddress(agentId, query);
  const path = isFile ? rest.slice("file/".length) : undefined;
  return html`<div class=${`memory ${isBeside ? "with-file" : ""}`}>
    ${(!isBeside || isWide.value) && html`<div class="memory-side"><${Search} key=${agentId} agentId=${agentId} query=${query} /></div>`}
    ${isBeside && !isWide.value && html`<h1 class="sr-only">Memory</h1>`}
    ${isBeside && !isEdit && html`<${FilePane} back=${back} />`}
    ${isEdit && html`<${NoteEditor} key=${`${agentId} ${path}`} agentId=${agentId} path=${path} query=${query} back=${back} />`}
  </div>`;
}

/** @param {string} agentId @param {string} query */
function memoryAddress(agentId, query) {
  const a = agentId === defaultAgentId.value ? undefined : agentId;
  return formatRoute("memory", "", { q: query || undefined, a });
}

/** @param {string} agentId @param {string} query */
function newAddress(agentId, query) {
  return formatRoute("memory", "new", { q: query || undefined, a: agentId === defaultAgentId.value ? undefined : agentId });
}

/** @param {{ agentId: string, query: string }} props */
function Search({ agentId, query }) {
  const { status, error, at } = memoryOf(agentId);
  return html`<div class="page">
    <div class="stack">
      <div class="head memory-head">
        <h1>Memory</h1>
        <${AgentChoice} agentId=${agentId} agents=${agents.value} addressOf=${(/** @type {string} */ id) => memoryAddress(id, query)} />
        <span class="grow"></span>
        <${Button} icon=${Plus} blocked=${isOnline.value ? noAdminReason.value : undefined} onClick=${() => go(newAddress(agentId, query))}>New note<//>
        <${IndexMenu} agentId=${agentId} />
      </div>
      ${status && html`<p class="muted">${sentenceOf(status)}${!isOnline.value && ` As of ${clock(at ?? lastOnlineAt.value)}.`}</p>`}
      <${Bar} agentId=${agentId} />
      ${status && html`<${Troubles} agentId=${agentId} status=${status} />`}
      ${error ? html`<${Failure} what="The state of the memory could not be read." error=${error} onRetry=${() => readMemory(agentId)} />` : null}
    </div>
    <${SearchForm} query=${query} onSearch=${(/** @type {string} */ text) => {
      const address = memoryAddress(agentId, text);
      if (location.hash === address) void searchMemory(agentId, text, { again: true });
      else location.hash = address;
    }} />
    <${Hits} agentId=${agentId} query=${query} />
    ${!status && !error && html`<section class="panel"><div class="inside padded"><${Waiting} rows=${6} /></div></section>`}
    ${query === "" && html`<${Dreams} agentId=${agentId} />`}
    ${status && query === "" && html`<${Files} agentId=${agentId} status=${status} />`}
  </div>`;
}

/** Shows the progress of the index. Its height is kept free, so that nothing moves when it appears. @param {{ agentId: string }} props */
function Bar({ agentId }) {
  const progress = progressOf(agentId);
  if (!progress || !isWorking(progress) || !isOnline.value) return html`<div class="progress"></div>`;
  const words = progressWords(progress, now.value);
  return html`<div class="progress">
    <progress aria-label="Index" max=${progress.total || undefined} value=${progress.total ? progress.done : undefined}></progress>
    <span class="muted small" title=${`${count(progress.done)} of ${count(progress.total)}`}>${words}</span>
  </div>`;
}
