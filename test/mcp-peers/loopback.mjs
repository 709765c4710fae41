// Preloaded into a server that would listen on every address: it gets a free port, or PORT, of the loopback interface, and says which.
import { Server } from "node:net";

const { listen } = Server.prototype;
Server.prototype.listen = function listenOnLoopback(port, ...rest) {
  this.once("listening", () => process.stderr.write(`listening on 127.0.0.1:${this.address().port}\n`));
  return listen.call(
    this,
    { port: Number(port) || 0, host: "127.0.0.1" },
    rest.find((one) => typeof one === "function"),
  );
};
