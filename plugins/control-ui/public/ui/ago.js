import { computed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { age, moment } from "../core/format.js";
import { html } from "../core/html.js";
import { now } from "../core/store.js";

/** How long ago something was. The text changes by itself: what stands around it is not drawn each second. @param {{ at: number }} props epoch ms */
export function Ago({ at }) {
  const words = useMemo(() => computed(() => age(at, now.value)), [at]);
  return html`<time title=${moment(at)}>${words}</time>`;
}
