import { createRequire, syncBuiltinESMExports } from "node:module";

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
  const { Socket } = load("node:dgram");
  for (const way of ["bind", "connect", "send"]) Socket.prototype[way] = refused;
  const dns = load("node:dns");
  for (const home of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
    for (const way of Reflect.ownKeys(home)) if (/^(lookup|resolve|reverse)/.test(String(way))) home[way] = refused;
  }
  // Names imported from these modules by code that is compiled natively.
  syncBuiltinESMExports();
}
