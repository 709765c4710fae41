import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../../core/html.js";
import { openFile, shownFile } from "../../core/memory-file.js";
import { isEditable } from "../../core/note-facts.js";
import { chatAddress, formatRoute, go, route } from "../../core/router.js";
import { lastChatKey } from "../../core/sessions.js";
import { isOnline, noAdminReason } from "../../core/store.js";
import { texts } from "../../texts/parts.js";
import { Button, CopyButton } from "../../ui/button.js";
import { Close, File } from "../../ui/icons.js";
import { Failure, Notice, Waiting } from "../../ui/states.js";

/** A memory file with the cited lines marked: beside what led to it, or as a page where there is no room. @param {{ back?: () => string }} props */
export function FilePane({ back = lastChat }) {
  const { rest, params } = route.value;
  const path = rest.replace(/^file\//, "");
  const [from = 0, to = from] = (params.l ?? "").split("-").map(Number);
  useEffect(() => void openFile(path, params.a, from), [path, params.a, from, isOnline.value]);
  const { text, error, isCut } = shownFile.value;
  const retry = () => openFile(path, params.a, from);
  return html`<aside class="file" aria-label=${texts.fileOf(path)}>
    <header>
      <${File} /><h2 class="cut" title=${path}>${path}</h2>
      ${text !== undefined && isEditable(path) && !noAdminReason.value && html`<a class="button slim" href=${formatRoute("memory", rest, { q: params.q ?? "", a: params.a, e: "1" })}>${texts.edit}</a>`}
      ${text && html`<${CopyButton} text=${text} label=${texts.copyText} hidesWord=${true} />`}
      <${Button} kind="quiet" icon=${Close} label=${texts.closeFile} onClick=${() => go(back())} />
    </header>
    <div class="file-body" tabindex="0" role="region" aria-label=${texts.textFile}>
      ${error ? html`<${Failure} what=${texts.fileCouldNot} error=${error} onRetry=${retry} />` : null}
      ${text === undefined && !error ? html`<${Waiting} rows=${8} />` : null}
      ${text === "" && html`<${Notice}><p>${texts.thereNoSuch}</p><//>`}
      ${text && html`<${Lines} key=${`${path}:${params.l}`} text=${text} from=${from} to=${to} />`}
      ${isCut && html`<p class="muted small">${texts.fileLongerThan}</p>`}
    </div>
  </aside>`;
}

function lastChat() {
  const key = lastChatKey();
  return key ? chatAddress(key) : "#/overview";
}

/** @param {{ text: string, from: number, to: number }} props */
function Lines({ text, from, to }) {
  const first = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => first.current?.scrollIntoView({ block: "center" }), []);
  return html`<ol class="lines">${text
    .replace(/\n$/, "")
    .split("\n")
    .map((line, i) => {
      const isMarked = i + 1 >= from && i + 1 <= to;
      const kind = /^#{1,6}\s/.test(line) ? "heading" : "";
      return html`<li key=${i} class=${`${isMarked ? "marked" : ""} ${kind}`} ref=${i + 1 === from ? first : undefined}>
        <span class="number" aria-hidden="true">${i + 1}</span>${isMarked ? html`<mark>${line || " "}</mark>` : html`<span>${line || " "}</span>`}
      </li>`;
    })}</ol>`;
}
