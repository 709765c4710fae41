import { isIP } from "node:net";
import type { SvcConfig } from "svc/sdk";
import type { OwnFinding } from "./checks.ts";

/** Finds what is unsafe or missing about the gateway elsewhere that this host is a client of. Pure. */
export function remoteFindings({ mode, remote }: SvcConfig["gateway"]): OwnFinding[] {
  if (mode !== "remote") return [];
  const { url, transport, sshTarget } = remote;
  if (transport === "ssh") {
    if (sshTarget !== undefined) return [];
    return [
      missing("gateway.remote.sshTarget", "no host for the port forward is named", "svc config set gateway.remote.sshTarget user@host"),
    ];
  }
  if (url === undefined) {
    return [
      missing("gateway.remote.url", "no gateway is named, so commands look for one here", "svc config set gateway.remote.url wss://…"),
    ];
  }
  const { protocol, hostname } = new URL(url);
  if (!/^(ws|http):$/.test(protocol) || isPrivate(hostname)) return [];
  return [
    {
      id: "remote/plain-text",
      severity: "warning",
      path: "gateway.remote.url",
      message: `${hostname} is spoken to without encryption: everybody on the way can read the token`,
      fix: "use wss://, or gateway.remote.transport ssh",
    },
  ];
}

function missing(path: string, message: string, fix: string): OwnFinding {
  return { id: "remote/missing", severity: "error", path, message, fix };
}

/** This machine, a private network or a tailnet, which encrypts by itself. */
function isPrivate(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]" || hostname.endsWith(".ts.net")) return true;
  if (isIP(hostname) !== 4) return /^\[f[cd]/i.test(hostname);
  const [a = 0, b = 0] = hostname.split(".").map(Number);
  return a === 127 || a === 10 || (a === 192 && b === 168) || (a === 172 && b >= 16 && b < 32) || (a === 100 && b >= 64 && b < 128);
}
