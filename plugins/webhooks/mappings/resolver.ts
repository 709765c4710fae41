import { setImmediate as nextTurn } from "node:timers/promises";
import { type Agents, type Clock, isRecord, type Messaging } from "svc/sdk";
import type { Action, HookRequest, HooksConfig, Refusal, Resolved } from "../action.ts";
import type { Draft } from "../actions/draft.ts";
import { actionErrors } from "../actions/errors.ts";
import { invalid, toRefusal } from "../actions/refusal.ts";
import { type ActionDeps, toAction } from "../actions/to-action.ts";
import type { Ingress } from "../ingress.ts";
import { type CompiledMapping, compileMapping, findMapping } from "./compiled.ts";
import { ItemView } from "./item-view.ts";
import { itemsOf } from "./items.ts";
import { mapItem } from "./map-item.ts";
import type { ReadyMapping } from "./mapping.ts";
import type { RenderScope } from "./scope.ts";
import { isLongerThan } from "./value-text.ts";

export interface ResolverDeps {
  hooks: HooksConfig;
  /** The operator's own, then those of presets. */
  mappings: readonly ReadyMapping[];
  /** Looks up agents with each request. @throws {SvcError} `service-unavailable` */
  agents(): Pick<Agents, "list" | "resolve" | "checkModel">;
  /** Undefined while nobody carries messages. */
  messaging(): Pick<Messaging, "channels" | "channelOf"> | undefined;
  clock: Pick<Clock, "now">;
}

/** Items that are worked on at once; a transform works on no more than eight. */
const CONCURRENCY = 4;
/** Longest time for all transforms of one request: each has its own limit, a list of them needs one, too. */
const FAN_OUT_MS = 30_000;
/** Limits of a fan-out for one body: JSON that is passed to its transform, in all calls together, and text of its actions. */
const MAX_HANDED_CHARS = 4 * 1024 * 1024;
const MAX_ACTION_CHARS = 16 * 1024 * 1024;
/** Lines in the log for one request. */
const MAX_WARNINGS = 20;

type Item = { action: Action } | { refusal: Refusal };

/**
 * Turns requests into actions: the fields of `wake` and `agent`, or the first mapping that matches, its transform and its templates, then every rule about
 * agents, sessions, channels, models and text from outside. Rejects only with the reason of the caller's signal.
 */
export function createResolver(deps: ResolverDeps): Ingress["resolve"] {
  const compiled = deps.mappings.map(compileMapping);
  return (request, signal) => {
    if (request.path === "wake" || request.path === "agent") return direct(request, request.path, deps);
    const mapping = findMapping(compiled, request);
    return mapping ? mapped(mapping, request, { deps, signal }) : { kind: "unmapped" };
  };
}

/** A wake comes to its action at once: awaits cost as much as the rest of it. */
function direct({ payload }: HookRequest, kind: "wake" | "agent", deps: ResolverDeps): Promise<Resolved> | Resolved {
  const warnings: string[] = [];
  const resolved = (item: Item): Resolved => ({ kind: "actions", isFanOut: false, items: [item], warnings });
  const refused = (error: unknown) => resolved({ refusal: toRefusal(error) });
  try {
    if (!isRecord(payload)) throw invalid("body must be a JSON object");
    const draft: Draft = { kind, path: kind, fields: payload, keyOrigin: { from: "payload" }, isFramed: true, isMail: false };
    const made = toAction(draft, actionDeps(deps, warnings));
    return made instanceof Promise ? made.then((action) => resolved({ action }), refused) : resolved({ action: made });
  } catch (error) {
    return refused(error);
  }
}

/** The carrier of messages is looked for only where a channel is named. */
function actionDeps(deps: ResolverDeps, warnings: string[]): ActionDeps {
  return {
    hooks: deps.hooks,
    agents: deps.agents(),
    get messaging() {
      return deps.messaging();
    },
    warnings,
  };
}

interface Mapped {
  deps: ResolverDeps;
  signal: AbortSignal;
}

async function mapped(compiled: CompiledMapping, request: HookRequest, { deps, signal }: Mapped): Promise<Resolved> {
  const { id, broken, mapping, transform } = compiled.ready;
  const isFanOut = mapping.forEach !== undefined;
  if (broken !== undefined) {
    const refusal: Refusal = { status: 500, message: "hook mapping failed", reason: broken };
    return { kind: "actions", mapping: id, isFanOut: false, items: [{ refusal }], warnings: [] };
  }
  const { payloads, warnings } = itemsOf(request.payload, mapping.forEach);
  if (transform && isRepeatedTooOften(payloads)) {
    const message = `the payload beside "${mapping.forEach}" is too large to be sent with each of ${payloads.length} items`;
    return { kind: "actions", mapping: id, isFanOut: false, items: [{ refusal: { status: 413, message } }], warnings };
  }
  let room = MAX_ACTION_CHARS;
  const now = new Date(deps.clock.now()).toISOString();
  const limit = isFanOut && transform ? AbortSignal.any([signal, AbortSignal.timeout(FAN_OUT_MS)]) : signal;
  const items = await inOrder(payloads, async (payload) => {
    signal.throwIfAborted();
    const scope: RenderScope = { path: request.path, now, headers: request.headers, url: request.url, payload };
    const made = await toItem(() => mapItem(compiled, scope, limit), { deps, warnings });
    signal.throwIfAborted();
    if (isFanOut && made && "action" in made) room -= textLengthOf(made.action);
    const item: Item | undefined = room < 0 ? { refusal: toRefusal(actionErrors.hookTooLarge()) } : made;
    // Each text may be large: others get their turn between two of them.
    if (isFanOut) await nextTurn();
    return item;
  });
  const told = [...new Set(warnings)].slice(0, MAX_WARNINGS);
  const made = items.filter((item) => item !== undefined);
  if (made.length === 0 && told.length === 0) return { kind: "none" };
  return { kind: "actions", mapping: id, isFanOut, items: made, warnings: told };
}

/** Every call of a transform gets all of the payload but the other items. */
function isRepeatedTooOften(payloads: ReadonlyArray<unknown | ItemView>): boolean {
  const [first] = payloads;
  if (!(first instanceof ItemView) || payloads.length < 2) return false;
  return isLongerThan(first.withoutItem(), MAX_HANDED_CHARS / payloads.length);
}

function textLengthOf(action: Action): number {
  return action.kind === "agent" ? action.message.length : action.text.length;
}

interface ItemOptions {
  deps: ResolverDeps;
  warnings: string[];
}

/** Whatever goes wrong with an item is its own answer; the others go on. */
async function toItem(draft: () => Draft | Promise<Draft | undefined>, { deps, warnings }: ItemOptions): Promise<Item | undefined> {
  try {
    const made = await draft();
    if (!made) return undefined;
    return { action: await toAction(made, actionDeps(deps, warnings)) };
  } catch (error) {
    return { refusal: toRefusal(error) };
  }
}

/** All of them, a few at a time; results stand in the order of the items. */
async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker));
  return results;
}
