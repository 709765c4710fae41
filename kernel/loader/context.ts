import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { messageOf, SvcError } from "../../sdk/errors.ts";
import { hooks as hookTable } from "../../sdk/hooks.ts";
import { withLimit } from "../../sdk/limit.ts";
import { protocolEvents } from "../../sdk/protocol/events.ts";
import type { Clock, Disposable, Logger, Timers } from "../../sdk/types/common.ts";
import type { PluginContext } from "../../sdk/types/context.ts";
import type { HttpRoute } from "../../sdk/types/http.ts";
import type { Contributes, Manifest, Permission, PluginOrigin } from "../../sdk/types/manifest.ts";
import type { EmitOptions, RpcMethod } from "../../sdk/types/rpc.ts";
import type { Contributions } from "../contributions.ts";
import type { HookBus, TapFunction } from "../hooks/bus.ts";
import type { MethodRegistry } from "../port/methods.ts";
import type { RouteTable } from "../port/routes.ts";

/** What every context is made from. */
export interface Host {
  hooks: HookBus;
  contributions: Contributions;
  methods: MethodRegistry;
  routes: RouteTable;
  emit(event: string, payload: unknown, options?: EmitOptions): void;
  config(): SvcConfig;
  logger: Logger;
  clock: Clock;
  stateDir: string;
}

export interface InstanceIdentity {
  id: string;
  version: string;
  instance: number;
  origin: PluginOrigin;
  root: string;
  /** Load order, for ties. */
  order: number;
  manifest: Manifest | undefined;
  config: unknown;
}

/** A context and the power to end it. */
export interface Instance {
  ctx: PluginContext;
  /** Refused registrations, for `svc plugins list`. */
  diagnostics: Array<{ code: string; message: string }>;
  /** Aborts the signal, then undoes everything in reverse, each step within 5 s. Resolves to what could not be undone. */
  dispose(): Promise<string[]>;
}

const DISPOSE_STEP_MS = 5_000;

export function createInstance(identity: InstanceIdentity, host: Host): Instance {
  const { id, manifest } = identity;
  const ended = new AbortController();
  const kept = new Set<Disposable>();
  const diagnostics: Instance["diagnostics"] = [];
  let disposed = false;

  const alive = () => {
    if (disposed) throw new SvcError("plugin-disposed", { plugin: id });
  };
  /** What is undone early is forgotten, so that a plugin may set timers for ever. */
  const keep = (undo: Disposable): Disposable => {
    const once = { dispose: () => (kept.delete(once) ? undo.dispose() : undefined) };
    kept.add(once);
    return once;
  };
  /** A refused registration does not end the plugin: it is reported, and the plugin is degraded. */
  const attempt = (register: () => Disposable): Disposable => {
    alive();
    try {
      return keep(register());
    } catch (error) {
      const code = error instanceof SvcError ? error.code : "registration-failed";
      diagnostics.push({ code, message: messageOf(error) });
      host.logger.warn(`plugin "${id}": ${messageOf(error)}`);
      return { dispose: () => undefined };
    }
  };
  const declared = (kind: keyof Contributes, name: string) => {
    const list = manifest ? (manifest.contributes?.[kind] ?? []) : ["*"];
    if (!list.includes(name) && !list.includes("*")) throw new SvcError("undeclared-contribution", { plugin: id, kind, id: name });
  };
  const permitted = (permission: Permission, what: string) => {
    const granted = identity.origin === "bundled" || (host.config().plugins.entries[id]?.grants ?? []).includes(permission);
    if (!granted || (manifest && !manifest.permissions?.includes(permission)))
      throw new SvcError("permission-missing", { plugin: id, what, permission });
  };
  const contribute = (point: string, name: string, value: unknown) => {
    const kind = declaredPoints[point];
    if (kind) declared(kind, name);
    const added = host.contributions.add(point, { id: name, value, owner: id, order: identity.order });
    if (!added)
      throw new SvcError("contribution-conflict", { point, id: name, plugin: id, owner: host.contributions.ownerOf(point, name) });
    return added;
  };
  const timers = createTimers({ alive, keep }, (error) => host.logger.error(`plugin "${id}": a timer failed`, { error }));
  let stateDir: string | undefined;

  const ctx: PluginContext = {
    id,
    version: identity.version,
    instance: identity.instance,
    origin: identity.origin,
    root: identity.root,
    logger: host.logger.child(id),
    config: identity.config,
    signal: ended.signal,
    clock: host.clock,
    timers,
    get stateDir() {
      if (stateDir === undefined) {
        stateDir = join(host.stateDir, "plugin-data", id);
        mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      }
      return stateDir;
    },
    snapshot: host.config,
    on: (hook, fn, options) =>
      attempt(() => {
        const { permission } = hookTable[hook] as { permission?: Permission };
        if (permission) permitted(permission, `hook ${hook}`);
        const limits = host.config().plugins.entries[id]?.hooks;
        const timeoutMs = limits?.timeouts?.[hook] ?? limits?.timeoutMs ?? options?.timeoutMs;
        return host.hooks.tap(hook, {
          plugin: id,
          order: identity.order,
          fn: fn as TapFunction,
          options: { ...options, ...(timeoutMs ? { timeoutMs } : {}) },
        });
      }),
    runHook: (hook, event, meta) => host.hooks.run(hook, event, meta),
    isHookUsed: (hook) => host.hooks.isUsed(hook),
    contribute: (point, name, value) => attempt(() => contribute(point, name, value)),
    contributions: (point) => host.contributions.view(point),
    registerRpc: (method) =>
      attempt(() => {
        declared("rpc", method.method);
        return host.methods.add(method as RpcMethod, id);
      }),
    registerHttpRoute: (route: HttpRoute) =>
      attempt(() => {
        declared("http", route.path);
        if (route.auth === "plugin") permitted("http.public", `route ${route.path}`);
        return host.routes.add(route, id);
      }),
    registerTool: (tool) => attempt(() => contribute("tool", tool.name, tool)),
    registerModelProvider: (provider) => attempt(() => contribute("modelProvider", provider.id, provider)),
    registerService: (name, impl) => attempt(() => contribute("service", name, impl)),
    service: (name) => {
      alive();
      const found = host.contributions.view<never>("service").get(name);
      if (!found) throw new SvcError("service-unavailable", { service: name });
      return found.value;
    },
    emit: (event, payload, options) => {
      alive();
      if (Object.hasOwn(protocolEvents, event)) {
        declared("events", event);
        host.emit(event, payload, options);
      } else host.emit(`plugin.${id}.${event}`, payload, options);
    },
    onDispose: (fn) => attempt(() => ({ dispose: fn })),
  };

  return {
    ctx,
    diagnostics,
    async dispose() {
      if (disposed) return [];
      ended.abort(new SvcError("plugin-disposed", { plugin: id }));
      const left: string[] = [];
      const undoAll = async () => {
        for (const undo of [...kept].reverse()) {
          const undone = (async () => undo.dispose())().then(() => undefined, messageOf);
          const problem = await withLimit(undone, DISPOSE_STEP_MS, () => `a disposer did not finish within ${DISPOSE_STEP_MS / 1000} s`);
          if (problem) left.push(problem);
        }
      };
      await undoAll();
      disposed = true;
      await undoAll(); // what a setup that was still running registered meanwhile
      return [...left, ...host.contributions.ownedBy(id)];
    },
  };
}

/** Points whose members stand in the manifest, and where. */
const declaredPoints: Readonly<Record<string, keyof Contributes>> = {
  channel: "channels",
  embeddingAdapter: "embeddingAdapters",
  hookPreset: "hookPresets",
  memoryBackend: "memoryBackends",
  modelProvider: "modelProviders",
  service: "services",
  tool: "tools",
};

function createTimers({ alive, keep }: { alive(): void; keep(d: Disposable): Disposable }, fail: (error: unknown) => void): Timers {
  const guarded = (fn: () => void) => () => {
    try {
      fn();
    } catch (error) {
      fail(error);
    }
  };
  return {
    setTimeout(fn, delayMs) {
      alive();
      const timer = setTimeout(() => {
        void held.dispose();
        guarded(fn)();
      }, delayMs);
      const held = keep({ dispose: () => clearTimeout(timer) });
      return held;
    },
    setInterval(fn, periodMs) {
      alive();
      const timer = setInterval(guarded(fn), periodMs);
      return keep({ dispose: () => clearInterval(timer) });
    },
  };
}
