import type { IncomingMessage } from "node:http";
import { SvcError } from "../sdk/errors.ts";
import { type Env, envValue } from "../sdk/host/paths.ts";
import { limits } from "../sdk/protocol/frames.ts";
import { allowedOrigins, isKnownHost, isOriginAllowed } from "./auth/origins.ts";
import { remoteOf } from "./auth/remote.ts";
import type { Core } from "./core.ts";
import { createHello } from "./hello.ts";
import { admitClient } from "./port/handshake.ts";
import { createHttpHandler } from "./port/http.ts";
import type { Listeners } from "./port/listen.ts";
import { createSockets } from "./port/sockets.ts";
import type { Vestibule } from "./port/vestibule.ts";

/** The port and everybody who came through it. */
export interface Doors {
  /** Undefined when the gateway does not listen. */
  readonly listeners: Listeners | undefined;
  /** Takes no more connections, says goodbye on every socket, ends requests that are still read. */
  close(restart: boolean): Promise<void>;
}

/** Lets everybody in from now on, with 503 where a plugin has to come first. */
export function openDoors(core: Core, { listeners, vestibule }: { listeners: Listeners | undefined; vestibule: Vestibule }): Doors {
  const { plan, logger, hooks, health } = core;
  const stopped = new AbortController();
  const questions = callerQuestions(core, listeners?.port ?? plan.port);
  const sockets = openSockets(core, questions);
  const handler = createHttpHandler({
    ...questions,
    routes: core.routes,
    activation: core.activation,
    authenticator: core.authenticator,
    probe: {
      phase: () => core.phase,
      detail: () => ({ failing: health.failing(), uptimeMs: core.uptimeMs(), eventLoop: health.eventLoop() }),
    },
    hooks,
    logger,
    hsts: () => core.config().gateway.http.securityHeaders.strictTransportSecurity || undefined,
    stopSignal: stopped.signal,
  });
  vestibule.open({ handler, upgrade: sockets.upgrade });
  return {
    listeners,
    async close(restart) {
      stopped.abort(new SvcError("draining"));
      const closing = listeners?.close();
      const [code, reason] = restart ? ([1012, "gateway restarting"] as const) : ([1001, "gateway stopping"] as const);
      await sockets.closeAll({ code, reason, graceMs: 2_000 });
      await closing;
    },
  };
}

interface CallerQuestions {
  isOriginAllowed(origin: string, req: IncomingMessage): boolean;
  isHostKnown(req: IncomingMessage): boolean;
}

function callerQuestions({ plan, config }: Core, port: number): CallerQuestions {
  return {
    isOriginAllowed: (origin, req) =>
      isOriginAllowed({
        origin,
        host: req.headers.host,
        address: remoteOf(req).address,
        allowed: allowedOrigins(config(), plan.bind, port),
      }),
    // Without a secret the `Host` is all that tells a page on a rebound name from a local caller (`security.md` B-03).
    isHostKnown: (req) => plan.auth.mode !== "none" || isKnownHost(req.headers.host),
  };
}

function openSockets(core: Core, { isOriginAllowed: originAllowed, isHostKnown }: CallerQuestions) {
  const { options, plan, methods, fanout, logger, presence, hooks, health, stateVersion, authenticator, uptimeMs, config } = core;
  const hello = createHello({
    ...{ version: options.version, paths: options.paths, plan, config, uptimeMs, methods, presence, health, hooks, stateVersion },
  });
  const { basePath } = plan.config.gateway.controlUi;
  let announced = presence.version();
  const announcePresence = () => {
    if (announced === presence.version()) return;
    announced = presence.version();
    fanout.emit("presence", { presence: presence.list() }, { stateVersion: stateVersion() });
  };
  return createSockets({
    paths: new Set(["/", basePath, `${basePath.replace(/\/$/, "")}/`]),
    methods,
    fanout,
    logger,
    phase: () => core.phase,
    handshakeTimeoutMs: handshakeTimeout(options.env),
    isHostKnown,
    async admit(params, req) {
      const { params: connect, revoked, ...info } = await admitClient(params, req, { authenticator, isOriginAllowed: originAllowed });
      const gate = await hooks.run("ws.connect", { client: info, scopes: info.scopes });
      if (gate.block) throw new SvcError("blocked", { reason: gate.reason, plugin: gate.plugin });
      presence.joined(info, connect);
      return { info, hello: await hello(info), revoked };
    },
    joined: announcePresence,
    left(info, code, reason) {
      if (presence.left(info)) announcePresence();
      if (hooks.isUsed("ws.disconnect")) void hooks.run("ws.disconnect", { client: info, code, reason });
    },
  });
}

function handshakeTimeout(env: Env): number {
  const ms = Number(envValue(env, "SVC_HANDSHAKE_TIMEOUT_MS"));
  return Number.isInteger(ms) && ms >= 1_000 && ms <= 120_000 ? ms : limits.handshakeTimeoutMs;
}
