import { join } from "node:path";
import { type ClientDevice, createClient, createNodeDevice, isClientError } from "../../sdk/client/index.ts";
import { commonErrors } from "../../sdk/errors.ts";
import type { CliClient, CliTarget } from "../../sdk/types/cli.ts";
import type { Env } from "../../sdk/types/common.ts";
import { secretHint } from "./secret-hint.ts";
import { isThisMachine } from "./start-advice.ts";

/** A person at the gateway's own machine with its secret may do everything. */
const allScopes = ["operator.admin", "operator.approvals", "operator.pairing", "operator.read", "operator.write"];
/** Connecting to the own machine is a matter of milliseconds; a wrong address must not cost the whole `--timeout`. */
const CONNECT_MS = 5_000;

/** One connection of a command. `timeoutMs` limits each request; dialling has at most 5 s of it. */
export interface ConnectOptions {
  target: CliTarget;
  version: string;
  mode: "cli" | "probe";
  scopes: readonly string[] | undefined;
  caps?: readonly string[] | undefined;
  timeoutMs: number;
  /** Holds this installation's key and tokens, used beyond loopback, where a secret alone does not open. */
  stateDir: string;
  /** Make a key when there is none; a probe never does. */
  newDevice: boolean;
  /** Advice for an address where nothing listens. */
  startAdvice(): Promise<string>;
  /** Why the address does not answer as the gateway of this profile; undefined when that is not known. */
  answerAdvice(): Promise<string | undefined>;
  env: Env;
  signal: AbortSignal;
}

/**
 * Connects once, without reconnecting: a command fails fast.
 * @throws {SvcError} `gateway-unreachable` (field `cause`: `refused`, `timeout`, `not-a-gateway`, `network`), `client-unauthorized`
 *   (field `authReason`)
 */
export async function connectToGateway(options: ConnectOptions): Promise<CliClient> {
  const { target, env, signal } = options;
  const device = deviceFor(options);
  const tunnel = target.ssh && (await (await import("./ssh-tunnel.ts")).openTunnel(target, { env, signal }));
  let ended = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const client = createClient({
    url: tunnel?.url ?? target.url,
    ...(target.tlsFingerprint === undefined ? {} : { tlsFingerprint: target.tlsFingerprint }),
    auth: { ...(target.token ? { token: target.token } : {}), ...(target.password ? { password: target.password } : {}) },
    ...(device ? { device } : {}),
    client: { id: "cli", mode: options.mode, version: options.version, platform: process.platform },
    scopes: options.scopes ?? allScopes,
    caps: options.caps ?? ["tool-events"],
    reconnect: false,
    onState({ state }) {
      if (state !== "closed" && state !== "refused") return;
      void tunnel?.close();
      ended();
    },
    handshakeTimeoutMs: Math.min(options.timeoutMs, CONNECT_MS),
    requestTimeoutMs: options.timeoutMs,
  });
  const hello = await client.connect().catch(async (error: unknown) => {
    await tunnel?.close();
    throw await explain(error, options);
  });
  return {
    hello,
    request: client.request,
    on: client.on,
    closed,
    async close() {
      await client.close();
      await tunnel?.close();
    },
  };
}

/** Only who means to work with a gateway gets a key made; a probe looks and leaves nothing behind. */
function deviceFor({ target, mode, newDevice, stateDir }: ConnectOptions): ClientDevice | undefined {
  return isThisMachine(target.host)
    ? undefined
    : createNodeDevice({ path: join(stateDir, "identity", "device.json"), gateway: target.url, create: newDevice && mode !== "probe" });
}

async function explain(error: unknown, { target, startAdvice, answerAdvice }: ConnectOptions): Promise<unknown> {
  if (!isClientError(error)) return error;
  if (error.code === "gateway-unreachable" || error.code === "connection-closed") {
    const reason = error.message.replace(/^gateway not reachable at \S+: /, "");
    const cause = (error.details?.code === undefined ? error.details?.reason : undefined) ?? "network";
    // A start would not help while somebody else holds the port.
    const held = cause === "refused" ? undefined : await answerAdvice();
    const advice = held ?? (cause === "timeout" ? "it may be hanging; see svc gateway status and the log" : await startAdvice());
    return commonErrors.gatewayUnreachable({ url: target.url, reason, cause, advice }, { cause: error });
  }
  const hint = (error.detailCode?.startsWith("AUTH_") ? await answerAdvice() : undefined) ?? secretHint(error, target);
  const authReason = error.details !== undefined && "authReason" in error.details ? error.details.authReason : undefined;
  const fields = { message: error.message, authReason: authReason ?? error.detailCode ?? error.code, hint };
  return commonErrors.clientUnauthorized(fields, { cause: error });
}
