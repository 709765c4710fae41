import { expandPath } from "../../sdk/agents.ts";
import { commonErrors } from "../../sdk/errors.ts";
import type { CliTarget } from "../../sdk/types/cli.ts";
import type { Env } from "../../sdk/types/common.ts";
import { envValue } from "../process/paths.ts";
import { explicitSecret, parseUrl, type Secrets } from "./named-target.ts";

/** Address of a gateway behind an SSH connection when the config names none: where it listens by default, on the machine at the other end. */
const BEHIND_SSH = "ws://127.0.0.1:18789";

/** Settings that decide about a gateway elsewhere, unchecked. */
export interface RemoteSection {
  mode?: unknown;
  remote?: unknown;
}

interface Around {
  flags: Secrets;
  env: Env;
  configDir: string;
}

/**
 * The gateway that `gateway.remote` names, in `gateway.mode: "remote"`; undefined when this machine's own is meant. It gets secrets that were meant for it:
 * of the command line, of `gateway.remote`, of the environment; never those of this machine's gateway. Pure.
 * @throws {SvcError} `usage` for an address or a port forward that cannot be used
 */
export function remoteTarget({ mode, remote }: RemoteSection, { flags, env, configDir }: Around): CliTarget | undefined {
  if (mode !== "remote" || typeof remote !== "object" || remote === null) return undefined;
  const { url, transport, token, password, sshTarget, sshIdentity, tlsFingerprint } = remote as Record<string, unknown>;
  const isSsh = transport === "ssh";
  if (isSsh && !text(sshTarget)) {
    throw commonErrors.usage({
      message: "gateway.remote.transport is ssh, and gateway.remote.sshTarget names no host; set it to user@host",
    });
  }
  const address = text(url) ?? (isSsh ? BEHIND_SSH : undefined);
  if (address === undefined) return undefined;
  const at = parseUrl("gateway.remote.url", address.replace(/^http/i, "ws"));
  const pinned = text(tlsFingerprint);
  if (isSsh && at.url.startsWith("wss:") && !pinned) {
    const message = "gateway.remote.url is wss:// behind SSH, where its name cannot be checked; set gateway.remote.tlsFingerprint too";
    throw commonErrors.usage({ message });
  }
  const identity = text(sshIdentity);
  return {
    ...at,
    portSource: "remote",
    ...(pinned ? { tlsFingerprint: pinned } : {}),
    ...(isSsh ? { ssh: { target: text(sshTarget) ?? "", ...(identity ? { identity: expandPath(identity, configDir) } : {}) } } : {}),
    ...secretOf({ flags, own: { token: text(token), password: text(password) }, env }),
  };
}

function secretOf({ flags, own, env }: { flags: Secrets; own: Secrets; env: Env }): ReturnType<typeof explicitSecret> {
  if (flags.token || flags.password) return explicitSecret(flags);
  if (own.token || own.password) return explicitSecret(own, "config");
  return explicitSecret({ token: envValue(env, "SVC_GATEWAY_TOKEN"), password: envValue(env, "SVC_GATEWAY_PASSWORD") }, "env");
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
