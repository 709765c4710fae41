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
import { joinAssistant } from "./event-log.ts";
import type { RunFailure } from "./failure.ts";
import type { Run } from "./run.ts";

/** Longest tool result inside an event. */
const MAX_RESULT_BYTES = 65_536;

const nobody: ReadonlySet<string> = new Set();

type AgentPayload = Omit<RunEvent, "stream"> & { stream: RunEvent["stream"] | "item" };

/** Everything this plugin says over the wire while it works. Each run event also enters the run's own log. */
export interface RunEvents {
  lifecycle(run: Run, data: JsonObject): void;
  text(run: Run, delta: string): void;
  /** The present message is whole: what was held back of it is told. */
  textEnd(run: Run): void;
  toolStart(run: Run, call: { id: string; name: string; args: unknown }, session: SessionRow | undefined): void;
  toolEnd(
    run: Run,
    call: { id: string; name: string; startedAt: number },
    end: { result: ToolResult; session: SessionRow | undefined },
  ): void;
  usage(run: Run, usage: Usage): void;
  /** Reports progress before there is anything to show. */
  status(run: Run, phase: "preparing_context" | "starting_model"): void;
  compaction(run: Run, data: { phase: "start" } | { phase: "end"; willRetry: boolean }): void;
  chatEnd(run: Run, data: { state: "final" | "aborted" | "error" } & JsonObject): void;
  message(session: SessionRow, row: MessageRow): void;
  /** A note that no run wrote, as a chat view shows it. */
  note(session: SessionRow, row: MessageRow): void;
  sessionChanged(session: SessionRow, data: { reason?: string; phase?: string; runId?: string }): void;
  sessionGone(session: SessionRow): void;
}

export interface RunEventsOptions {
  ctx: PluginContext;
  subscriptions: Subscriptions;
  /** The row as clients see it. */
  wire(session: SessionRow): JsonObject;
}

export function createRunEvents({ ctx, subscriptions, wire }: RunEventsOptions): RunEvents {
  const follows = (run: Run) => (client: ClientInfo) => subscriptions.wants(client, run.sessionKey, run.participants);
  const seesTools = (run: Run) => (client: ClientInfo) => client.caps.includes("tool-events") && run.participants.has(client.connId);

  const record = (run: Run, stream: RunEvent["stream"], data: JsonObject): RunEvent => {
    run.seq += 1;
    const { id: runId, sessionKey, sessionId, agent } = run;
    const ids = {
      sessionKey,
      agentId: agent.id,
      sessionId,
      ...(run.heartbeat ? { isHeartbeat: true } : {}),
      ...(run.spawnedBy === undefined ? {} : { spawnedBy: run.spawnedBy }),
    };
    const event: RunEvent = { runId, seq: run.seq, stream, ts: ctx.clock.now(), ...ids, data };
    run.log.push(event);
    return event;
  };
  const chat = (run: Run, data: JsonObject): JsonObject => ({
    runId: run.id,
    sessionKey: run.sessionKey,
    agentId: run.agent.id,
    seq: run.seq,
    ...data,
  });

  /** Connections that cannot see tool calls get a plain step instead, under the same number. */
  const tool = (run: Run, row: SessionRow | undefined, { data, item }: { data: JsonObject; item: JsonObject }): void => {
    const event = record(run, "tool", data);
    ctx.emit("agent", event, { only: seesTools(run) });
    const step: AgentPayload = { ...event, stream: "item", data: item };
    const watches = follows(run);
    ctx.emit("agent", step, { only: (client) => !client.caps.includes("tool-events") && watches(client) });
    const sees = seesTools(run);
    ctx.emit("session.tool", row ? { ...event, session: wire(row) } : event, {
      topic: messagesTopic(run.sessionKey),
      only: (client) => !sees(client),
    });
  };

  const said = (run: Run, delta: string): void => {
    if (delta === "") return;
    const { itemId, shownText: text } = run;
    const event = record(run, "assistant", { text, delta, itemId });
    const only = follows(run);
    ctx.emit("agent", event, { only, merge: { key: `agent:${run.id}:${itemId}`, join: joinAgentText } });
    const message = { role: "assistant", content: [{ type: "text", text }], timestamp: event.ts };
    ctx.emit("chat", chat(run, { state: "delta", deltaText: delta, message }), {
      only,
      merge: { key: `chat:${run.id}:${itemId}`, join: joinChatText },
    });
  };

  return {
    lifecycle(run, data) {
      ctx.emit("agent", record(run, "lifecycle", data), { only: follows(run) });
    },
    text: (run, delta) => said(run, run.write(delta)),
    textEnd: (run) => said(run, run.completeText()),
    toolStart(run, { id, name, args }, session) {
      tool(run, session, {
        data: { phase: "start", name, toolCallId: id, args },
        item: stepOf(id, name, { phase: "start", status: "running", startedAt: ctx.clock.now() }),
      });
    },
    toolEnd(run, { id, name, startedAt }, { result, session }) {
      const isError = result.isError === true;
      const status = isError ? "failed" : "completed";
      tool(run, session, {
        data: { phase: "result", name, toolCallId: id, isError, ...shownResult(result) },
        item: stepOf(id, name, { phase: "end", status, startedAt, endedAt: ctx.clock.now() }),
      });
    },
    usage(run, usage) {
      if (usage.output > 0) ctx.emit("agent", record(run, "usage", { outputTokens: usage.output }), { only: follows(run) });
    },
    status(run, phase) {
      ctx.emit("chat", chat(run, { state: "status", phase }), { only: follows(run), droppable: true });
    },
    compaction(run, data) {
      ctx.emit("agent", record(run, "compaction", data), { only: follows(run) });
    },
    chatEnd(run, data) {
      ctx.emit("chat", chat(run, data), { only: follows(run) });
    },
    message(row, message) {
      const payload = {
        sessionKey: row.key,
        agentId: row.agentId,
        message: toWireMessage(message),
        messageId: message.id,
        messageSeq: message.seq,
        session: wire(row),
      };
      ctx.emit("session.message", payload, { topic: messagesTopic(row.key) });
    },
    note(row, { id, content, ts }) {
      const message = {
        role: "assistant",
        content: content.map((b) => (b.type === "text" ? { ...b, text: visibleText(b.text) } : b)),
        timestamp: ts,
      };
      const ids = { runId: `inject-${id}`, sessionKey: row.key, agentId: row.agentId, seq: 0 };
      ctx.emit("chat", { ...ids, state: "final", message }, { only: (client) => subscriptions.wants(client, row.key, nobody) });
    },
    sessionChanged(row, data) {
      ctx.emit(
        "sessions.changed",
        { sessionKey: row.key, agentId: row.agentId, ...data, ts: ctx.clock.now(), session: wire(row) },
        { topic: SESSIONS_TOPIC },
      );
    },
    sessionGone(row) {
      const { key: sessionKey, agentId, sessionId } = row;
      ctx.emit("sessions.changed", { sessionKey, agentId, sessionId, reason: "delete", ts: ctx.clock.now() }, { topic: SESSIONS_TOPIC });
    },
  };
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
  const content = framed.map((part) => ({ ...part, text: unframed(part.text) }));
  const size = content.reduce((sum, c) => sum + Buffer.byteLength(c.text), 0);
  if (size <= MAX_RESULT_BYTES) {
    const small = details !== undefined && Buffer.byteLength(JSON.stringify(details) ?? "") <= MAX_RESULT_BYTES;
    return { result: { content, ...(small ? { details } : {}) } };
  }
  const text = cutBytes(content.map((c) => c.text).join("\n"), MAX_RESULT_BYTES);
  return { result: { content: [{ type: "text", text }] }, truncated: true };
}

function joinAgentText(earlier: unknown, later: unknown): unknown {
  return joinAssistant(earlier as RunEvent, later as RunEvent);
}

function joinChatText(earlier: unknown, later: unknown): unknown {
  const [a, b] = [earlier as { deltaText: string }, later as { deltaText: string }];
  return { ...b, deltaText: a.deltaText + b.deltaText };
}
