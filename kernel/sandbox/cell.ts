import { spawn } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { killWithOwner } from "../../sdk/kill-with-owner.ts";
import { bootstrapSource, compiledTwin } from "../../sdk/worker.ts";
import { packageRoot, runsFromDist } from "../process/paths.ts";
import { createLines } from "./lines.ts";
import { rememberThread } from "./threads.ts";

/** `worker`: a thread, stops loops and memory bombs but sees files. `process`: a child that cannot read other files, write, start anything. */
export type IsolationMode = "worker" | "process";

/** One thread or child process with a line to it. */
export interface Cell {
  post(text: string): void;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
  /** Resolves exactly once, with the reason of the end. */
  readonly exited: Promise<string>;
  /** Memory that it takes by itself, heap or not; undefined for a thread, and where the system does not tell. */
  residentBytes(): Promise<number | undefined>;
}

export interface CellOptions {
  mode: IsolationMode;
  /** Module that runs inside, from `workerUrl`. */
  guest: URL;
  /** Mode `process`: absolute folders and files it may read, besides the SDK's own. */
  read: readonly string[];
  /** Heap of the guest. */
  memoryMb: number;
  /** Longest message from the guest; a longer one is reported, not held. */
  maxMessageBytes: number;
  /** Mode `process`: the Node that runs it; default this one. */
  program?: string;
  onMessage(text: unknown): void;
  onTooLarge(): void;
  onOutput(text: string): void;
}

/** Node's exit code for a flag it does not know. */
const EXIT_BAD_FLAG = 9;

/** Opens a guest with an empty environment and bounded memory. */
export function openCell(given: CellOptions): Cell {
  const twin = compiledTwin(given.guest);
  const options = twin ? { ...given, guest: twin.url, read: [...given.read, twin.folder] } : given;
  return options.mode === "worker" ? openThread(options) : openChild(options);
}

function openThread({ guest, memoryMb, maxMessageBytes, onMessage, onTooLarge, onOutput }: CellOptions): Cell {
  // By way of a text, so that no path of the host stands in the guest's `process.argv`.
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(bootstrapSource(guest))}`), {
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  rememberThread(worker);
  for (const stream of [worker.stdout, worker.stderr]) stream.on("data", (chunk: Buffer) => onOutput(String(chunk)));
  worker.on("message", (text) => {
    if (typeof text === "string" && (text.length > maxMessageBytes || Buffer.byteLength(text) > maxMessageBytes)) onTooLarge();
    else onMessage(text);
  });
  const exited = new Promise<string>((resolve) => {
    worker.once("error", (error: Error & { code?: string }) => resolve(error.code ?? error.message));
    worker.once("exit", (code) => resolve(`exit code ${code}`));
  });
  const kill = () => {
    // Messages that are still on their way are dropped.
    worker.removeAllListeners("message");
    void worker.terminate();
  };
  return { post: (text) => worker.postMessage(text), kill, exited, residentBytes: async () => undefined };
}

/** Starts a child whose standard input is the way in and whose fourth descriptor is the way out; Node's own channel between processes would throw in this one at the first broken message. */
function openChild({ guest, read, memoryMb, program = process.execPath, ...own }: CellOptions): Cell {
  const flag = permissionFlag();
  // Node 20 aborts at a path that is given twice.
  const readable = [...new Set([...ownFiles(), dirname(fileURLToPath(guest)), ...read])].map((path) => `--allow-fs-read=${path}`);
  const flags = [flag, ...readable, `--max-old-space-size=${memoryMb}`, "--no-warnings", "--input-type=module"];
  const child = spawn(program, [...flags, "-e", bootstrapSource(guest)], {
    env: {},
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    // A group of its own: Ctrl-C in the gateway's terminal is for the gateway, which still has this one stop in order.
    detached: true,
  });
  // One in an endless loop never looks at its pipes, and its permissions allow it no thread that could.
  killWithOwner(child);
  const out = child.stdio[3] as Duplex;
  let spoke = false;
  const onLine = (text: string) => {
    spoke = true;
    own.onMessage(text);
  };
  out.on("data", createLines({ maxBytes: own.maxMessageBytes, onLine, onTooLong: own.onTooLarge }));
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => own.onOutput(String(chunk)));
  // A child that has just died says so by `exited`; what fails on its pipes is no second fault.
  for (const stream of child.stdio) stream?.on("error", () => undefined);
  const exited = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => {
      const refused = code === EXIT_BAD_FLAG && !spoke;
      if (refused) resolve(`${program} refused ${flag}: isolation "process" cannot be had with it; use Node 20.19 or later, or "worker"`);
      else resolve(signal ? `signal ${signal}` : `exit code ${code}`);
    });
  });
  const kill = () => {
    child.kill("SIGKILL");
    for (const stream of child.stdio) stream?.destroy();
  };
  return { post: (text) => void child.stdin.write(`${text}\n`), kill, exited, residentBytes: () => residentBytes(child.pid) };
}

async function residentBytes(pid: number | undefined): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(text) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024;
}

/** Node 22.13 dropped the word "experimental" from the flag. */
function permissionFlag(): string {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 13) ? "--permission" : "--experimental-permission";
}

/** The SDK, and the two packages a guest imports with it. */
function ownFiles(): string[] {
  const root = packageRoot();
  const [sdk, ownProcess] = ["sdk", "kernel/process"].map((room) => join(root, runsFromDist() ? "dist" : "", room)) as [string, string];
  const names = ["jiti", "zod"];
  const packages = names.map((name) => packageFolder(fileURLToPath(import.meta.resolve(name))));
  return [join(root, "package.json"), sdk, ownProcess, ...packages, ...names.flatMap((name) => linksTo(name, sdk))];
}

/** Links that the search for a package follows from here: node reads them by their own paths, and some package managers make everything a link. */
function linksTo(name: string, from: string): string[] {
  const folders = [];
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) folders.push(join(folder, "node_modules"));
  return folders.flatMap((folder) => [folder, join(folder, name)]).filter((path) => isLink(path));
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function packageFolder(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
