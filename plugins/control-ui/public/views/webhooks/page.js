import { useEffect } from "preact/hooks";
import { clock } from "../../core/format.js";
import { html } from "../../core/html.js";
import { formatRoute, replace, route } from "../../core/router.js";
import { isOnline, lastOnlineAt } from "../../core/store.js";
import { filters, problemsOf, sentenceOf } from "../../core/webhook-facts.js";
import { failure, hooks, PAGE, readAt, readWebhooks } from "../../core/webhooks.js";
import { texts } from "../../texts/webhooks.js";
import { Trouble } from "../../ui/reading.js";
import { Later, Notice, Waiting } from "../../ui/states.js";
import { Call } from "./call.js";
import { Deliveries } from "./deliveries.js";
import { Mappings } from "./mappings.js";

/** @typedef {import("../../core/webhooks.js").Filter} Filter */

/** While the page is seen, what comes in is to be seen soon. */
const READ_EVERY_MS = 2_000;
const switchOn = () => import("./switch-on.js").then(({ SwitchOn }) => ({ default: SwitchOn }));

/** Page of the webhooks: the address, what each path does, and the last deliveries. */
export default function WebhooksPage() {
  const { f, n } = route.value.params;
  const filter = /** @type {Filter} */ (f !== undefined && Object.hasOwn(filters, f) ? f : "all");
  const limit = Number(n) > PAGE ? Number(n) : PAGE;
  useEffect(() => {
    const read = () => void (document.visibilityState === "visible" && readWebhooks({ filter, limit }));
    read();
    const timer = setInterval(read, READ_EVERY_MS);
    document.addEventListener("visibilitychange", read);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", read);
    };
  }, [filter, limit, isOnline.value]);
  /** @param {{ f?: string, n?: number }} change */
  const show = (change) => {
    const next = { f: change.f ?? filter, n: change.n ?? PAGE };
    replace(formatRoute("webhooks", "", { f: next.f === "all" ? undefined : next.f, n: next.n > PAGE ? String(next.n) : undefined }));
  };
  const list = hooks.value;
  return html`<div class="page webhooks">
    <div class="stack tight-head">
      <h1>${texts.webhooks}</h1>
      ${list && html`<p class="muted">${sentenceOf(list, location.origin)}${!isOnline.value && texts.asOf(clock(readAt.value || lastOnlineAt.value))}</p>`}
    </div>
    ${failure.value ? html`<${Trouble} error=${failure.value} what=${texts.whatWebhooks} plugin="webhooks" onRetry=${() => readWebhooks({ filter, limit })} />` : null}
    ${!list && !failure.value && html`<section class="panel"><div class="inside padded"><${Waiting} rows=${6} /></div></section>`}
    ${list?.enabled && problemsOf(list).map((problem) => html`<${Notice} key=${problem} level="warn">${problem}<//>`)}
    ${list && (list.enabled ? html`<${Call} list=${list} />` : html`<${Later} load=${switchOn} />`)}
    ${list?.enabled && html`<${Mappings} list=${list} />`}
    ${list && html`<${Deliveries} list=${list} filter=${filter} limit=${limit} onShow=${show} />`}
  </div>`;
}
