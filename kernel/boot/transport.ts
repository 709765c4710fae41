import { networkInterfaces } from "node:os";
import { sharedErrors } from "../../sdk/internal/errors.ts";
import { limits } from "../../sdk/protocol/frames.ts";
import type { Env } from "../../sdk/types/common.ts";
import type { Devices } from "../../sdk/types/devices.ts";
import { isLoopback } from "../auth/address-ranges.ts";
import { type ClientPolicy, createClientPolicy } from "../auth/client-policy.ts";
import { isTailnetAllowed } from "../auth/resolve-auth.ts";
import { createTailnetIdentity } from "../auth/tailnet/identity.ts";
import { createWhois } from "../auth/tailnet/whois.ts";
import { protocolErrors } from "../errors.ts";
import { findDownOwner } from "../loader/plugins-down.ts";
import { isAtLeast } from "../operations/memory-pressure.ts";
import { createThrottle } from "../port/fanout/throttle.ts";
import { admitClient } from "../port/handshake.ts";
import { createHello } from "../port/hello.ts";
import { createHttpHandler } from "../port/http.ts";
import type { Listeners } from "../port/listen.ts";
import { createSockets } from "../port/sockets.ts";
import type { StartupGate } from "../port/startup-gate.ts";
import { envValue } from "../process/paths.ts";
import type { Core } from "./core.ts";

/** Longest pause between two presence events; below that, one millisecond for each subscriber. */
const PRESENCE_PAUSE_MS = 2_000;

/** A plugin that declares `*` answers every path that no other plugin does: a page of its own, at the root. */
function isRouteFor(declared: string, path: string): boolean {
  return declared === "*" ? path === "/" : path === declared || path.startsWith(`${declared}/`);
}

/** The listener and the connections that came through it. */
export interface Transport {
  /** Undefined when the gateway does not listen. */
  readonly listeners: Listeners | undefined;
  /** Accepts no more connections, closes every socket with a reason, ends requests that are still being read. */
  close(restart: boolean): Promise<void>;
}

/** Serves requests from now on; a path whose plugin is still loading answers 503. */
export function startTransport(
  core: Core,
  { listeners, startupGate }: { listeners: Listeners | undefined; startupGate: StartupGate },
): Transport {
  const { plan, logger, hooks, health, config, clock } = core;
  const stopped = new AbortController();
  const clientPolicy = createClientPolicy({
    config,
    mode: plan.auth.mode,
    loopbackOnly: plan.bind.loopbackOnly,
    port: listeners?.port ?? plan.port,
    isSecure: plan.tls !== undefined,
    now: clock.monotonic,
    interfaces: networkInterfaces,
    publishedOrigins: core.published.list,
    ...(listeners && { certificateNames: listeners.certificateNames }),
  });
  const { sockets, presenceThrottle } = openSockets(core, clientPolicy, (open) => listeners?.hasRoom(open) ?? true);
  const handler = createHttpHandler({
    clientPolicy,
    routes: core.routes,
    activation: core.activation,
    authenticator: core.authenticator,
    probe: {
      phase: () => core.phase,
      notReady: () => core.notReady,
      detail: () => ({
        failing: health.failing(),
        problems: health.problems(),
        uptimeMs: core.uptimeMs(),
        eventLoop: core.eventLoop.figures(),
      }),
    },
    down: (path) => findDownOwner(core.lazy().loader, "http", (declared) => isRouteFor(declared, path)),
    hooks,
    telemetry: core.telemetry,
    logger,
    isHookPath(path) {
      const base = config().hooks.path;
      return path === base || path.startsWith(`${base}/`);
    },
    hsts: () => core.config().gateway.http.securityHeaders.strictTransportSecurity || undefined,
    stopSignal: stopped.signal,
  });
  startupGate.open({ handler, upgrade: sockets.upgrade });
  return {
    listeners,
    async close(restart) {
      stopped.abort(sharedErrors.draining());
      const closing = listeners?.close();
      const [code, reason] = restart ? ([1012, "service restart"] as const) : ([1001, "gateway stopping"] as const);
      await sockets.closeAll({ code, reason, graceMs: limits.closeTimeoutMs });
      presenceThrottle.dispose();
      await closing;
    },
  };
}

function openSockets(core: Core, clientPolicy: ClientPolicy, hasRoom: (open: number) => boolean) {
  const { options, plan, methods, fanout, logger, presence, hooks, health, stateVersion, authenticator, uptimeMs, config } = core;
  const hello = createHello({
    version: options.version,
    paths: options.paths,
    plan,
    config,
    uptimeMs,
    methods,
    pluginEvents: [...core.lazy().eventRows.keys()],
    presence,
    health,
    hooks,
    stateVersion,
  });
  const tailnet = createTailnetIdentity({
    isAllowed: () => isTailnetAllowed(config().gateway),
    whois: createWhois({ env: plan.loaded.env, now: core.clock.monotonic, onProblem: (text) => logger.warn(text) }),
  });
  const keeper = { devices: core.devices, standing: core.deviceConnections.standing };
  const { basePath } = plan.config.gateway.controlUi;
  let announced = presence.version();
  const announcePresence = () => {
    if (announced === presence.version()) return;
    announced = presence.version();
    fanout.emit("presence", { presence: presence.list() }, { stateVersion: stateVersion() });
  };
  // Presence is quadratic in a storm of reconnects, so it is throttled.
  const presenceThrottle = createThrottle(announcePresence, () => Math.min(PRESENCE_PAUSE_MS, fanout.size()));
  presence.watch(presenceThrottle.request);
  const sockets = createSockets({
    paths: new Set(["/", basePath, `${basePath.replace(/\/$/, "")}/`]),
    methods,
    fanout,
    logger,
    phase: () => core.phase,
    monotonic: (options.clock ?? core.clock).monotonic,
    handshakeTimeoutMs: handshakeTimeout(options.env),
    clientPolicy,
    hasRoom,
    // A person at this machine may have come to look what is wrong.
    isShed: (req) => isAtLeast(core.pressure.stage(), "work") && !isLoopback(clientPolicy.callerOf(req).address),
    async admit(params, req, nonce) {
      const { info, connect, issued, rights } = await admitClient(params, { req, nonce }, { authenticator, clientPolicy, keeper, tailnet });
      const gate = await hooks.run("ws.connect", { client: info, scopes: info.scopes });
      if (gate.block) throw protocolErrors.blocked({ reason: gate.reason, plugin: gate.plugin });
      presence.joined(info, connect);
      return { info, hello: await hello(info, issued), rights };
    },
    joined: presenceThrottle.request,
    left(info, code, reason) {
      if (presence.left(info)) presenceThrottle.request();
      if (info.deviceId !== undefined) core.contributions.view<Devices>("service").get("devices@1")?.value.seen(info.deviceId);
      if (hooks.isUsed("ws.disconnect")) void hooks.run("ws.disconnect", { client: info, code, reason });
    },
  });
  return { sockets, presenceThrottle };
}

function handshakeTimeout(env: Env): number {
  const ms = Number(envValue(env, "SVC_HANDSHAKE_TIMEOUT_MS"));
  return Number.isInteger(ms) && ms >= 1_000 && ms <= 120_000 ? ms : limits.handshakeTimeoutMs;
}
