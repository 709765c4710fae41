import { html } from "../core/html.js";
import { formatPlace } from "../core/places.js";
import { fileAddress } from "../core/router.js";
import { defaultAgentId } from "../core/store.js";
import { File } from "./icons.js";

/** @typedef {import("../core/places.js").Place} Place */

/** A place in a memory file; opens it with its lines marked. @param {{ place: Place, agentId?: string | undefined }} props */
export function SourceChip({ place, agentId }) {
  const agent = agentId === defaultAgentId.value ? undefined : agentId;
  return html`<a class="chip" href=${fileAddress(place, agent)} title=${place.path}>
    <${File} /><span class="sr-only">Source </span><span class="cut">${formatPlace({ ...place, path: shortPath(place.path) })}</span>
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
