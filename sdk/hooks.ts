import type { SvcConfig } from "./config/root.ts";
import type { ClientInfo, OperatorScope } from "./types/rpc.ts";

/**
 * The table of hooks. A name counts only if something emits it; `test/meta` demands a test and a documentation row for each.
 *
 * - `gate`: the first `{ block: true, reason }` refuses; a throw or time-out refuses too.
 * - `claim`: the first `{ handled: true, … }` wins; failures are skipped.
 * - `modify`: each tap may return a new value; failures keep the previous one.
 * - `observe`: results ignored, all awaited.
 * - `collect`: taps call `report(item)`; a failure reports `{ ok: false }`.
 */
export type HookKind = "gate" | "claim" | "modify" | "observe" | "collect";

interface HookSpec<Kind extends HookKind, Event, Item = unknown> {
  readonly kind: Kind;
  readonly timeoutMs: number;
  /** Permission a plugin needs to tap it. */
  readonly permission?: "hooks.conversation" | "hooks.prompt" | "hooks.gate";
  readonly about: string;
  /** Type carriers only. */
  readonly event?: Event;
  readonly item?: Item;
}

function hook<Event, Item = unknown>() {
  return <Kind extends HookKind>(
    kind: Kind,
    about: string,
    options: { timeoutMs?: number; permission?: HookSpec<Kind, Event>["permission"] } = {},
  ): HookSpec<Kind, Event, Item> => ({
    kind,
    about,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs[kind],
    ...(options.permission ? { permission: options.permission } : {}),
  });
}

const defaultTimeoutMs: Record<HookKind, number> = { gate: 15_000, claim: 15_000, modify: 15_000, observe: 30_000, collect: 5_000 };

export interface HealthPart {
  /** Key in the health payload. */
  part: string;
  ok: boolean;
  /** `ok` of the whole is that of its critical parts. */
  critical?: boolean;
  value?: unknown;
  message?: string;
}

const conversation = { permission: "hooks.conversation" } as const;

export const hooks = {
  "gateway.ready": hook<{ uptimeMs: number }>()("observe", "boot has settled"),
  "gateway.stopping": hook<{ reason: string; deadlineMs: number }>()("observe", "a stop has begun; sockets are still open", {
    timeoutMs: 5_000,
  }),
  "plugin.state": hook<{ id: string; from: string; to: string; error?: string }>()("observe", "a plugin changed state"),
  "config.validate": hook<{ config: SvcConfig }, { path: string; message: string }>()(
    "collect",
    "plugins check the config as a whole at boot",
  ),
  "http.request": hook<{ method: string; path: string; remote: string }>()("claim", "after auth, before the route; may answer instead"),
  "ws.connect": hook<{ client: ClientInfo; scopes: readonly OperatorScope[] }>()("gate", "a client has proved itself, hello-ok is next"),
  "ws.disconnect": hook<{ client: ClientInfo; code: number; reason: string }>()("observe", "an established connection has closed"),
  "rpc.before": hook<{ method: string; params: unknown; client: ClientInfo }>()("gate", "before a method's handler"),
  "rpc.after": hook<{ method: string; ok: boolean; code?: string; ms: number }>()("observe", "after a method's handler"),
  "health.collect": hook<{ deep: boolean }, HealthPart>()("collect", "parts of the health snapshot"),
  "hello.snapshot": hook<{ sessionDefaults?: Record<string, unknown> }>()("modify", "optional parts of hello-ok"),
  "prompt.build": hook<{ agentId: string; sessionKey: string; system: string[]; tools: string[] }>()(
    "modify",
    "system prompt parts and tool names; tools can only be narrowed",
    { permission: "hooks.prompt" },
  ),
  "agent.before": hook<{ runId: string; agentId: string; sessionKey: string; prompt: string; trigger: string }>()(
    "gate",
    "a run is about to start",
    { permission: "hooks.gate" },
  ),
  "agent.end": hook<{ runId: string; agentId: string; sessionKey: string; status: "ok" | "error"; ms: number; usage: unknown }>()(
    "observe",
    "a run has ended",
    conversation,
  ),
  "tool.before": hook<{ runId: string; agentId: string; sessionKey: string; tool: string; args: unknown }>()(
    "gate",
    "a tool is about to run",
    conversation,
  ),
  "tool.after": hook<{ runId: string; agentId: string; sessionKey: string; tool: string; ok: boolean; ms: number }>()(
    "observe",
    "a tool has run",
    conversation,
  ),
  "session.start": hook<{ sessionKey: string; agentId: string; sessionId: string }>()("observe", "a session got a new transcript"),
  "session.reset": hook<{ sessionKey: string; agentId: string; sessionId: string; reason: string }>()("observe", "a session was reset"),
  "memory.query": hook<{ agentId: string; query: string; limit: number }>()("modify", "a memory query before it runs", conversation),
  "memory.results": hook<{ agentId: string; query: string; hits: unknown[] }>()("modify", "hits before they are returned", conversation),
  "memory.synced": hook<{ agentId: string; files: number; chunks: number; ms: number }>()("observe", "an index is up to date"),
} as const;

type Hooks = typeof hooks;
export type HookName = keyof Hooks;
export type HookEvent<N extends HookName> = Hooks[N] extends HookSpec<HookKind, infer E, unknown> ? E : never;
export type HookItem<N extends HookName> = Hooks[N] extends HookSpec<HookKind, unknown, infer I> ? I : never;
export type HookKindOf<N extends HookName> = Hooks[N]["kind"];

export interface GateBlock {
  block: true;
  reason: string;
}
export interface Claimed {
  handled: true;
  [key: string]: unknown;
}

/** What a tap may return. `undefined` and `null` always mean "no opinion". */
export type HookTapResult<N extends HookName> =
  HookKindOf<N> extends "gate"
    ? GateBlock | undefined | null | void
    : HookKindOf<N> extends "claim"
      ? Claimed | undefined | null | void
      : HookKindOf<N> extends "modify"
        ? HookEvent<N> | undefined | null | void
        : unknown;

/** What the emitter gets. */
export type HookResult<N extends HookName> =
  HookKindOf<N> extends "gate"
    ? { block: false } | (GateBlock & { plugin: string })
    : HookKindOf<N> extends "claim"
      ? (Claimed & { plugin: string }) | undefined
      : HookKindOf<N> extends "modify"
        ? HookEvent<N>
        : HookKindOf<N> extends "collect"
          ? HookItem<N>[]
          : void;

export interface HookMeta {
  /** Aborted on time-out and when the emitter gives up. */
  signal: AbortSignal;
  runId?: string;
  sessionKey?: string;
  agentId?: string;
  /** `collect` hooks only: hands one item to the emitter. */
  report(item: unknown): void;
}

export interface HookOptions {
  /** Higher first; then load order, then order of registration. Default 0. */
  priority?: number;
  /** 1–600,000; default that of the hook. */
  timeoutMs?: number;
}
