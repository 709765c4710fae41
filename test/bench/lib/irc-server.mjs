import { once } from "node:events";
import { createServer } from "node:net";

/** A server that knows as much of IRC as a client needs to write and to be written to; it tells at once what its sockets read. */
export async function startIrcServer() {
  const clients = new Map();
  const waiting = new Map();
  const server = createServer((socket) => {
    let rest = "";
    let nick = "";
    const send = (line) => socket.write(`${line}\r\n`);
    const take = (line) => {
      const [command, first = ""] = line.split(" ");
      if (command === "CAP" && first === "LS") send(":s CAP * LS :");
      else if (command === "NICK") nick = first.replace(/^:/, "");
      else if (command === "USER") {
        send(`:s 001 ${nick} :Welcome ${nick}!u@h`);
        send(`:s 005 ${nick} CHANTYPES=# CASEMAPPING=ascii :are supported`);
        send(`:s 422 ${nick} :no motd`);
        clients.set(nick, send);
      } else if (command === "PING") send(`:s PONG s :${line.slice(5).replace(/^:/, "")}`);
      else if (command === "PRIVMSG") {
        waiting.get(first)?.({ at: performance.now(), text: line.slice(line.indexOf(" :") + 2) });
        waiting.delete(first);
      }
    };
    socket.setNoDelay(true);
    socket.setEncoding("utf8");
    socket.on("error", () => undefined);
    socket.on("close", () => clients.delete(nick));
    socket.on("data", (packet) => {
      const lines = (rest + packet).split("\n");
      rest = lines.pop();
      for (const line of lines) take(line.replace(/\r$/, ""));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: server.address().port,
    /** Nicks that are linked. */
    linked: () => [...clients.keys()],
    /** Somebody writes to a client and waits for what it answers. */
    ask(nick, from, text) {
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`${nick} did not answer ${from}`)), 120_000);
        waiting.set(from, (answer) => {
          clearTimeout(late);
          resolve(answer);
        });
        clients.get(nick)(`:${from}!u@h PRIVMSG ${nick} :${text}`);
      });
    },
    close: () => server.close(),
  };
}
