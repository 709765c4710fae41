import { dirname, join } from "node:path";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import type { CliTarget, CliValues } from "../../sdk/types/cli.ts";
import type { Env } from "../../sdk/types/common.ts";
import { resolveAuth } from "../auth/resolve-auth.ts";
import { readLockOwner } from "../process/lock.ts";
import { envValue, type ProfilePaths, resolvePort } from "../process/paths.ts";
import { type Chosen, explicitSecret, parseUrl, type Secrets } from "./named-target.ts";
import { type RemoteSection, remoteTarget } from "./remote-target.ts";

type ResolvableConfig = NonNullable<Parameters<typeof resolveAuth>[0]["config"]>;

/** Everything that decides about the target. */
export interface TargetQuestion {
  values: CliValues;
  env: Env;
  paths: ProfilePaths;
  /** The config as data, unchecked, with includes, variables and secrets in place; may throw. */
  readConfig(path: string): Promise<unknown>;
}

/**
 * Where a command connects to and with which secret: by the server's own rules, so that both always agree. An address that was named by
 * hand gets only secrets that were named by hand.
 * @throws {SvcError} `usage` for a bad address
 */
export async function resolveTarget(question: TargetQuestion): Promise<CliTarget> {
  const { values, env } = question;
  const flags = { token: text(values.token), password: text(values.password) };
  const urlFlag = text(values.url);
  if (urlFlag) return { ...parseUrl("--url", urlFlag), portSource: "flag", ...explicitSecret(flags) };
  const envUrl = envValue(env, "SVC_GATEWAY_URL");
  if (envUrl && values.port === undefined) {
    const fromEnv = { token: envValue(env, "SVC_GATEWAY_TOKEN"), password: envValue(env, "SVC_GATEWAY_PASSWORD") };
    const secret = flags.token || flags.password ? explicitSecret(flags) : explicitSecret(fromEnv, "env");
    return { ...parseUrl("SVC_GATEWAY_URL", envUrl), portSource: "env", ...secret };
  }
  const gateway = await gatewaySection(question);
  const elsewhere =
    values.port === undefined ? remoteTarget(gateway, { flags, env, configDir: dirname(question.paths.configPath) }) : undefined;
  if (elsewhere) return elsewhere;
  // A gateway sees the variables of its config too, below those that are set.
  const seen = { ...question, env: { ...gateway.vars, ...env } };
  const { port, portSource } = await localPort(seen, gateway);
  const host = "127.0.0.1"; // every bind mode listens there
  const tlsFingerprint = await localFingerprint(seen, gateway);
  const scheme = tlsFingerprint === undefined ? "ws" : "wss";
  const secret = await localSecret(seen, gateway, flags);
  return {
    url: `${scheme}://${host}:${port}`,
    host,
    port,
    portSource,
    ...(tlsFingerprint === undefined ? {} : { tlsFingerprint }),
    ...secret,
  };
}

/** Flag and environment first, then where this profile's live gateway says it listens, then config and default. */
async function localPort(
  { values, env, paths }: TargetQuestion,
  { port: configured }: GatewaySection,
): Promise<{ port: number; portSource: CliTarget["portSource"] }> {
  const flag = typeof values.port === "number" ? values.port : undefined;
  const resolved = resolvePort({ flag, env, config: typeof configured === "number" ? configured : undefined, profile: paths.profile });
  const isNamed = resolved.port !== 0 && (resolved.source === "flag" || resolved.source === "env"); // 0 lets the system choose
  if (isNamed) return { port: resolved.port, portSource: resolved.source };
  const owner = await readLockOwner(paths.stateDir);
  return owner?.port ? { port: owner.port, portSource: "lock" } : { port: resolved.port, portSource: resolved.source };
}

async function localSecret({ env, paths }: TargetQuestion, gateway: GatewaySection, flags: Secrets): Promise<Chosen> {
  const auth = resolveAuth({ config: { gateway } as unknown as ResolvableConfig, env });
  const { mode: authMode } = auth;
  if (flags.token || flags.password) return { ...explicitSecret(flags), authMode };
  if (auth.secret) return { [authMode === "token" ? "token" : "password"]: auth.secret, secretSource: auth.source, authMode };
  // Left there by a gateway that was started without a secret (kernel/boot/start-plan.ts).
  const runtime = await readRegularFile(join(paths.stateDir, "gateway", "runtime-token"), { maxBytes: 4_096 }).then(
    String,
    () => undefined,
  );
  if (!runtime) return { secretSource: "none", authMode };
  return { [authMode === "password" ? "password" : "token"]: runtime.trim(), secretSource: "runtime", authMode };
}

/** The certificate this machine's gateway serves; its names need not say 127.0.0.1. */
async function localFingerprint({ env, paths }: TargetQuestion, { tls }: GatewaySection): Promise<string | undefined> {
  const owner = tls.enabled ? undefined : await readLockOwner(paths.stateDir);
  if (!tls.enabled && !owner?.localTls) return undefined;
  const { localTlsPaths, readTlsFiles, tlsPaths } = await import("../port/tls-files.ts");
  const files = tls.enabled ? tlsPaths(tls, { env, configDir: dirname(paths.configPath) }) : localTlsPaths(paths.stateDir);
  return files && (await readTlsFiles(files)).fingerprint;
}

interface GatewaySection extends RemoteSection {
  port?: unknown;
  auth: object;
  tls: { enabled?: boolean; certPath?: string; keyPath?: string };
  vars: Env;
}

/**
 * The `gateway` section, without the schema: checking it is the gateway's business, and a file that became invalid must not
 * cut the operator off from a gateway that runs.
 */
async function gatewaySection({ paths, readConfig }: TargetQuestion): Promise<GatewaySection> {
  const source = await readConfig(paths.configPath).catch(() => undefined);
  const { gateway, env } = (source ?? {}) as {
    gateway?: { port?: unknown; auth?: unknown; tls?: GatewaySection["tls"]; mode?: unknown; remote?: unknown };
    env?: { vars?: Env };
  };
  const { port, mode, remote, auth, tls } = gateway ?? {};
  return { port, mode, remote, auth: typeof auth === "object" && auth !== null ? auth : {}, tls: tls ?? {}, vars: env?.vars ?? {} };
}

/** Does it take more than this text to know a config's `gateway` section: another file, a variable or a secret kept elsewhere? */
export function isIndirect(authored: unknown): boolean {
  const { $include, gateway, env } = (authored ?? {}) as { $include?: unknown; gateway?: unknown; env?: unknown };
  return $include !== undefined || /\$include|\$\{|"source"/.test(JSON.stringify([gateway, env]));
}

function text(value: CliValues[string]): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
