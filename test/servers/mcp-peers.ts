import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { skippedFor } from "./needs.ts";
import { needsPackages } from "./vendored.ts";

const folder = join(import.meta.dirname, "../mcp-peers");
const program = join(folder, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");

/** Command and arguments that start the reference server on its standard input and output. */
export const everythingOverStdio = { command: process.execPath, args: [program, "stdio"] };

/** Command and arguments that start the reference server for the files of a folder. */
export const filesystemOverStdio = (root: string): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [join(folder, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"), root],
});

/** Program of the inspector for terminals. */
export const inspectorCli = join(folder, "node_modules/@modelcontextprotocol/inspector-cli/build/index.js");

/** Module of the client library of the first generation. */
export const firstClient = (module: string): string => join(folder, "node_modules/@modelcontextprotocol/sdk/dist/esm", module);

/**
 * `describe` and `test` for tests that need the peers of `test/mcp-peers` and the packages of these plugins; skipped by name where they are not installed.
 * @throws {Error} where CI is set: `.ci/run` installs them all
 */
export async function needsMcp(...plugins: string[]): Promise<{ describe: typeof describe; test: typeof test }> {
  if (!existsSync(program)) {
    const need = "the peers of MCP: npm ci --prefix test/mcp-peers --ignore-scripts";
    if (process.env.CI) throw new Error(`test/mcp-peers is not installed, and .ci/run installs it (${need})`);
    return skippedFor(need);
  }
  const found = await Promise.all(plugins.map(needsPackages));
  return found.find((one) => one.describe !== describe) ?? { describe, test };
}

/** The reference server over HTTP, in a process of its own. */
export interface EverythingServer {
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** Starts it on a port of the loopback interface; by itself it would listen on every address. */
export async function startEverything(port = 0): Promise<EverythingServer> {
  const args = ["--import", join(folder, "loopback.mjs"), program, "streamableHttp"];
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, PORT: `${port}` }, stdio: ["ignore", "ignore", "pipe"] });
  const bound = await listening(child);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    url: `http://127.0.0.1:${bound}/mcp`,
    port: bound,
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function listening(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    child.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
      const port = /listening on 127\.0\.0\.1:(\d+)/.exec(said)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

/** Command and arguments of a server that does what `mode` says, as `test/mcp-peers/scripted.mjs` has it, and notes its calls in a file. */
export const scripted = (mode: string, notes = ""): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [join(folder, "scripted.mjs"), mode, notes],
});
