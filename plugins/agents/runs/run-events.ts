import {
  type ClientInfo,
  cutEnd,
  type JsonObject,
  type MessageRow,
  type PluginContext,
  type RunEvent,
  type SessionRow,
  type ToolResult,
  type Usage,
} from "svc/sdk";
import { cutBytes } from "../common/cut.ts";
import { toWireMessage, unframed, visibleText } from "../sessions/display.ts";
import { messagesTopic, SESSIONS_TOPIC, type Subscriptions } from "../sessions/subscriptions.ts";
import { textsOf } from "../tools/tool-content.ts";
import { joinDeltas } from "./event-log.ts";
import type { RunFailure } from "./failure.ts";
import type { Run } from "./run.ts";

/** Longest tool result inside an event. */
const MAX_RESULT_BYTES = 65_536;

/** Longest line of progress. */
const MAX_UPDATE_CHARS = 2_000;

const nobody: ReadonlySet<string> = new Set();

/** Payload of the event of a compaction in a run. */
type CompactionEvent =
  | { phase: "start"; reason: "threshold" | "overflow" }
  | {
      phase: "end";
      reason: "threshold" | "overflow";
      willRetry: boolean;
      tokensBefore?: number;
      tokensAfter?: number;
      warning?: string;
    };

type AgentPayload = Omit<RunEvent, "stream"> & { stream: RunEvent["stream"] | "item" };

export interface RunEventsOptions {
  ctx: PluginContext;
  subscriptions: Subscriptions;
  /** The row as clients see it. */
  wire(session: SessionRow): JsonObject;
}

/** Everything this plugin says over the wire while it works. Each run event also enters the run's own log. */
export class RunEvents {
  readonly #ctx: PluginContext;
  readonly #subscriptions: Subscriptions;
  readonly #wire: RunEventsOptions["wire"];

  constructor({ ctx, subscriptions, wire }: RunEventsOptions) {
    this.#ctx = ctx;
    this.#subscriptions = subscriptions;
    this.#wire = wire;
  }

  lifecycle(run: Run, data: JsonObject): void {
    this.#emitAgent(run, this.#record(run, "lifecycle", data));
  }

  text(run: Run, delta: string): void {
    this.#emitText(run, run.write(delta));
  }

  /** The present message is whole: what was held back of it is told. */
  textEnd(run: Run): void {
    this.#emitText(run, run.completeText());
  }

  reasoning(run: Run, delta: string): void {
    run.think(delta);
    const { itemId, itemReasoning: text } = run;
    const event = this.#record(run, "reasoning", { text, delta, itemId });
    this.#emitDelta(run, event, `reasoning:${run.id}:${itemId}`);
  }

  /** A call of a client tool, while the model writes it. */
  toolInput(run: Run, { id, name }: { id: string; name: string }, delta: string): void {
    run.hasToolInput = true;
    const event = this.#record(run, "toolInput", { toolCallId: id, name, delta });
    this.#emitDelta(run, event, `input:${run.id}:${id}`);
  }

  toolStart(run: Run, { id, name, args }: { id: string; name: string; args: unknown }, session: SessionRow | undefined): void {
    const item = stepOf(id, name, { phase: "start", status: "running", startedAt: this.#ctx.clock.now() });
    this.#emitTool(run, session, { data: { phase: "start", name, toolCallId: id, args }, item });
  }

  toolEnd(
    run: Run,
    { id, name, startedAt }: { id: string; name: string; startedAt: number },
    { result, session }: { result: ToolResult; session: SessionRow | undefined },
  ): void {
    const isError = result.isError === true;
    const status = isError ? "failed" : "completed";
    const item = stepOf(id, name, { phase: "end", status, startedAt, endedAt: this.#ctx.clock.now() });
    this.#emitTool(run, session, { data: { phase: "result", name, toolCallId: id, isError, ...shownResult(result) }, item });
  }

  usage(run: Run, usage: Usage): void {
    if (usage.output > 0) this.#emitAgent(run, this.#record(run, "usage", { outputTokens: usage.output }));
  }

  /** Reports progress before there is anything to show. */
  status(run: Run, phase: "preparing_context" | "starting_model"): void {
    this.#ctx.emit("chat", chatOf(run, { state: "status", phase }), { only: this.#follows(run), droppable: true });
  }

  /** The session is free, and all places for runs are taken. @param position from 1 */
  queued(run: Run, position: number): void {
    this.lifecycle(run, { phase: "queued", position });
    const status = chatOf(run, { state: "status", phase: "queued", position });
    this.#ctx.emit("chat", status, { only: this.#follows(run), droppable: true });
  }

  /** The model that was asked says nothing. */
  waiting(run: Run, silentMs: number): void {
    this.lifecycle(run, { phase: "waiting", provider: run.provider ?? "", model: run.modelId ?? "", silentMs });
    this.#ctx.emit("chat", chatOf(run, { state: "status", phase: "waiting_for_model" }), { only: this.#follows(run), droppable: true });
  }

  /** A line of progress of a tool at work. A slow connection gets the newest. */
  toolUpdate(run: Run, { id, name }: { id: string; name: string }, text: string): void {
    const content = [{ type: "text", text: cutEnd(text, MAX_UPDATE_CHARS) }];
    const event = this.#record(run, "tool", { phase: "update", name, toolCallId: id, partialResult: { content } });
    const sees = seesTools(run);
    const merge = { key: `update:${run.id}:${id}`, join: newest };
    this.#ctx.emit("agent", event, { only: sees, merge });
    this.#ctx.emit("session.tool", event, { topic: messagesTopic(run.sessionKey), only: (client) => !sees(client), merge });
  }

  compaction(run: Run, data: CompactionEvent): void {
    this.#emitAgent(run, this.#record(run, "compaction", data));
  }

  chatEnd(run: Run, data: { state: "final" | "aborted" | "error" } & JsonObject): void {
    this.#ctx.emit("chat", chatOf(run, data), { only: this.#follows(run) });
  }

  message(session: SessionRow, row: MessageRow): void {
    const payload = {
      sessionKey: session.key,
      agentId: session.agentId,
      message: toWireMessage(row),
      messageId: row.id,
      messageSeq: row.seq,
      session: this.#wire(session),
    };
    this.#ctx.emit("session.message", payload, { topic: messagesTopic(session.key) });
  }

  /** A note that no run wrote, as a chat view shows it. */
  note(session: SessionRow, { id, content, ts }: Pick<MessageRow, "id" | "content" | "ts">): void {
    const message = {
      role: "assistant",
      content: content.map((b) => (b.type === "text" ? { ...b, text: visibleText(b.text) } : b)),
      timestamp: ts,
    };
    const ids = { runId: `inject-${id}`, sessionKey: session.key, agentId: session.agentId, seq: 0 };
    const only = (client: ClientInfo) => this.#subscriptions.wants(client, session.key, nobody);
    this.#ctx.emit("chat", { ...ids, state: "final", message }, { only });
  }

  sessionChanged(session: SessionRow, data: { reason?: string; phase?: string; runId?: string }): void {
    const ids = { sessionKey: session.key, agentId: session.agentId };
    const payload = { ...ids, ...data, ts: this.#ctx.clock.now(), session: this.#wire(session) };
    this.#ctx.emit("sessions.changed", payload, { topic: SESSIONS_TOPIC });
  }

  sessionGone({ key: sessionKey, agentId, sessionId }: SessionRow): void {
    const payload = { sessionKey, agentId, sessionId, reason: "delete", ts: this.#ctx.clock.now() };
    this.#ctx.emit("sessions.changed", payload, { topic: SESSIONS_TOPIC });
  }

  #emitText(run: Run, delta: string): void {
    if (delta === "") return;
    const { itemId, shownText: text } = run;
    const event = this.#record(run, "assistant", { text, delta, itemId });
    const only = this.#follows(run);
    this.#emitDelta(run, event, `agent:${run.id}:${itemId}`);
    const message = { role: "assistant", content: [{ type: "text", text }], timestamp: event.ts };
    this.#ctx.emit("chat", chatOf(run, { state: "delta", deltaText: delta, message }), {
      only,
      merge: { key: `chat:${run.id}:${itemId}`, join: joinChatText },
    });
  }

  /** Connections that cannot see tool calls get a plain step instead, under the same number. */
  #emitTool(run: Run, session: SessionRow | undefined, { data, item }: { data: JsonObject; item: JsonObject }): void {
    const event = this.#record(run, "tool", data);
    const step: AgentPayload = { ...event, stream: "item", data: item };
    const [follows, sees] = [this.#follows(run), seesTools(run)];
    this.#ctx.emit("agent", event, { only: sees });
    this.#ctx.emit("agent", step, { only: (client) => !client.caps.includes("tool-events") && follows(client) });
    this.#ctx.emit("session.tool", session ? { ...event, session: this.#wire(session) } : event, {
      topic: messagesTopic(run.sessionKey),
      only: (client) => !sees(client),
    });
  }

  #emitDelta(run: Run, event: RunEvent, key: string): void {
    this.#ctx.emit("agent", event, { only: this.#follows(run), merge: { key, join: joinAgentText } });
  }

  #emitAgent(run: Run, event: RunEvent): void {
    this.#ctx.emit("agent", event, { only: this.#follows(run) });
  }

  #record(run: Run, stream: RunEvent["stream"], data: JsonObject): RunEvent {
    run.seq += 1;
    const event: RunEvent = { runId: run.id, seq: run.seq, stream, ts: this.#ctx.clock.now(), ...run.eventIds, data };
    run.log.push(event);
    return event;
  }

  #follows(run: Run): (client: ClientInfo) => boolean {
    return (client) => this.#subscriptions.wants(client, run.sessionKey, run.participants);
  }
}

function seesTools(run: Run): (client: ClientInfo) => boolean {
  return (client) => client.caps.includes("tool-events") && run.participants.has(client.connId);
}

function chatOf(run: Run, data: JsonObject): JsonObject {
  return { runId: run.id, sessionKey: run.sessionKey, agentId: run.agent.id, seq: run.seq, ...data };
}

/** The `error` form of a chat event's last state. */
export function chatError(failure: RunFailure): { state: "error" } & JsonObject {
  const detail = Object.fromEntries(Object.entries(failure.detail).map(([k, v]) => [k, cutEnd(v, 300)]));
  return {
    state: "error",
    errorMessage: failure.message,
    errorKind: failure.kind,
    ...(Object.keys(detail).length > 0 ? { errorDetail: detail } : {}),
  };
}

function stepOf(itemId: string, name: string, rest: JsonObject): JsonObject {
  return { itemId, kind: "tool", name, title: name.replaceAll("_", " "), ...rest };
}

function shownResult({ content: framed, details }: ToolResult): JsonObject {
  const content = framed.map((part) => (part.type === "text" ? { ...part, text: unframed(part.text) } : part));
  const size = content.reduce((sum, c) => sum + (c.type === "text" ? Buffer.byteLength(c.text) : c.data.length), 0);
  if (size <= MAX_RESULT_BYTES) {
    const small = details !== undefined && Buffer.byteLength(JSON.stringify(details) ?? "") <= MAX_RESULT_BYTES;
    return { result: { content, ...(small ? { details } : {}) } };
  }
  const text = cutBytes(textsOf(content).join("\n"), MAX_RESULT_BYTES);
  return { result: { content: [{ type: "text", text }] }, truncated: true };
}

function newest(_earlier: unknown, later: unknown): unknown {
  return later;
}

function joinAgentText(earlier: unknown, later: unknown): unknown {
  return joinDeltas(earlier as RunEvent, later as RunEvent);
}

function joinChatText(earlier: unknown, later: unknown): unknown {
  const [a, b] = [earlier as { deltaText: string }, later as { deltaText: string }];
  return { ...b, deltaText: a.deltaText + b.deltaText };
}
