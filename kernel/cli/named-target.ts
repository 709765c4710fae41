import { commonErrors } from "../../sdk/errors.ts";
import type { CliTarget } from "../../sdk/types/cli.ts";

/** Secrets as somebody gave them. */
export type Secrets = { token: string | undefined; password: string | undefined };
/** The secret of a target, and where it comes from. */
export type Chosen = Pick<CliTarget, "token" | "password" | "secretSource" | "authMode">;

/** Secrets that were named by hand, or by the environment. */
export function explicitSecret({ token, password }: Secrets, source: "flag" | "config" | "env" = "flag"): Chosen {
  const secretSource = token || password ? source : "none";
  return { ...(token ? { token } : {}), ...(password ? { password } : {}), secretSource };
}

/** @throws {SvcError} `usage` when it is no WebSocket address */
export function parseUrl(name: string, text: string): { url: string; host: string; port: number } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^wss?:$/.test(url.protocol)) {
    throw commonErrors.usage({ message: `${name}: expected ws://host:port or wss://host, got "${text}"` });
  }
  if (url.username !== "" || url.password !== "") {
    throw commonErrors.usage({ message: `${name}: expected an address without user and password; secrets go into --token or --password` });
  }
  return { url: url.href.replace(/\/$/, ""), host: url.hostname, port: Number(url.port) || (url.protocol === "wss:" ? 443 : 80) };
}
