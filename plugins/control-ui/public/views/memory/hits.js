import { plain, plural } from "../../core/format.js";
import { html } from "../../core/html.js";
import { search, searchMemory } from "../../core/memory.js";
import { fromFirstMark, markWords, scoreWord } from "../../core/memory-facts.js";
import { formatPlace } from "../../core/places.js";
import { fileAddress, route } from "../../core/router.js";
import { defaultAgentId, isOnline } from "../../core/store.js";
import { texts } from "../../texts/memory.js";
import { Chat, File } from "../../ui/icons.js";
import { Failure, Notice, Waiting } from "../../ui/states.js";

/** @typedef {import("../../core/memory-facts.js").Hit} Hit */

/** Shows hits, best first, with the score of each retriever. @param {{ agentId: string, query: string }} props */
export function Hits({ agentId, query }) {
  const { answer, error, isBusy, query: asked } = search.value;
  const again = () => searchMemory(agentId, query, { again: true });
  if (error) return html`<${Failure} what=${texts.searchFailed} error=${error} onRetry=${again} />`;
  if (!answer)
    return isOnline.value || isBusy
      ? html`<section class="panel"><div class="inside padded"><${Waiting} rows=${4} /></div></section>`
      : null;
  if (answer.unavailable) {
    const failure = {
      message: `${answer.error ?? answer.warning ?? ""}${answer.action && answer.action !== answer.error ? ` ${answer.action}` : ""}`,
    };
    return html`<${Failure} what=${texts.memoryCannotSearched} error=${failure} onRetry=${again} />`;
  }
  return html`
    ${answer.warning && html`<${Notice} level="warn"><p>${answer.warning}</p><//>`}
    <section class=${`panel found-memory ${isBusy ? "old" : ""}`} aria-label=${texts.found} aria-busy=${isBusy ? "true" : undefined}>
      <header><h2><span role="status">${
        isBusy
          ? texts.searching
          : answer.results.length === 0
            ? texts.nothingFound(asked)
            : texts.resultsFor({ results: plural(answer.results.length, texts.passages), asked })
      }</span></h2></header>
      ${
        answer.results.length === 0
          ? html`<p class="inside muted">${texts.tryOtherFewer}</p>`
          : html`<div class="scores heads muted small" aria-hidden="true"><span>${texts.score}</span><span>${texts.meaning}</span><span>${texts.words}</span></div>
            <ol class="rows">${answer.results.map((hit, i) => html`<${Found} key=${`${i}:${formatPlace(placeOf(hit))}`} hit=${hit} agentId=${agentId} query=${asked} />`)}</ol>`
      }
    </section>
  `;
}

/** @param {{ hit: Hit, agentId: string, query: string }} props */
function Found({ hit, agentId, query }) {
  const snippet = hit.snippet.replace(/\s+/g, " ").trim();
  const place = formatPlace(placeOf(hit));
  return html`<li class="hit">
    <div class="scores">
      <${Score} name="score" value=${hit.score} /><${Score} name="meaning" value=${hit.vectorScore} /><${Score} name="words" value=${hit.textScore} />
    </div>
    <p class="place">${hit.source === "sessions" ? html`<${Chat} />` : html`<${File} />`}<span>${hit.source === "sessions" ? texts.conversation : place}</span></p>
    <${OpenHit} hit=${hit} agentId=${agentId} place=${place} />
    <p class="snippet">${fromFirstMark(markWords(plain(snippet), query)).map((part) => (typeof part === "string" ? part : html`<mark>${part.mark}</mark>`))}</p>
  </li>`;
}

/** @param {{ name: string, value: number | undefined }} props */
function Score({ name, value }) {
  return html`<span><span class="sr-only">${name} </span>${scoreWord(value)}<span class="unit muted small" aria-hidden="true"> ${name}</span></span>`;
}

/** A file opens at its lines, a conversation in the chat. @param {{ hit: Hit, agentId: string, place: string }} props */
function OpenHit({ hit, agentId, place }) {
  const agent = agentId === defaultAgentId.value ? undefined : agentId;
  const words = hit.source === "sessions" ? texts.openConversation : texts.openOf(place);
  return html`<a class="button slim" href=${fileAddress(placeOf(hit), agent, route.value.params.q ?? "")} aria-label=${words}>${texts.open}</a>`;
}

/** @param {Hit} hit */
function placeOf({ path, startLine, endLine }) {
  return { path, from: startLine, to: endLine };
}
