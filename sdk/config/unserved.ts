import { type ConfigIssue, inFileOrder } from "./issues.ts";
import type { Locate } from "./place.ts";
import type { SvcConfig } from "./root.ts";

interface Unserved {
  path: string[];
  /** Is the setting in force? */
  isSet(gateway: SvcConfig["gateway"]): boolean;
  message: string;
  hint: string;
}

/** Settings that decide who gets in, and that this version cannot keep: ignoring one would open a door the operator believes shut. */
const unserved: readonly Unserved[] = [
  {
    path: ["gateway", "auth", "mode"],
    isSet: ({ auth }) => auth.mode === "trusted-proxy",
    message: 'mode "trusted-proxy" is not served by this version; expected token, password or none',
    hint: 'use mode "token" and let the proxy add the token',
  },
  {
    path: ["gateway", "tls", "enabled"],
    isSet: ({ tls }) => tls.enabled,
    message: "TLS is not served by this version; expected false",
    hint: "let a proxy in front of the gateway serve TLS",
  },
  {
    path: ["gateway", "tailscale", "mode"],
    isSet: ({ tailscale }) => tailscale.mode !== "off",
    message: "publishing by tailscale is not served by this version; expected off",
    hint: "run tailscale serve beside the gateway",
  },
];

/** Issues for settings this version cannot serve: refused at start and at a reload, never ignored. */
export function unservedIssues({ gateway }: SvcConfig, file: string, locate: Locate): ConfigIssue[] {
  const found = unserved.filter(({ isSet }) => isSet(gateway));
  const issues = found.map(
    ({ path, message, hint }): ConfigIssue => ({ path: path.join("."), code: "invalid_value", message, hint, file, ...locate(path) }),
  );
  return inFileOrder(issues, file);
}
