import { setMaxListeners } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Cron } from "croner";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { commonErrors, messageOf, SvcError } from "../../sdk/errors.ts";
import { type HookName, type HookOptions, hookSpec } from "../../sdk/hooks.ts";
import { isKernelEvent, protocolEvents } from "../../sdk/protocol/events.ts";
import type { Disposable, Logger } from "../../sdk/types/common.ts";
import type { PluginContext } from "../../sdk/types/context.ts";
import type { HttpCall, HttpRoute } from "../../sdk/types/http.ts";
import type { Contributes, Permission } from "../../sdk/types/manifest.ts";
import type { ReloadParticipant } from "../../sdk/types/reload.ts";
import type { EmitOptions, RpcMethod } from "../../sdk/types/rpc.ts";
import { kernelErrors } from "../errors.ts";
import type { HookBus, TapFunction } from "../hooks/bus.ts";
import { running } from "../hooks/running.ts";
import type { Activation } from "./activation.ts";
import { runDoctorCheck, runHealthCheck } from "./checks.ts";
import type { Contributions } from "./contributions.ts";
import { createPluginFetch } from "./fetch.ts";
import type { Instance, InstanceIdentity } from "./instance.ts";
import { createPluginKv, type KvProvider } from "./kv.ts";
import { createLeases } from "./leases.ts";
import { partOf } from "./partial-view.ts";
import { pluginEnv } from "./plugin-env.ts";
import { createRegistrations } from "./registrations.ts";
import { closedPoints, reachesInto, unservedPoints } from "./reserved.ts";
import { fitsPath } from "./secret-paths.ts";
import { createServiceHandle, createServiceProxy } from "./service-proxy.ts";
import { ownName, type ShapeKind, shapeProblem } from "./shapes.ts";
import { createTimers, type TimedClock } from "./timers.ts";
import { copyPanel, panelMethod } from "./ui-panels.ts";

/** Adds what a plugin contributes, by its owner, until the result is disposed. `hold` keeps the owner's instance while a call of it runs. */
interface Sink<T> {
  add(value: T, owner: string, hold?: () => Disposable): Disposable;
}

/** Parts of the gateway that contexts of plugins are made from. */
export interface Host {
  hooks: HookBus;
  contributions: Contributions;
  /** The control protocol. @throws {SvcError} `reserved-name`, `contribution-conflict` */
  methods: Sink<RpcMethod>;
  /** The HTTP listener. @throws {SvcError} `route-conflict` */
  routes: Sink<HttpRoute>;
  activation: Activation;
  /** The bundled plugin in force that declares such a name. */
  reservedBy(kind: keyof Contributes, isSame: (declared: string) => boolean): string | undefined;
  /** Reason why the provider of a service is not running, as the rest of a sentence; undefined when nothing is known. */
  whyAbsent?(service: string): string | undefined;
  emit(event: string, payload: unknown, options?: EmitOptions): void;
  config(): SvcConfig;
  /** The same with every secret masked. */
  snapshot(): SvcConfig;
  /** Resolved value of a sensitive path. */
  secret(path: string): string | undefined;
  logger: Logger;
  /** Counts an error that nobody waits for against its plugin. */
  onFault?: ((plugin: string) => void) | undefined;
  clock: TimedClock;
  fetch?: PluginContext["fetch"] | undefined;
  stateDir: string;
  /** The environment as the config left it at the start, and what of the config has no value. */
  gatewayEnv(): Parameters<typeof pluginEnv>[2];
}

/** Points whose members stand in the manifest, and where. Calls of their values are leases of the instance. */
const declaredPoints: Readonly<Record<string, keyof Contributes | undefined>> = {
  channel: "channels",
  embeddingAdapter: "embeddingAdapters",
  hookPreset: "hookPresets",
  memoryBackend: "memoryBackends",
  modelProvider: "modelProviders",
  service: "services",
  tool: "tools",
};

/** Refused registrations of one instance that are reported; one that is refused without end fills neither log nor listing. */
const MAX_DIAGNOSTICS = 50;

/** @param onDiagnostic told of registrations refused after the instance was opened */
export function createInstance(identity: InstanceIdentity, host: Host, onDiagnostic: () => void = () => undefined): Instance {
  const { id, manifest } = identity;
  const ended = new AbortController();
  setMaxListeners(0, ended.signal); // one listener for each thing the plugin has under way
  const diagnostics: Instance["diagnostics"] = [];
  const leases = createLeases(id);
  let disposed = false;

  const alive = () => {
    if (disposed) throw commonErrors.pluginDisposed({ plugin: id });
  };
  /** A refused registration does not end the plugin: it is reported, and the plugin is degraded. */
  const refused = (error: unknown) => {
    if (diagnostics.length >= MAX_DIAGNOSTICS) return;
    diagnostics.push({ code: error instanceof SvcError ? error.code : "registration-failed", message: messageOf(error) });
    const text = messageOf(error);
    host.logger.warn(text.startsWith(`plugin "${id}"`) ? text : `plugin "${id}": ${text}`);
    if (registrations.isOpen()) onDiagnostic();
  };
  const registrations = createRegistrations(refused);
  const enter = <T>(what: string, fn: () => T): T => running.run({ plugin: id, what }, () => leases.run(fn));
  /** @param allow throws what refuses it for good @param connect puts it in its registry */
  const register = (allow: () => void, connect: () => Disposable): Disposable => {
    alive();
    try {
      allow();
      return registrations.wire(connect);
    } catch (error) {
      refused(error);
      return { dispose: () => undefined };
    }
  };

  const isBundled = identity.origin === "bundled";
  const declared = (kind: keyof Contributes, name: string, isSame = (other: string) => other === name) => {
    const list = manifest ? (manifest.contributes?.[kind] ?? []) : ["*"];
    if (!list.some((one) => one === name || one === "*" || (kind === "http" && one === "/*")))
      throw kernelErrors.undeclaredContribution({ plugin: id, kind, id: name });
    const owner = isBundled ? undefined : host.reservedBy(kind, isSame);
    if (owner) throw kernelErrors.reservedName({ plugin: id, name, owner: `plugin "${owner}"` });
  };
  const isPermitted = (permission: Permission) => {
    const granted = isBundled || (host.config().plugins.entries[id]?.grants ?? []).includes(permission);
    return granted && (!manifest || manifest.permissions?.includes(permission) === true);
  };
  const permitted = (permission: Permission, what: string) => {
    if (!isPermitted(permission)) throw kernelErrors.permissionMissing({ plugin: id, what, permission });
  };
  const wrong = (kind: string, problem: string | undefined) => {
    if (problem) throw kernelErrors.invalidRegistration({ plugin: id, kind, issues: problem });
  };
  /** Goes on with a value that is what its type says; nothing else of it has been read by then. */
  const checked = (kind: ShapeKind, value: unknown, goOn: () => Disposable): Disposable => {
    const problem = shapeProblem(kind, value);
    return problem ? register(() => wrong(kind, problem), goOn) : goOn();
  };
  /** @param allow asked once the name is found to be its own */
  const contribute = (point: string, name: string, value: unknown, allow = () => undefined as void) => {
    const kind = declaredPoints[point];
    /** Value of an instance that is gone was kept: its successor answers, if there is one. */
    const successor = () => (disposed ? host.contributions.view(point).get(name)?.value : undefined);
    const offered =
      kind || point === "reload" ? createServiceProxy(value, (what, fn) => enter(`${point} ${name}: ${what}`, fn), successor) : value;
    return register(
      () => {
        if (unservedPoints.has(point)) throw kernelErrors.notInRelease({ plugin: id, what: `${point} "${name}"` });
        if (kind) declared(kind, name);
        allow();
      },
      () => {
        const taken = (by: string | undefined) => kernelErrors.contributionConflict({ point, id: name, plugin: id, owner: by });
        const entry = {
          id: name,
          value: offered,
          owner: id,
          order: identity.order,
          isOutside: !isBundled,
          lost: (by: string) => refused(taken(by)),
        };
        const added = host.contributions.add(point, entry);
        if (!added) throw taken(host.contributions.ownerOf(point, name));
        return added;
      },
    );
  };
  const tap = (hook: HookName, fn: TapFunction, options: HookOptions | undefined) =>
    register(
      () => {
        wrong(`hook ${hook}`, shapeProblem("hook", fn));
        for (const permission of hookSpec(hook).permissions) permitted(permission, `hook ${hook}`);
      },
      () => {
        const leasedTap: TapFunction = (event, meta) => leases.run(() => fn(event, meta));
        return host.hooks.tap(hook, { plugin: id, order: identity.order, fn: leasedTap, options });
      },
    );
  const registerRpc = (method: RpcMethod, declaredAs?: string) =>
    register(
      () => declaredAs ?? declared("rpc", method.method),
      () => host.methods.add({ ...method, handler: (params, call) => leases.run(() => method.handler(params, call)) }, id, leases.hold),
    );

  const kv = createPluginKv(id, () => {
    alive();
    const provider = host.contributions.view<KvProvider>("kv").get("store");
    if (!provider) throw commonErrors.serviceUnavailable({ service: "kv" });
    return provider.value;
  });
  const pluginFetch = createPluginFetch(id, ended.signal, (host.fetch as typeof fetch | undefined) ?? fetch);
  const handles = new Map<string, unknown>();
  const services = host.contributions.view<object>("service");
  const serviceNow = (name: string) => {
    const found = services.get(name);
    if (!found) throw commonErrors.serviceUnavailable({ service: name, why: host.whyAbsent?.(name) });
    return found.value;
  };
  let stateDir: string | undefined;
  let participants = 0;

  const ctx: PluginContext = {
    id,
    version: identity.version,
    instance: identity.instance,
    origin: identity.origin,
    root: identity.root,
    logger: host.logger.child(id),
    get config() {
      return identity.config;
    },
    env: pluginEnv(id, identity.env, host.gatewayEnv()),
    signal: ended.signal,
    clock: host.clock,
    timers: createTimers({
      alive,
      keep: registrations.keep,
      clock: host.clock,
      startCron: (expression, run) => new Cron(expression, run),
      run: (what, fn) => {
        const failed = (error: unknown) => {
          host.logger.error(`plugin "${id}": ${what} failed`, { error });
          host.onFault?.(id);
        };
        try {
          void Promise.resolve(running.run({ plugin: id, what }, fn)).catch(failed);
        } catch (error) {
          failed(error);
        }
      },
    }),
    get stateDir() {
      if (stateDir === undefined) {
        stateDir = join(host.stateDir, "plugin-data", id);
        mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      }
      return stateDir;
    },
    snapshot: host.snapshot,
    secret(path) {
      if (!manifest?.secrets?.some((s) => fitsPath(path, s.path)))
        throw kernelErrors.undeclaredContribution({ plugin: id, kind: "secrets", id: path });
      return host.secret(path);
    },
    kv,
    fetch: (input, init) => {
      alive();
      return pluginFetch(input, init);
    },
    on: (hook, fn, options) => tap(hook, fn as TapFunction, options),
    runHook: (hook, event, meta) => host.hooks.run(hook, event, meta),
    isHookUsed: (hook) => host.hooks.isUsed(hook),
    contribute: (point, name, value) =>
      contribute(point, name, value, () => {
        const way = Object.hasOwn(closedPoints, point) ? closedPoints[point] : undefined;
        if (way) throw kernelErrors.reservedName({ plugin: id, name: point, owner: way });
        if (point === "kv") declared("services", "store@1"); // every plugin's rows are with who keeps the state
        wrong(point, shapeProblem(point, value));
        const given = declaredPoints[point] && ownName(value);
        if (given !== undefined && given !== name && point !== "service") wrong(point, `"${name}" calls itself "${given}"`);
      }),
    contributions<T>(point: string) {
      const view = host.contributions.view<T>(point);
      if (point === "kv" || point === "reload") return partOf(view, () => false); // rows and parts of other plugins
      return point === "service" ? partOf(view, (name) => name !== "config@1" || isPermitted("rpc.admin")) : view;
    },
    registerRpc: (method) => checked("rpc", method, () => registerRpc(method as RpcMethod)),
    registerHttpRoute: (given) =>
      checked("http", given, () => {
        const route = { ...given, handler: (call: HttpCall) => leases.run(() => given.handler(call)) };
        const allow = () => {
          declared("http", route.path, (other) => reachesInto(route, other));
          if (route.auth !== "gateway") permitted("http.public", `route ${route.path}`);
        };
        return register(allow, () => host.routes.add(route, id, leases.hold));
      }),
    registerTool: (tool) => checked("tool", tool, () => contribute("tool", tool.name, tool)),
    registerModelProvider: (provider) => checked("modelProvider", provider, () => contribute("modelProvider", provider.id, provider)),
    registerChannel: (channel) => checked("channel", channel, () => contribute("channel", channel.id, channel)),
    registerEmbeddingAdapter: (adapter) => checked("embeddingAdapter", adapter, () => contribute("embeddingAdapter", adapter.id, adapter)),
    registerMemoryBackend: (backend) => checked("memoryBackend", backend, () => contribute("memoryBackend", backend.id, backend)),
    registerHookPreset: (preset) => checked("hookPreset", preset, () => contribute("hookPreset", preset.id, preset)),
    registerHealthCheck: (check) =>
      checked("check", check, () =>
        tap("health.collect", async (_, meta) => meta.report(await runHealthCheck(id, check, meta.signal)), undefined),
      ),
    registerDoctorCheck: (check) =>
      checked("check", check, () =>
        tap("doctor.collect", async (_, meta) => meta.report(await runDoctorCheck(id, check, meta.signal)), undefined),
      ),
    registerUiPanel: (given) =>
      checked("uiPanel", given, () => {
        const panel = copyPanel(given);
        const listed = contribute("uiPanel", `${id}/${panel.id}`, panel);
        const { load } = panel;
        if (panel.kind !== "data" || !load) return listed;
        const method = panelMethod(id, panel.id);
        const loader = registerRpc({ method, scope: "read", params: noParams, handler: (_, { signal }) => load({ signal }) }, method);
        return { dispose: () => void [listed.dispose(), loader.dispose()] };
      }),
    onReload: (part) =>
      checked("reload", part, () => {
        const { prefixes, prepare } = part;
        const participant: ReloadParticipant = { prefixes: [...prefixes], prepare: (...args) => prepare.apply(part, args) };
        return contribute("reload", `${id}/${participants++}`, participant);
      }),
    registerService: (name, impl) => checked("service", impl, () => contribute("service", name, impl)),
    service: (name) => {
      alive();
      if (name === "config@1") permitted("rpc.admin", `service ${name}`);
      const isHere = () => host.contributions.ownerOf("service", name) !== undefined;
      if (!isHere() && !host.activation.waitsAt("service", name)) serviceNow(name);
      const load = () => (isHere() ? undefined : host.activation.usePoint("service", name));
      const handle = handles.get(name) ?? createServiceHandle(() => serviceNow(name), load);
      handles.set(name, handle);
      return handle as never;
    },
    emit: (event, payload, options) => {
      alive();
      if (isKernelEvent(event)) throw kernelErrors.reservedName({ plugin: id, name: event, owner: "the kernel" });
      if (Object.hasOwn(protocolEvents, event)) {
        declared("events", event);
        host.emit(event, payload, options);
      } else host.emit(`plugin.${id}.${event}`, payload, options);
    },
    onDispose(fn) {
      alive();
      return registrations.keep({ dispose: fn });
    },
  };

  const abort = () => ended.abort(commonErrors.pluginDisposed({ plugin: id }));
  return {
    identity,
    ctx,
    leases,
    diagnostics,
    open: registrations.open,
    close: registrations.close,
    abort,
    async dispose() {
      if (disposed) return [];
      abort();
      const left = await registrations.dispose();
      disposed = true;
      left.push(...(await registrations.dispose())); // what a setup that was still running opened meanwhile
      return left;
    },
  };
}

const noParams: RpcMethod["params"] = { "~standard": { version: 1, vendor: "svc", validate: (value) => ({ value }) } };
