/**
 * `npm run bench:profile -- <load> [--seconds=5] [--top=25] [--root=FOLDER] [--save=FILE]`: where the gateway's CPU goes under one load of the bench.
 * Loads: chat, turns, models, embeddings-base64, embeddings-float. `--root` profiles another
 * build, with the load of this one; `--save` keeps the profile for the tools of a browser.
 */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { get } from "./lib/http.mjs";
import { loads, openLoad } from "./lib/loads.mjs";
import { cpuMs, freePort } from "./lib/process.mjs";
import { byFunction, bySubject } from "./lib/profile-shares.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "5" },
    top: { type: "string", default: "25" },
    root: { type: "string" },
    save: { type: "string" },
  },
});
const [name = "chat"] = positionals;
if (!loads.includes(name)) {
  console.error(`bench:profile: no load "${name}"; there are ${loads.join(", ")}`);
  process.exit(2);
}

const inspectPort = await freePort();
const program = values.root === undefined ? undefined : join(resolve(values.root), "bin/svc.mjs");
const load = await openLoad(name, { program, nodeArgs: [`--inspect=127.0.0.1:${inspectPort}`] });
try {
  await during(Number(values.seconds));
  const inspector = await inspect(inspectPort);
  await inspector.ask("Profiler.enable");
  await inspector.ask("Profiler.setSamplingInterval", { interval: 250 });
  await inspector.ask("Profiler.start");
  const before = cpuMs(load.pid);
  const done = await during(Number(values.seconds));
  const cpu = cpuMs(load.pid) - before;
  const { profile } = await inspector.ask("Profiler.stop");
  inspector.close();
  if (values.save !== undefined) writeFileSync(values.save, JSON.stringify(profile));
  console.log(`${name}: ${done} ${load.unit}, ${((cpu * 1_000) / done).toFixed(1)} µs of CPU each under the profiler\n`);
  console.log(bySubject(profile));
  console.log(`\n${byFunction(profile, Number(values.top))}`);
} finally {
  await load.close();
}

/** Keeps the load up for so long. @returns how much was done */
async function during(seconds) {
  const end = performance.now() + seconds * 1_000;
  let done = 0;
  while (performance.now() < end) done += await load.round();
  return done;
}

async function inspect(port) {
  const targets = JSON.parse((await get(`http://127.0.0.1:${port}/json/list`)).body);
  const socket = new WebSocket(targets[0].webSocketDebuggerUrl, { perMessageDeflate: false });
  await new Promise((done, failed) => socket.once("open", done).once("error", failed));
  const waiting = new Map();
  socket.on("message", (text) => {
    const { id, result, error } = JSON.parse(text);
    if (error) waiting.get(id)?.reject(new Error(error.message));
    else waiting.get(id)?.resolve(result);
    waiting.delete(id);
  });
  let last = 0;
  return {
    ask: (method, params = {}) =>
      new Promise((done, reject) => {
        last += 1;
        waiting.set(last, { resolve: done, reject });
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
    close: () => socket.close(),
  };
}
