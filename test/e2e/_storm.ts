import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "svc/sdk/client";
import { token } from "./_cli.ts";
import type { Home, Running } from "./_process.ts";

/** Record of one client in the other process. */
export interface SeenClient {
  index: number;
  seq: number;
  /** How often a number was not the next one. */
  gaps: number;
  events: number;
  lastEvent: string;
  /** Code and reason of its end; empty while it is open. */
  closed: string;
  isOpen: boolean;
}

export interface StormState {
  clients: SeenClient[];
  open: number;
  /** Messages of `chat` that the gateway took, since the last `forget`. */
  acknowledgements: number;
  /** How often sockets ended with which code and reason, those of earlier attempts included. */
  closes: Record<string, number>;
}

interface OpenOptions {
  url: string;
  count: number;
  token?: string;
  /** Never sends its `connect`. */
  silent?: boolean;
  /** Local addresses the clients come from, in turn. */
  addresses?: string[];
  concurrency?: number;
  seed?: number;
}

/** Clients in a process of their own. */
export interface Storm {
  /** Opens so many more, and resolves when all have their hello-ok (silent ones: their socket, or its end). */
  open(options: OpenOptions): Promise<{ attempts: number }>;
  /** All go at once without a word and are back when it resolves. */
  storm(options: { spreadMs: number; seed?: number }): Promise<{ attempts: number }>;
  request(options: { from?: number; to?: number; method: string; params?: object }): Promise<void>;
  stopReading(options: { from: number; to: number }): Promise<void>;
  readOn(options: { from: number; to: number }): Promise<void>;
  /** Sends messages without pause until the sockets end. @returns those the gateway acknowledged */
  chat(options: { name: string }): Promise<Array<{ sessionKey: string; message: string }>>;
  state(): Promise<StormState>;
  /** Ends and forgets all clients. */
  forget(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the process. The caller stops it. */
export function startStorm(): Storm {
  const child = fork(fileURLToPath(new URL("_storm-clients.mjs", import.meta.url)), { execArgv: [], stdio: "inherit" });
  const ask = asker(child);
  return {
    open: (options) => ask("open", options),
    storm: (options) => ask("storm", options),
    request: (options) => ask("request", options),
    stopReading: (options) => ask("stopReading", options),
    readOn: (options) => ask("readOn", options),
    chat: (options) => ask("chat", options),
    state: () => ask("state"),
    forget: () => ask("forget"),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

function asker(child: ChildProcess): <T>(name: string, args?: object) => Promise<T> {
  let next = 0;
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  child.on("message", ({ id, value, error }: { id: number; value: never; error?: string }) => {
    const entry = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) entry?.resolve(value);
    else entry?.reject(new Error(error));
  });
  child.on("exit", () => {
    for (const { reject } of waiting.values()) reject(new Error("the process of the clients has ended"));
  });
  return (name, args = {}) =>
    new Promise((resolve, reject) => {
      next += 1;
      waiting.set(next, { resolve, reject });
      child.send({ id: next, name, args });
    });
}

/** Addresses of this machine, so that no budget per address is in the way. */
export function loopbackAddresses(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `127.0.${1 + Math.floor(i / 200)}.${1 + (i % 200)}`);
}

/** A plugin that says so much to everybody, or to those who listen to a topic. @returns its config entry */
export async function writeLoudPlugin(home: Home): Promise<{ load: { paths: string[] } }> {
  await writeFile(join(home.stateDir, "loud.ts"), loud);
  return { load: { paths: ["./loud.ts"] } };
}

const loud = `
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { definePlugin, z } from "svc/sdk";
setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
export default definePlugin({ id: "loud", version: "1.0.0", svc: { api: "*" }, setup(ctx) {
  const listening = new Set();
  ctx.on("ws.disconnect", ({ client }) => void listening.delete(client.connId));
  const add = (method, params, handler) => ctx.registerRpc({ method: "loud." + method, scope: "read", params: z.strictObject(params), handler });
  add("listen", { topic: z.string() }, ({ topic }, call) => {
    call.subscribe(topic);
    listening.add(call.client.connId);
    return {};
  });
  add("heap", {}, () => {
    gc();
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return { bytes: heapUsed + external };
  });
  add("listeners", {}, () => ({ clients: listening.size }));
  add("say", { events: z.number(), bytes: z.number(), topic: z.string().optional() }, async ({ events, bytes, topic }) => {
    const text = "x".repeat(bytes);
    for (let i = 0; i < events; i++) {
      ctx.emit("said", { i, text }, { scope: "read", ...(topic ? { topic } : {}) });
      await new Promise((resolve) => setImmediate(resolve));
    }
    return {};
  });
} });`;

/** A client of the backend for this gateway, not yet connected. */
export function backendClient({ url }: Running, scopes = ["operator.read", "operator.write"]) {
  return createClient({
    url: url.replace("http", "ws"),
    auth: { token },
    client: { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" },
    scopes,
  });
}

/** A seed for this run; the test's name shows it, so that a failure can be repeated with `SVC_TEST_SEED`. */
export const runSeed = Number(process.env.SVC_TEST_SEED ?? Date.now() % 1_000_000);

/** Numbers from a seed, in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}
