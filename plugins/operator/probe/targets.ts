import type { CliContext, CliTarget } from "svc/sdk";
import { siblingGateways } from "./siblings.ts";

/** Gateway that this host could mean. */
export interface ProbeTarget {
  /** `explicit`, `remote`, `local`, or `profile:<name>`. */
  id: string;
  connection: CliTarget;
  /** The process that holds the lock of a sibling; two pids are two gateways. */
  pid?: number;
}

/** Targets in the order in which they count: a named address, the remote of the config, this profile's own port, ports of gateways of other profiles. */
export async function probeTargets(cli: CliContext): Promise<ProbeTarget[]> {
  const [named, local, remote, siblings, owner] = await Promise.all([
    cli.target(),
    localTarget(cli),
    remoteTarget(cli),
    siblingGateways(cli),
    cli.lockOwner(),
  ]);
  const isNamed = named.url !== local.url;
  const all: ProbeTarget[] = [
    ...(isNamed ? [{ id: "explicit", connection: named }] : []),
    ...(remote ? [{ id: "remote", connection: remote }] : []),
    { id: "local", connection: isNamed ? local : named, ...(owner && owner.port === local.port ? { pid: owner.pid } : {}) },
    ...siblings.map(({ profile, port, pid }) => {
      const url = `ws://127.0.0.1:${port}`;
      const connection: CliTarget = { ...local, url, host: "127.0.0.1", port, portSource: "lock" };
      return { id: `profile:${profile}`, connection, pid };
    }),
  ];
  return all.filter(({ connection }, i) => all.findIndex((one) => one.connection.url === connection.url) === i);
}

/** The target of this profile's own gateway: where its lock or the next start says. Secrets of the command line are for the address that it names. */
async function localTarget(cli: CliContext): Promise<CliTarget> {
  const target = await cli.target();
  const isHere = target.host === "127.0.0.1" && target.portSource !== "flag";
  if (isHere) return target;
  const owner = await cli.lockOwner();
  const port = owner?.port ?? (await cli.ports.ofNextStart()).port;
  const { token: _token, password: _password, tlsFingerprint: _pin, ...rest } = target;
  return {
    ...rest,
    url: `ws://127.0.0.1:${port}`,
    host: "127.0.0.1",
    port,
    portSource: owner?.port ? "lock" : "config",
    ...(await ownSecret(cli)),
  };
}

async function ownSecret(cli: CliContext): Promise<Pick<CliTarget, "token" | "password" | "secretSource">> {
  const { gateway } = ((await cli.config()).config ?? {}) as { gateway?: { auth?: { token?: unknown; password?: unknown } } };
  const token = gateway?.auth?.token ?? cli.env.SVC_GATEWAY_TOKEN;
  const password = gateway?.auth?.password ?? cli.env.SVC_GATEWAY_PASSWORD;
  if (typeof token === "string") return { token, secretSource: "config" };
  return typeof password === "string" ? { password, secretSource: "config" } : { secretSource: "none" };
}

async function remoteTarget(cli: CliContext): Promise<CliTarget | undefined> {
  const { gateway } = ((await cli.config()).config ?? {}) as { gateway?: { remote?: Record<string, unknown> } };
  const { url, token, password, tlsFingerprint } = gateway?.remote ?? {};
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const at = new URL(url.replace(/^http/, "ws"));
  return {
    url: at.href.replace(/\/$/, ""),
    host: at.hostname,
    port: Number(at.port) || (at.protocol === "wss:" ? 443 : 80),
    portSource: "config",
    secretSource: token === undefined && password === undefined ? "none" : "config",
    ...(typeof token === "string" ? { token } : {}),
    ...(typeof password === "string" ? { password } : {}),
    ...(typeof tlsFingerprint === "string" ? { tlsFingerprint } : {}),
  };
}
