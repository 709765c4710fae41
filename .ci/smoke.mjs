/**
 * The first minute of a new user, with the built product: `npm start`, one question by the command line and one by curl, Ctrl-C.
 * Its home folder and port are its own; the checkout must stay as it was.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const home = mkdtempSync(join(tmpdir(), "svc-smoke-"));
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const env = { PATH: process.env.PATH, HOME: home, SVC_GATEWAY_PORT: String(port), NO_COLOR: "1" };
const question = "What is the address of the router's admin page?";
const answer = { file: "memory/home/network.md", fact: "192.168.40.1" };

const before = checkoutState();
const gateway = spawn("npm", ["start", "--silent"], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
let output = "";
for (const stream of [gateway.stdout, gateway.stderr]) stream.on("data", (chunk) => (output += chunk));
const exited = new Promise((resolve) => gateway.on("exit", (code, signal) => resolve({ code, signal })));

try {
  await until("healthz", async () => (await fetch(`${url}/healthz`)).status === 200);
  await until("readyz", async () => (await fetch(`${url}/readyz`)).status === 200);
  await until("index", async () => JSON.parse(await svc("memory", "status", "--json")).agents.every((a) => a.files > 0 && !a.dirty));
  expectAnswer("svc agent --message", await svc("agent", "--message", question));
  expectAnswer("curl", await curl());
  process.kill(runningPid(), "SIGTERM");
  const { code, signal } = await withLimit(exited, 15_000, "the gateway did not stop");
  check(code === 0, `the gateway ended with ${signal ?? code} after SIGTERM, expected 0`);
  check(checkoutState() === before, `the checkout was changed:\n${checkoutState()}`);
  console.log("smoke: started, answered twice with its source, stopped with 0, checkout untouched");
} catch (error) {
  console.error(`smoke: ${error.message}\n--- output of npm start ---\n${output}`);
  process.exitCode = 1;
} finally {
  try {
    process.kill(-gateway.pid, "SIGKILL");
  } catch {
    // already gone, as it should be
  }
  rmSync(home, { recursive: true, force: true });
}

function svc(...args) {
  return run(process.execPath, [join(root, "bin/svc.mjs"), ...args]);
}

/** The command that the gateway itself prints for newcomers. */
function curl() {
  const token = JSON.parse(readFileSync(join(home, ".svc/svc.json"), "utf8")).gateway.auth.token;
  const body = JSON.stringify({ model: "svc", messages: [{ role: "user", content: question }] });
  return run("curl", ["-sS", "--max-time", "30", `${url}/v1/chat/completions`, "-H", `Authorization: Bearer ${token}`, "-d", body]);
}

async function run(file, args) {
  const { stdout } = await promisify(execFile)(file, args, { cwd: home, env, timeout: 40_000 });
  return stdout;
}

/** npm stands between us and the gateway; the signal goes to the gateway itself. */
function runningPid() {
  return JSON.parse(readFileSync(join(home, ".svc/gateway/runtime.json"), "utf8")).pid;
}

function expectAnswer(how, text) {
  check(
    text.includes(answer.file) && text.includes(answer.fact),
    `${how} did not answer with ${answer.fact} from ${answer.file}:\n${text}`,
  );
}

function check(ok, message) {
  if (!ok) throw new Error(message);
}

async function until(what, probe) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      if (await probe()) return;
    } catch {
      // not yet
    }
    if (gateway.exitCode !== null) throw new Error(`the gateway ended with ${gateway.exitCode} before ${what}`);
    if (Date.now() > deadline) throw new Error(`no ${what} within 60 s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function withLimit(promise, ms, message) {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error(message)), ms).unref());
  return Promise.race([promise, late]);
}

function checkoutState() {
  return execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = server.address();
      server.close(() => resolve(free));
    });
  });
}
