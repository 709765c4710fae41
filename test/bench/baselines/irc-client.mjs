// The least code that answers people on IRC with what a model says: `irc-client.mjs <irc port> <vendor url> <links>`.
import { connect } from "node:net";

const [port, vendor, links] = process.argv.slice(2);
for (let n = 0; n < Number(links); n += 1) {
  const socket = connect({ port: Number(port), host: "127.0.0.1" });
  let rest = "";
  socket.setNoDelay(true);
  socket.setEncoding("utf8");
  socket.write(`NICK bare${n}\r\nUSER bare 0 * :bare\r\n`);
  socket.on("data", (packet) => {
    const lines = (rest + packet).split("\r\n");
    rest = lines.pop();
    for (const line of lines) {
      const said = /^:([^!]+)!\S+ PRIVMSG \S+ :(.*)$/.exec(line);
      if (said) void answer(socket, said[1], said[2]);
    }
  });
}

async function answer(socket, to, content) {
  const body = JSON.stringify({ model: "one", stream: true, messages: [{ role: "user", content }] });
  const response = await fetch(`${vendor}/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await response.text();
  const words = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, word]) => word).join("");
  socket.write(`PRIVMSG ${to} :${words}\r\n`);
}
