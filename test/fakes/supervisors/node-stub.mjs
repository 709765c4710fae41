/**
 * Stands in for Node where a test is about the supervisor and not about the gateway: it says a version, and else leaves the traces of a gateway that is ready
 * (lock, `/healthz`, `/readyz`) until SIGTERM. With a file `refuse` in the state directory it refuses to start.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const args = process.argv.slice(2);
if (args[0] === "--version") {
  process.stdout.write("v22.0.0\n");
  process.exit(0);
}
const { HOME = "", SVC_STATE_DIR, SVC_PROFILE, SVC_SERVICE_MARKER } = process.env;
const stateDir = SVC_STATE_DIR ?? join(HOME, SVC_PROFILE ? `.svc-${SVC_PROFILE}` : ".svc");
const port = Number(args[args.indexOf("--port") + 1]);
const folder = join(stateDir, "gateway");
const lock = join(folder, "state.lock");
mkdirSync(folder, { recursive: true });
if (existsSync(join(stateDir, "refuse"))) {
  writeFileSync(
    join(folder, "last-refusal.json"),
    JSON.stringify({ ts: Date.now(), code: "test", message: "the test refuses this start" }),
  );
  process.exit(78);
}
const answers = { "/healthz": '{"ok":true,"status":"live"}', "/readyz": '{"ready":true}' };
const server = createServer(({ url }, res) => res.writeHead(answers[url] ? 200 : 404).end(answers[url]));
server.listen(port, "127.0.0.1", () => {
  const stat = readFileSync(`/proc/${process.pid}/stat`, "utf8");
  const startTime = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  const owner = {
    pid: process.pid,
    startTime,
    createdAt: Date.now(),
    configPath: "",
    stateDir,
    port,
    version: "stub",
    marker: SVC_SERVICE_MARKER,
  };
  writeFileSync(lock, JSON.stringify(owner));
});
process.on("SIGTERM", () => {
  rmSync(lock, { force: true });
  process.exit(0);
});
