import { type DeliverTo, type JsonObject, methodOf, type ParamsOf, type PluginContext, type RpcCall, type RunRequest } from "svc/sdk";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { servedMethods } from "../protocol/methods.ts";
import { toAttachments } from "../runs/attachments.ts";
import { obeyInChat, scopeOfMessage } from "../runs/chat-command.ts";
import { answeredCommand, rememberAnswer, resetByMessage, splitReset } from "../runs/commands.ts";
import { checkRoute, withDelivery } from "../runs/deliver.ts";
import { outcomeOf } from "../runs/outcome.ts";
import type { Run } from "../runs/run.ts";
import type { Runner, Started } from "../runs/runner.ts";
import { finalAnswer } from "./run-result.ts";

const DEFAULT_WAIT_MS = 30_000;

/** `agent` (two answers), `agent.wait`, `agent.identity.get`. */
export function registerAgentMethods(ctx: PluginContext, kit: Kit, runner: Runner): void {
  ctx.registerRpc({
    ...methodOf(servedMethods, "agent"),
    scopeFor: (params) => scopeOfMessage(kit, params.message),
    handler: (params, call) => runAgent(params, { call, kit, runner }),
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "agent.wait"),
    handler: async ({ runId, timeoutMs }, call) => {
      const found = await runner.known(runId);
      if (!found) return { runId, status: "timeout" };
      if (found.state === "finished") return { runId, ...waitAnswer(outcomeOf(found.row)) };
      return waitFor(found.run, { ctx, timeoutMs: timeoutMs ?? DEFAULT_WAIT_MS, signal: call.signal });
    },
  });
  ctx.registerRpc({
    ...methodOf(servedMethods, "agent.identity.get"),
    handler: (params) => {
      const { agentId } = kit.directory.resolve(target(params));
      const { identity, name } = kit.directory.get(agentId);
      return { agentId, ...identity, name: identity.name ?? name ?? agentId };
    },
  });
}

async function runAgent(
  params: ParamsOf<"agent">,
  { call, kit, runner }: { call: RpcCall; kit: Kit; runner: Runner },
): Promise<JsonObject> {
  const family = "agent";
  const key = params.idempotencyKey;
  const known = await runner.known(key);
  if (known) return answer(known, call, kit);
  const answered = await answeredCommand(kit, family, key);
  if (answered) return answered;
  const reset = splitReset(kit.config.session.resetTriggers, params.message);
  const request = await toRequest(params, call, kit);
  const target = kit.directory.resolve(request);
  if (params.deliver && !params.bestEffortDeliver) await checkRoute(kit, target, request.deliverTo);
  if (reset?.rest === "" && !params.attachments?.length) return resetByMessage(kit, { family, key, ...target, reason: reset.reason });
  const said = reset || params.attachments?.length ? undefined : await obey(params, target, { call, kit, runner });
  if (said) return said;
  const started = await runner.start(reset ? { ...request, message: reset.rest } : request, {
    family,
    ...(reset ? { fresh: reset.reason } : {}),
    ...(params.sessionId === undefined ? {} : { keepTranscript: true }),
    ...(params.label === undefined ? {} : { label: params.label }),
    accepted: (run) => call.accept({ ...idsOf(run), status: "accepted", acceptedAt: run.acceptedAt }),
  });
  return answer(started, call, kit);
}

/** A message that is a command, answered by its text without a model. Undefined: it is for the agent. */
async function obey(
  { message, idempotencyKey: key }: ParamsOf<"agent">,
  { agentId, sessionKey }: { agentId: string; sessionKey: string },
  { call, kit, runner }: { call: RpcCall; kit: Kit; runner: Runner },
): Promise<JsonObject | undefined> {
  const { scopes, connId, identity, deviceId, clientId } = call.client;
  const actor = { kind: "rpc" as const, scopes, connId };
  // The key itself is that of the answer, which stands for all that was done under it.
  const request = { key: `${key}:command`, agentId, sessionKey, message, by: identity ?? deviceId ?? clientId };
  const said = await obeyInChat(request, { kit, runner, actor, family: "agent" });
  if (!said) return undefined;
  const result = { payloads: [{ text: said.text, mediaUrl: null }], meta: { durationMs: 0 } };
  const value = { runId: key, status: "ok", summary: "command", sessionKey, agentId, result };
  return rememberAnswer(kit, { family: "agent", key, agentId, sessionKey }, value);
}

const idsOf = (run: Run) => ({ runId: run.id, sessionKey: run.sessionKey, agentId: run.agent.id });

/** The final answer of a run that was begun here, or of one that is over; a run that is at work already is only named. */
async function answer(started: Started, call: RpcCall, kit: Kit): Promise<JsonObject> {
  if (started.state === "finished") {
    const { row } = started;
    return finalAnswer({ ...row, outcome: await withDelivery(row.runId, outcomeOf(row), kit) });
  }
  const { run, state } = started;
  if (state === "in_flight") {
    run.participants.add(call.client.connId);
    return { ...idsOf(run), status: "in_flight" };
  }
  return finalAnswer({ runId: run.id, sessionId: run.sessionId, outcome: await withDelivery(run.id, await run.done, kit) });
}

async function toRequest(params: ParamsOf<"agent">, call: RpcCall, kit: Kit): Promise<RunRequest> {
  const model = params.provider && params.model ? `${params.provider}/${params.model}` : (params.model ?? defaultOf(kit, params.provider));
  return {
    message: params.message,
    runId: params.idempotencyKey,
    trigger: "user",
    ...(await sessionTarget(params, kit)),
    ...(params.attachments ? { attachments: toAttachments(params.attachments) } : {}),
    ...(model === undefined ? {} : { model }),
    ...(params.thinking === undefined ? {} : { thinking: params.thinking }),
    ...(params.timeout === undefined ? {} : { timeoutMs: params.timeout * 1_000 }),
    ...(params.deliver ? { deliver: true, deliverTo: placeOf(params) } : {}),
    ...(params.lane === undefined ? {} : { lane: params.lane }),
    ...(params.extraSystemPrompt === undefined ? {} : { extraSystem: params.extraSystemPrompt }),
    actor: { kind: "rpc", scopes: call.client.scopes, connId: call.client.connId },
  };
}

/** `replyChannel` and `replyTo` name the place of the answer where it is not that of the message. */
function placeOf({ channel, to, accountId, threadId, replyChannel, replyTo }: ParamsOf<"agent">): DeliverTo {
  const place = { channel: replyChannel ?? channel, to: replyTo ?? to, accountId, threadId };
  return Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined));
}

function defaultOf(kit: Kit, provider: string | undefined): string | undefined {
  if (provider === undefined) return undefined;
  const model = kit.catalog.provider(provider)?.defaultModel;
  return model === undefined ? provider : `${provider}/${model}`;
}

/** `sessionId` names the session whose present transcript it is. */
async function sessionTarget(params: ParamsOf<"agent">, kit: Kit): Promise<{ agentId?: string; sessionKey?: string }> {
  const named = target(params);
  if (params.sessionId === undefined) return named;
  const row = await kit.store().sessions.bySessionId(params.sessionId);
  if (!row) throw agentErrors.unknownSession({ key: params.sessionId });
  const wanted = named.sessionKey === undefined ? row.key : kit.directory.resolve(named).sessionKey;
  if (wanted !== row.key) throw agentErrors.sessionMismatch({ actual: row.key, key: wanted });
  return { ...named, sessionKey: row.key };
}

function target(params: { agentId?: string | undefined; sessionKey?: string | undefined }): { agentId?: string; sessionKey?: string } {
  return {
    ...(params.agentId === undefined ? {} : { agentId: params.agentId }),
    ...(params.sessionKey === undefined ? {} : { sessionKey: params.sessionKey }),
  };
}

/** Waiting never cancels; a wait that ends first says so. */
function waitFor(
  run: Run,
  { ctx, timeoutMs, signal }: { ctx: PluginContext; timeoutMs: number; signal: AbortSignal },
): Promise<JsonObject> {
  return new Promise((resolve) => {
    const expired = () => {
      const status = run.phase === "queued" ? "pending" : "timeout";
      end({ runId: run.id, status, ...(run.startedAt === undefined ? {} : { startedAt: run.startedAt }) });
    };
    const end = (answer: JsonObject) => {
      timer.dispose();
      signal.removeEventListener("abort", expired);
      resolve(answer);
    };
    const timer = ctx.timers.setTimeout(expired, timeoutMs);
    signal.addEventListener("abort", expired, { once: true });
    void run.done.then((outcome) => end({ runId: run.id, ...waitAnswer(outcome) }));
  });
}

function waitAnswer(outcome: {
  status: string;
  startedAt?: number;
  endedAt?: number;
  error?: string;
  code?: string;
  stopReason: string;
}): JsonObject {
  const { status, startedAt, endedAt, error, code, stopReason } = outcome;
  return { status, startedAt, endedAt, error, ...(code === undefined ? {} : { code }), stopReason };
}
