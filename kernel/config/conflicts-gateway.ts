import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Conflict } from "./conflict.ts";

/** Rules within `gateway`. */
export function gatewayConflicts({ gateway, plugins }: SvcConfig): Conflict[] {
  return [...authConflicts(gateway), ...listenerConflicts(gateway), ...publisherConflicts(gateway, plugins)];
}

/** Publishing is the work of a plugin; without it the mode would have no effect. */
function publisherConflicts({ tailscale }: SvcConfig["gateway"], plugins: SvcConfig["plugins"]): Conflict[] {
  const isOff = plugins.enabled === false || plugins.entries.tailscale?.enabled === false || plugins.deny.includes("tailscale");
  const isListed = plugins.allow === undefined || plugins.allow.includes("tailscale");
  if (tailscale.mode === "off" || (!isOff && isListed)) return [];
  return [
    {
      path: ["gateway", "tailscale", "mode"],
      message: `tailscale mode "${tailscale.mode}" needs the plugin tailscale, which is switched off`,
      hint: 'let it run (plugins.entries.tailscale, plugins.allow, plugins.deny), or set tailscale.mode: "off"',
    },
  ];
}

function authConflicts({ auth, trustedProxies }: SvcConfig["gateway"]): Conflict[] {
  const conflicts: Conflict[] = [];
  if (auth.token && auth.password && !auth.mode) {
    conflicts.push({
      path: ["gateway", "auth"],
      message: "both token and password are set; expected an explicit gateway.auth.mode",
      hint: 'add mode: "token" or mode: "password"',
    });
  }
  if (auth.mode !== "trusted-proxy") return conflicts;
  const at = ["gateway", "auth", "mode"];
  if (trustedProxies.length === 0) {
    conflicts.push({
      path: at,
      message: 'mode "trusted-proxy" needs gateway.trustedProxies',
      hint: 'list the address of the proxy, such as trustedProxies: ["10.0.0.2"]',
    });
  }
  if (!auth.trustedProxy.userHeader) {
    conflicts.push({
      path: at,
      message: 'mode "trusted-proxy" needs gateway.auth.trustedProxy.userHeader',
      hint: "name the header in which the proxy puts the user",
    });
  }
  if (auth.token) {
    conflicts.push({
      path: ["gateway", "auth", "token"],
      message: 'a token has no meaning with mode "trusted-proxy"',
      hint: 'remove the token, or set mode: "token"',
    });
  }
  return conflicts;
}

function listenerConflicts(gateway: SvcConfig["gateway"]): Conflict[] {
  const { bind, customBindHost, tailscale, tls, auth } = gateway;
  const conflicts: Conflict[] = [];
  if (bind === "custom" && !customBindHost) {
    conflicts.push({
      path: ["gateway", "bind"],
      message: 'bind "custom" needs gateway.customBindHost',
      hint: 'add customBindHost: "<IPv4 address of this machine>"',
    });
  }
  if (tailscale.mode !== "off" && bind !== undefined && bind !== "loopback") {
    conflicts.push({
      path: ["gateway", "tailscale", "mode"],
      message: `tailscale mode "${tailscale.mode}" needs bind "loopback", and bind is "${bind}"`,
      hint: 'set gateway.bind: "loopback", or tailscale.mode: "off"',
    });
  }
  if (tailscale.mode === "funnel" && auth.mode !== "password") {
    conflicts.push({
      path: ["gateway", "tailscale", "mode"],
      message: 'tailscale mode "funnel" needs gateway.auth.mode "password"',
      hint: "the port is open to the internet then",
    });
  }
  if (tls.enabled && !tls.certPath && !tls.keyPath) {
    conflicts.push({
      path: ["gateway", "tls", "enabled"],
      message: "TLS needs gateway.tls.certPath and gateway.tls.keyPath",
      hint: "name the files of the certificate and its key, or set enabled: false",
    });
  }
  for (const [given, missing] of [["certPath", "keyPath"] as const, ["keyPath", "certPath"] as const]) {
    if (tls[given] && !tls[missing]) {
      conflicts.push({
        path: ["gateway", "tls", given],
        message: `${given} needs gateway.tls.${missing}`,
        hint: "a certificate and its key go together",
      });
    }
  }
  if (gateway.channelStaleEventThresholdMinutes < gateway.channelHealthCheckMinutes) {
    conflicts.push({
      path: ["gateway", "channelStaleEventThresholdMinutes"],
      message: `expected at least gateway.channelHealthCheckMinutes (${gateway.channelHealthCheckMinutes})`,
      hint: "a silence shorter than the check interval cannot be seen",
    });
  }
  return conflicts;
}
