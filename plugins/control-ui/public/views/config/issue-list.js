import { html } from "../../core/html.js";
import { formatRoute } from "../../core/router.js";

const MOST_SHOWN = 50;

/** Issues, each with the way to its field. @param {{ list: ReadonlyArray<{ path: string, message: string }> }} props */
export function IssueList({ list }) {
  return html`<ul class="stack issues">${list
    .slice(0, MOST_SHOWN)
    .map(
      ({ path, message }) =>
        html`<li key=${path + message} class="wrap">${path && html`<a class="mono" href=${formatRoute("config", path)}>${path}</a>${": "}`}${message}</li>`,
    )}</ul>`;
}
