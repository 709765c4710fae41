import { useEffect } from "preact/hooks";
import { clock, count } from "../../core/format.js";
import { html } from "../../core/html.js";
import { isWide } from "../../core/look.js";
import { agents, memoryOf, progressOf, readDreaming, readMemory, searchMemory } from "../../core/memory.js";
import { isWorking, progressWords, sentenceOf } from "../../core/memory-facts.js";
import { formatRoute, go, route } from "../../core/router.js";
import { defaultAgentId, isOnline, lastOnlineAt, noAdminReason, now } from "../../core/store.js";
import { texts } from "../../texts/memory.js";
import { Button } from "../../ui/button.js";
import { Plus } from "../../ui/icons.js";
import { Failure, Later, Waiting } from "../../ui/states.js";
import { AgentChoice } from "./agent.js";
import { Files } from "./files.js";
import { SearchForm } from "./search-form.js";

// Nobody sees them first.
const indexMenu = () => import("./menu.js").then(({ IndexMenu }) => ({ default: IndexMenu }));
const hits = () => import("./hits.js").then(({ Hits }) => ({ default: Hits }));
const filePane = () => import("../chat/file.js").then(({ FilePane }) => ({ default: FilePane }));
const noteEditor = () => import("./editor.js").then(({ NoteEditor }) => ({ default: NoteEditor }));
const troubles = () => import("./troubles.js").then(({ Troubles }) => ({ default: Troubles }));
const dreams = () => import("./dreams.js").then(({ Dreams }) => ({ default: Dreams }));

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
    ${isBeside && !isWide.value && html`<h1 class="sr-only">${texts.memory}</h1>`}
    ${isBeside && !isEdit && html`<${Later} load=${filePane} back=${back} />`}
    ${isEdit && html`<${Later} load=${noteEditor} key=${`${agentId} ${path}`} agentId=${agentId} path=${path} query=${query} back=${back} />`}
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
        <h1>${texts.memory}</h1>
        <${AgentChoice} agentId=${agentId} agents=${agents.value} addressOf=${(/** @type {string} */ id) => memoryAddress(id, query)} />
        <span class="grow"></span>
        <${Button} icon=${Plus} blocked=${isOnline.value ? noAdminReason.value : undefined} onClick=${() => go(newAddress(agentId, query))}>${texts.newNote}<//>
        <${Later} load=${indexMenu} agentId=${agentId} />
      </div>
      ${status && html`<p class="muted">${sentenceOf(status)}${!isOnline.value && texts.asOf(clock(at ?? lastOnlineAt.value))}</p>`}
      <${Bar} agentId=${agentId} />
      ${status && html`<${Later} load=${troubles} agentId=${agentId} status=${status} />`}
      ${error ? html`<${Failure} what=${texts.stateMemoryCould} error=${error} onRetry=${() => readMemory(agentId)} />` : null}
    </div>
    <${SearchForm} query=${query} onSearch=${(/** @type {string} */ text) => {
      const address = memoryAddress(agentId, text);
      if (location.hash === address) void searchMemory(agentId, text, { again: true });
      else location.hash = address;
    }} />
    ${query !== "" && html`<${Later} load=${hits} agentId=${agentId} query=${query} />`}
    ${!status && !error && html`<section class="panel"><div class="inside padded"><${Waiting} rows=${6} /></div></section>`}
    ${query === "" && html`<${Later} load=${dreams} agentId=${agentId} />`}
    ${status && query === "" && html`<${Files} agentId=${agentId} status=${status} />`}
  </div>`;
}

/** Shows the progress of the index. Its height is kept free, so that nothing moves when it appears. @param {{ agentId: string }} props */
function Bar({ agentId }) {
  const progress = progressOf(agentId);
  if (!progress || !isWorking(progress) || !isOnline.value) return html`<div class="progress"></div>`;
  const words = progressWords(progress, now.value);
  return html`<div class="progress">
    <progress aria-label=${texts.index} max=${progress.total || undefined} value=${progress.total ? progress.done : undefined}></progress>
    <span class="muted small" title=${texts.doneOf({ done: count(progress.done), total: count(progress.total) })}>${words}</span>
  </div>`;
}
