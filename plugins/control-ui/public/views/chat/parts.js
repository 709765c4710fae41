import { html } from "../../core/html.js";
import { texts } from "../../texts/chat-more.js";
import { LongText } from "../../ui/long-text.js";

/** Pictures are drawn as these only: nothing else that a message may say is a picture runs or loads anything. */
const drawn = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const base64 = /^[\w+/]+={0,2}$/;

/** Files and pictures of a question. @param {{ parts: import("../../core/turns.js").Part[] }} props */
export default function Parts({ parts }) {
  return html`<div class="parts-of">${parts.map((part, i) => html`<${One} key=${i} part=${part} />`)}</div>`;
}

/** @param {{ part: import("../../core/turns.js").Part }} props */
function One({ part: { kind, name, type, content } }) {
  if (kind === "image" && content && drawn.includes(type) && base64.test(content)) {
    return html`<img class="picture" src=${`data:${type};base64,${content}`} alt=${texts.attachedPicture} />`;
  }
  if (kind === "text" && content) {
    return html`<details class="small"><summary><bdi>${name}</bdi></summary><${LongText} text=${content} label=${texts.textOfFile(name)} /></details>`;
  }
  return html`<span class="muted small">${kind === "image" ? texts.image : html`<bdi>${name}</bdi>`}</span>`;
}
