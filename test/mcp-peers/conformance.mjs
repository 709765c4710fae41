// Preloaded into the conformance suite 0.1.16, which imports `fs.globSync`: Node 20 has none, and only its check of repositories calls it.
// To be removed with the first version of the suite that runs on Node 20 by itself, or when Node 20 is not supported any more.
import { register } from "node:module";
import { Server } from "node:net";

const hooks = `export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.endsWith("/@modelcontextprotocol/conformance/dist/index.js")) return loaded;
  const source = String(loaded.source);
  const name = /globSync as ([\\w$]+),/.exec(source)[1];
  return { ...loaded, source: source.replace(\`globSync as \${name},\`, "") + "\\nfunction " + name + "() { return []; }\\n" };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

// Its servers would listen on every address, and ask for their port at once: a name to look up, as an address is one too, would come too late for that.
Server.prototype.listen = function listenOnLoopback(_port, ...rest) {
  const onListening = rest.find((one) => typeof one === "function");
  if (onListening) this.once("listening", onListening);
  this._listen2("127.0.0.1", 0, 4, 511);
  return this;
};
