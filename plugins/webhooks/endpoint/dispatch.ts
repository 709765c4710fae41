import { isRecord, messageOf } from "svc/sdk";
import type { Action, Refusal, Resolved } from "../action.ts";
import type { Accepted, Submission } from "../deliveries/accept.ts";
import type { Completion } from "../deliveries/delivery-state.ts";
import { acceptedAnswer, acceptFailure, fanOutAnswer, refusalAnswer } from "./accept-answers.ts";
import { type Answer, failure, notFound, nothingToDo, textAnswer, unavailable } from "./answers.ts";
import { openHeaders, toHookRequest } from "./hook-request.ts";
import { type Identity, keyOf, ownKeyFault, scopedKey } from "./idempotency.ts";
import { type EndpointDeps, logged, type RequestContext, reject } from "./request-context.ts";

/** Nothing of a direct action can be called off, and the signal of a call is made when it is asked for: that costs more than the rest of a wake. */
const NEVER = new AbortController().signal;

type Actions = Extract<Resolved, { kind: "actions" }>;

/** From a request that may be here to the answer: resolved, made durable, acknowledged. */
export async function dispatch(context: RequestContext, payload: unknown, deps: EndpointDeps): Promise<Answer> {
  const { call, path, lease, verifier } = context;
  const isDirect = path === "wake" || path === "agent";
  const refuse = (reason: string) => reject(context, failure(400, reason), { reason, logger: deps.logger });
  if (isDirect && !isRecord(payload)) return refuse("body must be a JSON object");
  const keyFault = isDirect ? ownKeyFault(payload) : undefined;
  if (keyFault !== undefined) return refuse(keyFault);
  const own = verifier?.answer({ headers: context.headers(), payload });
  if (own) return own.status === 204 ? nothingToDo() : textAnswer(own.status, own.body ?? "");

  const request = toHookRequest({ path, url: call.url, payload }, () => openHeaders(context.headers(), verifier?.secretHeaders));
  const found = lease.ingress.resolve(request, isDirect ? NEVER : call.signal);
  const resolved = !(found instanceof Promise)
    ? found
    : await found.catch((error: unknown) => {
        // The caller that waited has gone, or the gateway stops: nothing is stored.
        if (call.signal.aborted) return undefined;
        throw error;
      });
  if (!resolved) return unavailable("gateway_unavailable", 5_000);
  if (resolved.kind !== "actions") {
    if (resolved.kind === "unmapped") return reject(context, notFound(), { reason: "no mapping", logger: deps.logger });
    deps.logger.info("hook skipped: nothing to do", logged(context));
    return nothingToDo();
  }
  for (const warning of resolved.warnings) deps.logger.warn(`hook: ${warning}`, logged(context, mappingOf(resolved)));

  const wait = path === "agent" ? (payload as Record<string, unknown>).waitForCompletion : undefined;
  const [first] = resolved.items;
  if (wait !== undefined && typeof wait !== "boolean" && first && "action" in first) {
    return refuse("waitForCompletion must be boolean");
  }
  return await submit(context, { payload, resolved, isWaiting: wait === true }, deps);
}

interface Submitting {
  payload: unknown;
  resolved: Actions;
  isWaiting: boolean;
}

async function submit(context: RequestContext, { payload, resolved, isWaiting }: Submitting, deps: EndpointDeps): Promise<Answer> {
  const { lease, call } = context;
  const actions = resolved.items.flatMap((item) => ("action" in item ? [item.action] : []));
  const refusals = resolved.items.flatMap((item) => ("refusal" in item ? [item.refusal] : []));
  for (const refusal of refusals) logRefusal(context, resolved, { refusal, deps });
  if (actions.length === 0 && resolved.items.length <= 1) return refusals[0] ? refusalAnswer(refusals[0]) : nothingToDo();
  let accepted: Accepted[];
  try {
    accepted = actions.length === 0 ? [] : await deps.deliveries.accept(toSubmissions(context, payload, resolved));
  } catch (error) {
    return acceptFailure(error, (message, fields) => deps.logger.error(message, logged(context, { ...mappingOf(resolved), ...fields })));
  }
  lease.release();
  logAccepted(context, resolved, { actions, accepted, deps });
  const fallback = actions.find((action) => action.isFallbackAgent);
  const headers = fallback ? { "x-svc-agent": fallback.agentId } : {};
  if (resolved.items.length > 1) return fanOutAnswer(accepted, { refusals, of: resolved.items.length, headers });
  const [only] = accepted as [Accepted];
  const completion = isWaiting && only.kind === "agent" ? await withCompletion(only.runId, call.signal, deps) : undefined;
  return acceptedAnswer(only, { completion, headers });
}

/** The place of an item is that in the whole list, so that a repeat finds each at its own, refused ones between them or not. */
function toSubmissions(context: RequestContext, payload: unknown, resolved: Actions): Submission[] {
  const { path, call, verifier } = context;
  const identity: Identity = verifier ? { kind: "mapping", id: verifier.mapping } : { kind: "token" };
  const deliveryId = verifier && (() => verifier.deliveryId({ headers: context.headers(), payload }));
  let known: { key: string | undefined } | undefined;
  return resolved.items.flatMap((item, place): Submission[] => {
    if (!("action" in item)) return [];
    const { action } = item;
    if (action.kind === "wake") return [{ action }];
    known ??= { key: keyOf({ headers: call.req.headers, payload, deliveryId }) };
    const { key } = known;
    if (key === undefined) return [{ action }];
    return [{ action, idempotency: scopedKey(key, { identity, path, place: resolved.isFanOut ? place : undefined }) }];
  });
}

function logAccepted(
  context: RequestContext,
  resolved: Actions,
  { actions, accepted, deps }: { actions: readonly Action[]; accepted: readonly Accepted[]; deps: EndpointDeps },
): void {
  for (const action of actions.filter((one) => one.isFallbackAgent).slice(0, 1)) {
    deps.logger.warn(`hook named an unknown agent; agent "${action.agentId}" is used`, logged(context, mappingOf(resolved)));
  }
  const [first] = accepted;
  if (!first) return;
  const what =
    first.kind === "agent" ? { runId: first.runId, isReplay: first.isReplay } : { mode: first.mode, outcome: first.eventOutcome };
  deps.logger.info(
    "hook accepted",
    logged(context, { ...mappingOf(resolved), ...what, ...(accepted.length > 1 ? { items: accepted.length } : {}) }),
  );
}

function logRefusal(context: RequestContext, resolved: Actions, { refusal, deps }: { refusal: Refusal; deps: EndpointDeps }): void {
  const { status, message, reason } = refusal;
  const fields = logged(context, { ...mappingOf(resolved), status, reason: reason ?? message });
  // The id stands in the message, too: lines of the same message become one, and each author looks for his own.
  if (status === 500) deps.logger.error(`hook mapping "${resolved.mapping ?? context.path}" failed`, fields);
  else deps.logger.info("hook refused", fields);
}

function mappingOf({ mapping }: Actions): { mapping?: string } {
  return mapping === undefined ? {} : { mapping };
}

/** Waits until the run has ended. When the caller goes or the gateway stops, only the wait ends: the action is stored, and a repeat under its key waits again. */
async function withCompletion(runId: string, signal: AbortSignal, deps: EndpointDeps): Promise<Completion | undefined> {
  try {
    return await deps.deliveries.completion(runId, signal);
  } catch (error) {
    if (!signal.aborted) deps.logger.warn("hook answered before its run has ended", { runId, reason: messageOf(error) });
    return undefined;
  }
}
