import { useState } from "preact/hooks";
import { age, count, moment, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { draftPaths } from "../../core/notes.js";
import { fileAddress, formatRoute } from "../../core/router.js";
import { defaultAgentId, now } from "../../core/store.js";
import { texts } from "../../texts/memory.js";
import { Button, Command } from "../../ui/button.js";
import { File } from "../../ui/icons.js";

/** @typedef {import("../../core/memory-facts.js").MemoryStatus} MemoryStatus */
/** @typedef {import("../../core/memory-facts.js").MemoryFile} MemoryFile */

const PAGE = 50;

/** The notes that are indexed, changed last first. @param {{ agentId: string, status: MemoryStatus }} props */
export function Files({ agentId, status }) {
  const [shown, setShown] = useState(PAGE);
  const files = (status.fileList ?? []).filter(({ source }) => source !== "sessions").sort((a, b) => b.mtime - a.mtime);
  const total = totalOf(status, files);
  const drafts = draftPaths(agentId);
  if (files.length === 0) return status.syncing ? null : html`<${NoNotes} status=${status} />`;
  return html`<section class="panel" aria-labelledby="memory-files">
      <header><h2 id="memory-files">${texts.filesLabel}</h2></header>
      ${drafts.has("") && html`<p class="inside drafted"><a href=${formatRoute("memory", "new", { a: agentId === defaultAgentId.value ? undefined : agentId })}>${texts.aNewNote}</a> ${texts.notSavedYet}</p>`}
      <ul class="rows">${files.slice(0, shown).map((file) => html`<${FileRow} key=${file.path} file=${file} agentId=${agentId} isDraft=${drafts.has(file.path)} />`)}</ul>
    </section>
    <div class="foot">
      <span class="muted small">${texts.someOf({ min: count(Math.min(shown, files.length)), total: count(total) })}</span>
      ${shown < files.length && html`<${Button} onClick=${() => setShown(shown + PAGE)}>${texts.showMore}<//>`}
    </div>`;
}

/** The list is cut by the gateway, the count is not. @param {MemoryStatus} status @param {MemoryFile[]} files */
function totalOf({ sourceCounts, truncated }, files) {
  const counted = sourceCounts?.find(({ source }) => source === "memory")?.files;
  return truncated ? Math.max(counted ?? 0, files.length) : files.length;
}

/** @param {{ file: MemoryFile, agentId: string, isDraft: boolean }} props */
function FileRow({ file, agentId, isDraft }) {
  const agent = agentId === defaultAgentId.value ? undefined : agentId;
  return html`<li><a class="row-line" href=${fileAddress({ path: file.path }, agent, "")}>
    <${File} /><span class="grow"><span class="cut">${file.path}</span></span>
    ${isDraft && html`<span class="badge warn">${texts.notSavedMark}</span>`}
    <span class="muted small passages">${plural(file.chunks ?? 0, texts.passages)}</span>
    <time class="muted small changed" title=${moment(file.mtime)}>${age(file.mtime, now.value)}</time>
  </a></li>`;
}

/** @param {{ status: MemoryStatus }} props */
function NoNotes({ status }) {
  const folder = `${status.workspace ?? texts.workspace}/memory`;
  return html`<div class="empty">
    <h2>${texts.noNotesYet}</h2>
    <p>${texts.writeFirstOne} <code>router.md</code>${texts.foundMomentLater}</p>
    <div class="folder"><${Command} command=${folder} /></div>
  </div>`;
}
