import { useState } from "preact/hooks";
import { html } from "../core/html.js";
import { texts } from "../texts/parts.js";
import { Button } from "./button.js";

const SHOWN_CHARS = 4_096;

/** A text of any length: its beginning, and the rest when somebody asks for it. @param {{ text: string, label?: string | undefined }} props */
export function LongText({ text, label }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHOWN_CHARS;
  return html`<pre tabindex="0" role=${label ? "group" : undefined} aria-label=${label}>${isLong && !isWhole ? `${text.slice(0, SHOWN_CHARS)}…` : text}</pre>
    ${isLong && !isWhole && html`<${Button} kind="slim" onClick=${() => setWhole(true)}>${texts.showAll}<//>`}`;
}
