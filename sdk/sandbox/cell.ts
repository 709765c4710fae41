import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../host/paths.ts";
import { bootstrapSource, startWorker } from "../worker.ts";

/** `worker`: a thread, stops loops and memory bombs but sees files. `process`: a child that cannot read other files, write, start anything. */
export type IsolationMode = "worker" | "process";

/** One thread or child process with a line to it. */
export interface Cell {
  post(text: string): void;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
  /** Why it ended; resolves exactly once. */
  readonly exited: Promise<string>;
}

export interface CellOptions {
  mode: IsolationMode;
  /** Module that runs inside, from `workerUrl`. */
  guest: URL;
  /** Mode `process`: absolute folders and files it may read, besides the SDK's own. */
  read: readonly string[];
  /** Heap of the guest. */
  memoryMb: number;
  onMessage(text: unknown): void;
  onOutput(text: string): void;
}

/** Opens a guest with an empty environment and bounded memory. */
export function openCell(options: CellOptions): Cell {
  return options.mode === "worker" ? openThread(options) : openChild(options);
}

function openThread({ guest, memoryMb, onMessage, onOutput }: CellOptions): Cell {
  const worker = startWorker(guest, {
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  for (const stream of [worker.stdout, worker.stderr]) stream.on("data", (chunk: Buffer) => onOutput(String(chunk)));
  worker.on("message", onMessage);
  const exited = new Promise<string>((resolve) => {
    worker.once("error", (error: Error & { code?: string }) => resolve(error.code ?? error.message));
    worker.once("exit", (code) => resolve(`exit code ${code}`));
  });
  return { post: (text) => worker.postMessage(text), kill: () => void worker.terminate(), exited };
}

function openChild({ guest, read, memoryMb, onMessage, onOutput }: CellOptions): Cell {
  const readable = [...ownFiles(), ...read].map((path) => `--allow-fs-read=${path}`);
  const flags = [permissionFlag(), ...readable, `--max-old-space-size=${memoryMb}`, "--no-warnings", "--input-type=module"];
  const child = spawn(process.execPath, [...flags, "-e", bootstrapSource(guest)], { env: {}, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => onOutput(String(chunk)));
  child.on("message", onMessage);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  return {
    post: (text) => {
      // A child that has just died says so by `exited`; the failed write is no second fault.
      if (child.connected) child.send(text, () => undefined);
    },
    kill: () => void child.kill("SIGKILL"),
    exited,
  };
}

/** Node 22.13 dropped the word "experimental" from the flag. */
function permissionFlag(): string {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 13) ? "--permission" : "--experimental-permission";
}

/** The SDK, and the two packages a guest imports with it. */
function ownFiles(): string[] {
  const root = packageRoot();
  const packages = ["jiti", "zod"].map((name) => packageFolder(fileURLToPath(import.meta.resolve(name))));
  return [join(root, "package.json"), dirname(dirname(fileURLToPath(import.meta.url))), ...packages];
}

function packageFolder(file: string): string {
  let folder = dirname(file);
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
