import { html } from "../core/html.js";
import { formatPlace, sessionOfPath } from "../core/places.js";
import { fileAddress } from "../core/router.js";
import { defaultAgentId } from "../core/store.js";
import { texts } from "../texts/parts.js";
import { Chat, File } from "./icons.js";

/** @typedef {import("../core/places.js").Place} Place */

/** A place in a memory file, opened with its lines marked, or in a conversation, which opens in the chat. @param {{ place: Place, agentId?: string | undefined }} props */
export function SourceChip({ place, agentId }) {
  const agent = agentId === defaultAgentId.value ? undefined : agentId;
  const isSession = sessionOfPath(place.path) !== undefined;
  const words = isSession ? texts.conversation : formatPlace({ ...place, path: shortPath(place.path) });
  return html`<a class="chip" href=${fileAddress(place, agent)} title=${place.path}>
    <${isSession ? Chat : File} /><span class="sr-only">${texts.source} </span><span class="cut">${words}</span>
  </a>`;
}

/** @param {{ places: Place[], agentId?: string | undefined }} props */
export function Sources({ places, agentId }) {
  if (places.length === 0) return null;
  return html`<div class="chips">${places.map((place) => html`<${SourceChip} key=${formatPlace(place)} place=${place} agentId=${agentId} />`)}</div>`;
}

/** The folder every note is in says nothing. @param {string} path */
function shortPath(path) {
  return path.replace(/^memory\//, "");
}
