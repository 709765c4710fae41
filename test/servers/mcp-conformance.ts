import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../mcp-peers");
const modules = join(folder, "node_modules/@modelcontextprotocol");
const suite = join(modules, "conformance/dist/index.js");

/** Result of one scenario: what failed or was warned about, in the words of the suite. */
export interface ScenarioResult {
  passed: number;
  failed: string[];
}

interface Check {
  name: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  description: string;
  errorMessage?: string;
}

/** Runs all scenarios of the conformance suite for servers, one after the other. */
export function conformanceOfServer(url: string): Promise<Map<string, ScenarioResult>> {
  return run("server", ["--url", url, "--suite", "all"]);
}

/** Runs all scenarios of the conformance suite for clients, side by side. `driver` is asked by `conformance-client.mjs` to use a server. */
export function conformanceOfClient(driver: string): Promise<Map<string, ScenarioResult>> {
  const command = `${process.execPath} ${join(folder, "conformance-client.mjs")} ${driver}`;
  return run("client", ["--command", command, "--suite", "all", "--timeout", "30000"]);
}

async function run(kind: "server" | "client", args: string[]): Promise<Map<string, ScenarioResult>> {
  const out = await mkdtemp(join(tmpdir(), "svc-conformance-"));
  try {
    const preloads = ["--import", join(folder, "conformance.mjs")];
    await ended([...preloads, suite, kind, ...args, "--output-dir", out]);
    return await resultsIn(out);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

/** Ends a program in good time. It ends with 1 when a check fails, so its code says nothing. */
function ended(args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, HOME: tmpdir() }, stdio: "ignore" });
    const late = setTimeout(() => child.kill("SIGKILL"), 90_000);
    child.once("error", reject);
    child.once("exit", (_code, signal) => {
      clearTimeout(late);
      if (signal === null) resolve();
      else reject(new Error(`the conformance suite was ended by ${signal}`));
    });
  });
}

/** A folder for each scenario: `<kind>-<scenario>-<time>`, of clients without the kind, and below a folder where the name has a slash. */
async function resultsIn(out: string): Promise<Map<string, ScenarioResult>> {
  const results = new Map<string, ScenarioResult>();
  for (const path of await readdir(out, { recursive: true })) {
    const name = /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/.exec(path)?.[1];
    if (name === undefined) continue;
    const checks: Check[] = JSON.parse(await readFile(join(out, path), "utf8"));
    const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
    results.set(name, {
      passed: checks.filter(({ status }) => status === "SUCCESS").length,
      failed: bad.map(({ status, name: check, errorMessage, description }) => `${status} ${check}: ${errorMessage ?? description}`),
    });
  }
  return results;
}
