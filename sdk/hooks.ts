import type { SvcConfig } from "./config/root.ts";
import { hookErrors } from "./errors.ts";
import type { MemoryStage } from "./types/gateway.ts";
import type { Permission } from "./types/manifest.ts";
import type { MessageRoute } from "./types/messaging.ts";
import type { ReloadAction } from "./types/reload.ts";
import type { ClientInfo, OperatorScope } from "./types/rpc.ts";
import type { RunOrigin, ToolRefusal } from "./types/tool.ts";

/**
 * The table of hooks. A name counts only if something emits it; `test/meta` demands a test and a documentation row for each.
 *
 * - `gate`: the first `{ block: true, reason }` refuses; a throw, a time-out or any other answer than an object refuses too.
 * - `claim`: the first `{ handled: true, … }` wins; failures are skipped.
 * - `modify`: each tap may return a new value of the same shape; failures keep the previous one.
 * - `observe`: results ignored, all awaited.
 * - `collect`: taps call `report(item)`; a failure reports `{ ok: false }`.
 * - `sync`: like `modify`, for taps that return at once; one that takes over 50 ms is logged.
 */
export type HookKind = "gate" | "claim" | "modify" | "observe" | "collect" | "sync";

/** Filters of a tap; a hook accepts those that its event carries. */
export type HookFilterKey = "channel" | "agentId" | "sessionKeyPrefix" | "tool" | "trigger";

/** One row of the table. */
export interface HookSpec<Kind extends HookKind = HookKind, Event = unknown, Answer = unknown> {
  readonly kind: Kind;
  /** Milliseconds one tap may take; 0 for `sync`, which cannot be timed. */
  readonly timeoutMs: number;
  /** Permissions a plugin needs to tap it. */
  readonly permissions: readonly Permission[];
  readonly filters: readonly HookFilterKey[];
  /** One tap after the other, the last loaded first, instead of all at once. */
  readonly reverse: boolean;
  readonly about: string;
  /** Fields of the event that a `gate` may change on the way. */
  readonly revises: readonly string[];
  /** Describes the problem with an answer of the right kind, or undefined. */
  check?(answer: Record<string, unknown>): string | undefined;
  /** Item that stands for a tap of a `collect` that failed. */
  failure?(plugin: string, message: string): unknown;
  /** Type carriers only. */
  readonly event?: Event;
  readonly answer?: Answer;
}

const defaultTimeoutMs: Record<HookKind, number> = {
  gate: 15_000,
  claim: 15_000,
  modify: 15_000,
  observe: 30_000,
  collect: 5_000,
  sync: 0,
};

interface HookExtras {
  timeoutMs?: number;
  permissions?: readonly Permission[];
  filters?: readonly HookFilterKey[];
  reverse?: boolean;
  revises?: readonly string[];
  check?: HookSpec["check"];
  failure?: HookSpec["failure"];
}

/** `Answer`: items of a `collect`, further fields of a `claim`, fields of the event that a `gate` may revise. */
function hook<Event, Answer = unknown>() {
  return <Kind extends HookKind>(kind: Kind, about: string, extras: HookExtras = {}): HookSpec<Kind, Event, Answer> => ({
    kind,
    about,
    timeoutMs: extras.timeoutMs ?? defaultTimeoutMs[kind],
    permissions: extras.permissions ?? [],
    filters: extras.filters ?? [],
    reverse: extras.reverse ?? false,
    revises: extras.revises ?? [],
    ...(extras.check ? { check: extras.check } : {}),
    ...(extras.failure ? { failure: extras.failure } : {}),
  });
}

/** A part of the health snapshot. */
export interface HealthPart {
  /** Key in the health payload. */
  part: string;
  ok: boolean;
  /** `ok` of the whole is that of its critical parts. */
  critical?: boolean;
  value?: unknown;
  message?: string;
  /** Not part of `health`, which everybody gets: the method `status` shows it, under the name of the part. */
  only?: "status";
}

/** A finding of `svc doctor`. */
export interface DoctorFinding {
  /** `area/what`, kebab-case. */
  id: string;
  severity: "info" | "warning" | "error";
  message: string;
  /** Config path or file it is about. */
  path?: string;
  /** Remedy, or the command for it. */
  fix?: string;
  /** `svc doctor --fix` would do it. */
  fixable?: boolean;
}

interface RunIds {
  runId: string;
  agentId: string;
  sessionKey: string;
}
interface SessionIds {
  sessionKey: string;
  agentId: string;
  sessionId: string;
}

interface OutboundIds {
  /** Same for every try. */
  uid: string;
  channel: string;
  accountId?: string;
  to?: string;
  threadId?: string;
  sessionKey: string;
  agentId: string;
  origin: "chat" | "hook" | "cron" | "heartbeat";
  /** One of the messages that a long text was split into; left out where it is the only one. */
  part?: { index: number; of: number };
}

/** Way that the message of a run came. */
export type RunSurface = "webchat" | "channel" | "rpc" | "http" | "hook" | "internal";

const session = ["agentId", "sessionKeyPrefix"] as const;
const run = ["agentId", "sessionKeyPrefix", "trigger"] as const;
const texts = { permissions: ["hooks.conversation"] } as const;
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === "string");

/** Every hook by name. */
export const hooks = {
  "gateway.ready": hook<{ uptimeMs: number }>()("observe", "boot has finished; in safe mode, when that is over"),
  "gateway.stopping": hook<{ reason: string; deadlineMs: number }>()(
    "observe",
    "a stop has begun; sockets are still open; one plugin after the other, the last loaded first",
    { timeoutMs: 5_000, reverse: true },
  ),
  "gateway.resumed": hook<{ gapMs: number }>()(
    "observe",
    "the process was suspended for over 30 s: refresh connections and anything else outside",
  ),
  "gateway.pressure": hook<{ stage: MemoryStage }>()(
    "observe",
    "the process came nearer to the limit of its memory, or got away from it: `none`, `background`, `work`, `restart`",
  ),
  "plugin.state": hook<{ id: string; from: string; to: string; error?: string }>()("observe", "a plugin changed state"),
  "config.validate": hook<{ config: SvcConfig; paths: readonly string[] }, { path: string; message: string }>()(
    "collect",
    // A tap that fails reports nothing: a broken plugin must not keep the operator from switching it off.
    "plugins check a config as a whole, at boot (no `paths`) and before each swap; a reported problem refuses the swap",
  ),
  "config.changed": hook<{ prev: SvcConfig; next: SvcConfig; paths: readonly string[] }>()("observe", "a new config is in force"),
  "reload.plan": hook<{ paths: readonly string[]; actions: readonly ReloadAction[] }>()(
    "sync",
    "what each changed path needs; may be raised to `restart`, never lowered",
  ),
  "http.request": hook<
    { method: string; path: string; headers: Readonly<Record<string, string>>; remote: string },
    { response: Response }
  >()("claim", "after auth, before the route; may answer instead; headers without credentials", {
    check: ({ response }) => (response instanceof Response ? undefined : "a claim needs a `response`"),
  }),
  "http.response": hook<{ readonly method: string; readonly path: string; status: number; headers: Readonly<Record<string, string>> }>()(
    "modify",
    "status and headers of an answer before they are sent; never the body",
    {
      check: ({ status }) =>
        Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599 ? undefined : "status must be 200 to 599",
    },
  ),
  "auth.identify": hook<
    { credentials: { token?: string | undefined; password?: string | undefined }; transport: "ws" | "http"; remote: string },
    { identity: string; scopes: readonly string[] }
  >()("claim", "identifies a caller, before the shared secret is checked", {
    permissions: ["auth.provider"],
    check: ({ identity, scopes }) =>
      typeof identity === "string" && identity !== "" && isTexts(scopes) ? undefined : "a claim needs `identity` and `scopes`",
  }),
  "ws.connect": hook<{ client: ClientInfo; scopes: readonly OperatorScope[] }>()("gate", "a client has authenticated, hello-ok is next"),
  "ws.disconnect": hook<{ client: ClientInfo; code: number; reason: string }>()("observe", "an established connection has closed"),
  "hello.snapshot": hook<{
    features: { methods: readonly string[]; events: readonly string[]; capabilities: readonly string[] };
    policy: Readonly<Record<string, unknown>>;
    sessionDefaults?: Record<string, unknown>;
  }>()("modify", "features, policy and session defaults of hello-ok", {
    check: ({ features, policy }) => {
      const { methods, events, capabilities } = (features ?? {}) as Record<string, unknown>;
      return [methods, events, capabilities].every(isTexts) && typeof policy === "object" ? undefined : "features must be lists of names";
    },
  }),
  "rpc.before": hook<{ method: string; params: unknown; client: ClientInfo }>()("gate", "before a method's handler"),
  "rpc.after": hook<{ method: string; ok: boolean; code?: string; ms: number }>()("observe", "after a method's handler"),
  "operator.acted": hook<{ method: string; params: unknown; client: ClientInfo; ok: boolean; code?: string }>()(
    "observe",
    "a call of a method that may change something has ended: of any scope but `operator.read`",
  ),
  "approval.resolved": hook<{
    id: string;
    kind: "exec" | "plugin";
    /** `deny` also when nobody decided. */
    decision: string;
    /** Name of the one who decided; null: nobody. */
    by: string | null;
    reason?: string;
    agentId?: string;
    sessionKey?: string;
  }>()("observe", "a question to a person has ended, whoever decided it and wherever"),
  "health.collect": hook<{ deep: boolean }, HealthPart>()("collect", "parts of the health snapshot", {
    failure: (plugin, message) => ({ part: plugin, ok: false, message }),
  }),
  "doctor.collect": hook<{ deep: boolean }, DoctorFinding>()("collect", "findings of `svc doctor` in a running gateway", {
    failure: (plugin, message) => ({ id: `plugin/${plugin}`, severity: "error", message }),
  }),
  "session.start": hook<SessionIds>()("observe", "a session got a new transcript", { filters: session }),
  "session.end": hook<SessionIds & { reason: "new" | "reset" | "daily" | "idle" | "deleted" | "shutdown" }>()(
    "observe",
    "a transcript takes no more messages, or the gateway stops; at a stop all taps share 2 s",
    { filters: session },
  ),
  "session.reset": hook<SessionIds & { reason: string }>()("observe", "a session was reset", { filters: session }),
  "session.compact": hook<SessionIds & { phase: "before" | "after"; tokens: number }>()(
    "observe",
    "the part of a transcript that models read is shortened; `tokens` is an estimate of its length",
    { filters: session },
  ),
  "model.resolve": hook<RunIds & { trigger: string; requested?: string }, { provider: string; model: string }>()(
    "claim",
    "which model answers a run; fallbacks of the agent follow it",
    {
      filters: run,
      check: ({ provider, model }) =>
        typeof provider === "string" && typeof model === "string" ? undefined : "a claim needs `provider` and `model`",
    },
  ),
  "prompt.build": hook<
    Omit<RunIds, "runId"> & {
      trigger: string;
      /** Text that people wrote for this turn. */
      prompt: string;
      /** Way that the message came: `webchat`, by the methods of the chat; `channel`; `rpc`, from another client; `http`; `hook`; `internal`, from a plugin. */
      surface: RunSurface;
      system: readonly string[];
      context: readonly string[];
      tools: readonly string[];
      /** Place on a channel that the message comes from. */
      place?: MessageRoute;
      /** Remarks of plugins on what they did to the prompt: `svc sessions explain` shows them, and no model reads them. The first twenty, cut to 500 characters, are kept. */
      notes?: readonly string[];
    }
  >()("modify", "system prompt parts, context for this run and tool names; adding text is free, tools can only be narrowed", {
    permissions: ["hooks.conversation", "hooks.prompt"],
    filters: run,
    check: (e) =>
      [e.system, e.context, e.tools, e.notes ?? []].every(isTexts) ? undefined : "system, context, tools and notes must be lists of texts",
  }),
  "agent.before": hook<RunIds & { prompt: string; trigger: string }>()("gate", "a run is about to start", {
    permissions: ["hooks.conversation", "hooks.gate"],
    filters: run,
  }),
  "agent.reply": hook<RunIds & { prompt: string; trigger: string }, { reply?: string }>()(
    "claim",
    "may answer a run instead of the model; without `reply` the run ends in silence",
    {
      ...texts,
      filters: run,
      check: ({ reply }) => (reply === undefined || typeof reply === "string" ? undefined : "`reply` must be text"),
    },
  ),
  "agent.end": hook<
    RunIds & {
      /** `replay`: another model was asked what a run had asked; no run of the session. */
      trigger: string;
      status: "ok" | "error";
      ms: number;
      usage: unknown;
      /** `provider/model` that answered last; absent where none was asked. */
      model?: string;
    }
  >()("observe", "a run has ended", {
    ...texts,
    filters: run,
  }),
  "heartbeat.before": hook<{ agentId: string; sessionKey: string; reason: string }>()(
    "gate",
    "a heartbeat of an agent is about to start; `reason` is `interval` or what woke it",
    { filters: session },
  ),
  "tool.before": hook<RunIds & { tool: string; args: unknown; place?: MessageRoute }, { args: unknown }>()(
    "gate",
    "a tool is about to run; may return other `args`. `place`: where on a channel the message or call comes from",
    { ...texts, filters: [...session, "tool"], revises: ["args"] },
  ),
  "tool.after": hook<RunIds & { tool: string; ok: boolean; ms: number }>()("observe", "a tool has run", {
    ...texts,
    filters: [...session, "tool"],
  }),
  "tool.refused": hook<RunIds & { tool: string; origin: RunOrigin; reason: ToolRefusal; isLast?: true }>()(
    "observe",
    "a run, or a client, called a tool that it may not call: `unknown` to this gateway, left out by `policy`, by the `origin` of the run, by what the run is `narrowed` to, or `blocked` by a hook. Twenty of a run are told, and twenty of clients in a minute; `isLast` is in the last",
    {
      ...texts,
      filters: [...session, "tool"],
    },
  ),
  "outbound.sending": hook<OutboundIds & { text: string; cancel?: boolean; reason?: string }>()(
    "modify",
    "a message is about to be queued for a channel: another `text` may be returned, or `cancel: true` with a `reason`; where it goes stays",
    {
      ...texts,
      filters: ["channel", ...session],
      check: ({ text, cancel, reason }) => {
        if (typeof text !== "string") return "text must be text";
        if (cancel !== undefined && typeof cancel !== "boolean") return "`cancel` must be true or false";
        return reason === undefined || typeof reason === "string" ? undefined : "`reason` must be text";
      },
    },
  ),
  "outbound.sent": hook<OutboundIds & { messageId: string; attempt: number; at: number }>()(
    "observe",
    "a platform has accepted a message",
    {
      ...texts,
      filters: ["channel", ...session],
    },
  ),
  "outbound.failed": hook<
    OutboundIds & { error: string; attempt: number; permanent: boolean; outcome: "retry" | "uncertain" | "failed" | "expired" }
  >()("observe", "a message was refused, or its state is unknown; `permanent`: it is not retried", {
    ...texts,
    filters: ["channel", ...session],
  }),
  "memory.query": hook<{ agentId: string; query: string; limit: number }>()("modify", "a memory query before it runs", {
    ...texts,
    filters: ["agentId"],
  }),
  "memory.results": hook<{ agentId: string; query: string; hits: readonly unknown[] }>()("modify", "hits before they are returned", {
    ...texts,
    filters: ["agentId"],
  }),
  "memory.synced": hook<{ agentId: string; files: number; chunks: number; ms: number }>()("observe", "an index is up to date", {
    ...texts,
    filters: ["agentId"],
  }),
} as const;

type Hooks = typeof hooks;
/** Name of a hook. */
export type HookName = keyof Hooks;
/** First argument of a tap. */
export type HookEvent<N extends HookName> = Hooks[N] extends HookSpec<HookKind, infer E, unknown> ? E : never;
/** Items of a `collect`, further fields of a `claim`, fields that a `gate` may revise. */
export type HookAnswer<N extends HookName> = Hooks[N] extends HookSpec<HookKind, unknown, infer A> ? A : never;
/** Kind of a hook. */
export type HookKindOf<N extends HookName> = Hooks[N]["kind"];

/** A row of the table in its general form, for code that handles any hook. @throws {SvcError} `unknown-hook` */
export function hookSpec(name: HookName): HookSpec {
  if (!Object.hasOwn(hooks, name)) throw hookErrors.unknownHook({ hook: name });
  return hooks[name] as HookSpec;
}
