import { createRequire } from "node:module";

const refused = (): never => {
  throw Object.assign(new Error("network access is switched off here"), { code: "ERR_NETWORK_OFF" });
};

/**
 * Takes the ways to the network away from code that is loaded after this call: `fetch`, connections, look-ups, listeners.
 * Node's permission model (20 to 24) has no such wall; this one stops accidents and plain code, not an attacker with patience.
 */
export function switchOffNetwork(): void {
  const load = createRequire(import.meta.url);
  for (const name of ["fetch", "WebSocket", "EventSource"]) Object.defineProperty(globalThis, name, { value: refused, configurable: true });
  const net = load("node:net");
  net.Socket.prototype.connect = refused;
  net.Server.prototype.listen = refused;
  load("node:dgram").Socket.prototype.bind = refused;
  load("node:dgram").Socket.prototype.send = refused;
  for (const dns of [load("node:dns"), load("node:dns").promises]) {
    for (const key of Object.keys(dns)) if (/^(lookup|resolve|reverse)/.test(key)) dns[key] = refused;
  }
}
