import { setMaxListeners } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Cron } from "croner";
import { commonErrors } from "../../sdk/errors.ts";
import type { Disposable, Timers } from "../../sdk/types/common.ts";
import type { ContributionView, PluginContext } from "../../sdk/types/context.ts";
import type { HttpCall } from "../../sdk/types/http.ts";
import type { ReloadParticipant } from "../../sdk/types/reload.ts";
import type { RpcMethod } from "../../sdk/types/rpc.ts";
import { kernelErrors } from "../errors.ts";
import type { TapFunction } from "../hooks/bus.ts";
import { running } from "../hooks/running.ts";
import { createHttpPool } from "../process/http/pool.ts";
import { createProxiedFetch } from "../process/http/proxied-fetch.ts";
import { createPluginVendor } from "../process/plugin-vendor.ts";
import { runDoctorCheck, runHealthCheck } from "./checks.ts";
import type { Host, Instance, InstanceIdentity } from "./instance.ts";
import { metricsOf, tracedFetch, tracedRequest, tracingOf } from "./instruments.ts";
import { createPluginKv, type KvProvider } from "./kv.ts";
import { pluginEnv } from "./plugin-env.ts";
import { declaredPoints, Registrar } from "./registrar.ts";
import { closedPoints, isKernelEvent, reachesInto } from "./reserved.ts";
import { fitsPath } from "./secret-paths.ts";
import { createServiceHandle } from "./service-proxy.ts";
import { ownName, shapeProblem } from "./shapes.ts";
import { createTimers } from "./timers.ts";
import { addPanel } from "./ui-panels.ts";

/** @param onDiagnostic called for registrations refused after the instance was opened */
export function createInstance(identity: InstanceIdentity, host: Host, onDiagnostic: () => void = () => undefined): Instance {
  const ended = new AbortController();
  setMaxListeners(0, ended.signal); // one listener for each thing the plugin has under way
  const registrar = new Registrar(identity, host, onDiagnostic);
  const { registrations, leases, diagnostics } = registrar;
  let isDisposed = false;
  const abort = () => ended.abort(commonErrors.pluginDisposed({ plugin: identity.id }));
  return {
    identity,
    ctx: createContext(registrar, host, ended.signal),
    leases,
    diagnostics,
    open: registrations.open,
    close: registrations.close,
    abort,
    async dispose() {
      if (isDisposed) return [];
      abort();
      const left = await registrar.dispose();
      isDisposed = true;
      return left;
    },
  };
}

function createContext(registrar: Registrar, host: Host, signal: AbortSignal): PluginContext {
  const { identity, registrations } = registrar;
  const { id, manifest } = identity;
  const env = pluginEnv(id, identity.env, host.gatewayEnv());
  const http = createHttpPool({ env, userAgent: `svc-plugin/${id}`, signal });
  registrations.keep({ dispose: http.close });
  const pluginFetch = createPluginFetch(id, signal, (host.fetch as typeof fetch | undefined) ?? createProxiedFetch({ env, signal }));
  const tracing = tracingOf(registrar, host.tracer);
  const request = tracedRequest(tracing, (url, options) => (host.request ?? http.request)(url, options));
  let stateDir: string | undefined;
  const resources: Resources = {
    id,
    version: identity.version,
    instance: identity.instance,
    origin: identity.origin,
    root: identity.root,
    logger: host.logger.child(id),
    get config() {
      return identity.config;
    },
    env,
    signal,
    clock: host.clock,
    timers: timersOf(registrar, host),
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
    kv: kvOf(registrar, host),
    fetch: (input, init) => {
      registrar.assertAlive();
      return pluginFetch(input, tracedFetch(tracing, init));
    },
    request(url, options) {
      try {
        registrar.assertAlive();
      } catch (error) {
        return Promise.reject(error);
      }
      return request(url, options);
    },
    vendor: createPluginVendor({
      id,
      root: identity.root,
      channels: manifest?.contributes?.channels,
      stateDir: host.stateDir,
      alive: () => registrar.assertAlive(),
    }),
    metrics: metricsOf(registrar, host),
    tracing,
    runHook: (hook, event, meta) => host.hooks.run(hook, event, meta),
    isHookUsed: (hook) => host.hooks.isUsed(hook),
    onDispose(fn) {
      registrar.assertAlive();
      return registrations.keep({ dispose: fn });
    },
  };
  // Assigned, not spread: a getter stays one.
  return Object.assign(resources, registering(registrar, host), contributing(registrar), communicating(registrar, host));
}

type Registering =
  | "on"
  | "registerRpc"
  | "registerHttpRoute"
  | "registerHealthCheck"
  | "registerDoctorCheck"
  | "registerUiPanel"
  | "onReload";
type Contributing =
  | "contribute"
  | "registerTool"
  | "registerModelProvider"
  | "registerChannel"
  | "registerEmbeddingAdapter"
  | "registerMemoryBackend"
  | "registerHookPreset"
  | "registerService";
type Communicating = "contributions" | "service" | "emit";
/** Identity, config and what an instance works with. */
type Resources = Omit<PluginContext, Registering | Contributing | Communicating>;

function timersOf(registrar: Registrar, host: Host): Timers {
  const { id } = registrar.identity;
  return createTimers({
    alive: () => registrar.assertAlive(),
    keep: registrar.registrations.keep,
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
  });
}

function kvOf(registrar: Registrar, host: Host): PluginContext["kv"] {
  return createPluginKv(registrar.identity.id, () => {
    registrar.assertAlive();
    const provider = host.contributions.view<KvProvider>("kv").get("store");
    if (!provider) throw commonErrors.serviceUnavailable({ service: "kv" });
    return provider.value;
  });
}

/** Hooks, methods, routes, checks, panels, parts of a reload. */
function registering(registrar: Registrar, host: Host): Pick<PluginContext, Registering> {
  const { id } = registrar.identity;
  const { leases } = registrar;
  let participants = 0;
  const panels = new Set<string>();
  return {
    on: (hook, fn, options) => registrar.tap(hook, fn as TapFunction, options),
    registerRpc: (method) => registrar.checked("rpc", method, () => registrar.addMethod(method as RpcMethod)),
    registerHttpRoute: (given) =>
      registrar.checked("http", given, () => {
        const route = { ...given, handler: (call: HttpCall) => leases.run(() => given.handler(call)) };
        const allow = () => {
          registrar.assertDeclared("http", route.path, (other) => reachesInto(route, other));
          if (route.auth !== "gateway") registrar.assertPermitted("http.public", `route ${route.path}`);
        };
        return registrar.register(allow, () => host.routes.add(route, id, leases.hold));
      }),
    registerHealthCheck: (check) =>
      registrar.checked("check", check, () =>
        registrar.tap("health.collect", async (_, meta) => meta.report(await runHealthCheck(id, check, meta.signal)), undefined),
      ),
    registerDoctorCheck: (check) =>
      registrar.checked("check", check, () =>
        registrar.tap("doctor.collect", async (_, meta) => meta.report(await runDoctorCheck(id, check, meta.signal)), undefined),
      ),
    registerUiPanel: (given) => registrar.checked("uiPanel", given, () => addPanel(registrar, host, { given, own: panels })),
    onReload: (part) =>
      registrar.checked("reload", part, () => {
        const { prefixes, prepare } = part;
        const participant: ReloadParticipant = { prefixes: [...prefixes], prepare: (...args) => prepare.apply(part, args) };
        return registrar.contribute("reload", `${id}/${participants++}`, participant);
      }),
  };
}

/** Values at contribution points. */
function contributing(registrar: Registrar): Pick<PluginContext, Contributing> {
  const { id } = registrar.identity;
  const add = (point: ContributedShape, name: () => string, value: unknown): Disposable =>
    registrar.checked(point, value, () => registrar.contribute(point, name(), value));
  return {
    contribute: (point, name, value) =>
      registrar.contribute(point, name, value, () => {
        const way = Object.hasOwn(closedPoints, point) ? closedPoints[point] : undefined;
        if (way) throw kernelErrors.reservedName({ plugin: id, name: point, owner: way });
        if (point === "kv") registrar.assertDeclared("services", "store@2"); // every plugin's rows are with the plugin that keeps the state
        registrar.assertValid(point, shapeProblem(point, value));
        const given = declaredPoints[point] && ownName(value);
        if (given !== undefined && given !== name && point !== "service") registrar.assertValid(point, `"${name}" calls itself "${given}"`);
      }),
    registerTool: (tool) => add("tool", () => tool.name, tool),
    registerModelProvider: (provider) => add("modelProvider", () => provider.id, provider),
    registerChannel: (channel) => add("channel", () => channel.id, channel),
    registerEmbeddingAdapter: (adapter) => add("embeddingAdapter", () => adapter.id, adapter),
    registerMemoryBackend: (backend) => add("memoryBackend", () => backend.id, backend),
    registerHookPreset: (preset) => add("hookPreset", () => preset.id, preset),
    registerService: (name, impl) => registrar.checked("service", impl, () => registrar.contribute("service", name, impl)),
  };
}

type ContributedShape = "tool" | "modelProvider" | "channel" | "embeddingAdapter" | "memoryBackend" | "hookPreset";

/** Services that need the permission `rpc.admin`. */
const administrators: ReadonlySet<string> = new Set(["config@1", "plugins@1"]);

/** Contributions and services of other plugins, and events for clients. */
function communicating(registrar: Registrar, host: Host): Pick<PluginContext, Communicating> {
  const { id } = registrar.identity;
  const handles = new Map<string, unknown>();
  const services = host.contributions.view<object>("service");
  const serviceNow = (name: string) => {
    const found = services.get(name);
    if (!found) throw commonErrors.serviceUnavailable({ service: name, why: host.whyAbsent?.(name) });
    return found.value;
  };
  return {
    contributions<T>(point: string) {
      const view = host.contributions.view<T>(point);
      if (point === "kv" || point === "reload") return partOf(view, () => false); // rows and parts of other plugins
      return point === "service" ? partOf(view, (name) => !administrators.has(name) || registrar.isPermitted("rpc.admin")) : view;
    },
    service: (name) => {
      registrar.assertAlive();
      if (administrators.has(name)) registrar.assertPermitted("rpc.admin", `service ${name}`);
      const isHere = () => host.contributions.ownerOf("service", name) !== undefined;
      if (!isHere() && !host.activation.waitsAt("service", name)) serviceNow(name);
      const load = () => (isHere() ? undefined : host.activation.usePoint("service", name));
      const handle = handles.get(name) ?? createServiceHandle(() => serviceNow(name), load);
      handles.set(name, handle);
      return handle as never;
    },
    emit: (event, payload, options) => {
      registrar.assertAlive();
      const { origin, manifest } = registrar.identity;
      const isOwn = origin === "bundled" && manifest?.contributes?.events?.includes(event);
      if (isKernelEvent(event) && !isOwn) throw kernelErrors.reservedName({ plugin: id, name: event, owner: "the kernel" });
      if (host.isProtocolEvent(event)) {
        registrar.assertDeclared("events", event);
        host.emit(event, payload, options);
      } else host.emit(`plugin.${id}.${event}`, payload, options);
    },
  };
}

/** `fetch` of one plugin: ends with the plugin, and names it as the user agent unless the caller names another. */
function createPluginFetch(plugin: string, signal: AbortSignal, base: typeof fetch): PluginContext["fetch"] {
  return (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("user-agent")) headers.set("user-agent", `svc-plugin/${plugin}`);
    return base(input, { ...init, headers, signal: init.signal ? AbortSignal.any([signal, init.signal]) : signal });
  };
}

/** The same view without the ids that are not for its reader. */
function partOf<T>(view: ContributionView<T>, isShown: (id: string) => boolean): ContributionView<T> {
  return {
    ready: view.ready,
    watch: view.watch,
    get: (id) => (isShown(id) ? view.get(id) : undefined),
    *[Symbol.iterator]() {
      for (const one of view) if (isShown(one.id)) yield one;
    },
  };
}
