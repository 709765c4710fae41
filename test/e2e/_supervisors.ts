import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { configured, freshHome, json, stopLater } from "./_cli.ts";
import { command } from "./_command.ts";
import type { Finished, Home } from "./_process.ts";

const fakes = fileURLToPath(new URL("../fakes/supervisors", import.meta.url));
const tools = ["systemctl", "loginctl", "launchctl", "schtasks", "cmd"];

/** A machine with supervisors that are fakes on `PATH`, and a home with a config. */
export interface Machine {
  home: Home;
  /** A program that stands in for Node where the gateway itself is of no interest. */
  node: string;
  port: number;
  svc(...args: string[]): Promise<Finished>;
  /** The same with further variables. */
  svcWith(env: Record<string, string>, ...args: string[]): Promise<Finished>;
  json(...args: string[]): Promise<{ code: number | null; value: Record<string, unknown>; stderr: string }>;
  /** Calls since the last question, as `systemctl --user start …`, without those that only look. */
  calls(): Promise<string[]>;
  /** Changes what the supervisors know. */
  change(state: object): Promise<void>;
  /** Replaces the config. */
  configure(gateway: object): Promise<void>;
  lockPid(): Promise<number | undefined>;
}

const looks = /^(?:systemctl --user (?:show|show-environment)\b|loginctl|launchctl print|schtasks \/Query)/;

/** @param platform whose supervisor svc is to use */
export async function machine(platform: "linux" | "darwin" | "win32", { profile = "" } = {}): Promise<Machine> {
  const home = await freshHome();
  const stateDir = profile === "" ? home.stateDir : `${home.stateDir}-${profile}`;
  home.stateDir = stateDir;
  const port = await freePort();
  const configure = async (gateway: object) => {
    await configured(home, { gateway: { mode: "local", auth: { token: "a-token-of-this-test" }, ...gateway } });
  };
  await configure({ port });
  const { env, bin, log, state } = await fakeSupervisors(home, platform);
  const node = join(bin, "node-stub");
  await script(node, `"${process.execPath}" "${join(fakes, "node-stub.mjs")}" "$@"`);
  const argsOf = (args: string[]) => (profile === "" ? args : ["--profile", profile, ...args]);
  const lockPid = async () => (await readJson(join(stateDir, "gateway", "state.lock"))).pid as number | undefined;
  let seen = 0;
  return {
    home,
    node,
    port,
    svc: (...args) => command(home, argsOf(args), env),
    svcWith: (own, ...args) => command(home, argsOf(args), { ...env, ...own }),
    json: (...args) => json(home, argsOf(args), env, command),
    async calls() {
      const all = (await readFile(log, "utf8"))
        .split("\n")
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as string[]).join(" "));
      const fresh = all.slice(seen).filter((call) => !looks.test(call));
      seen = all.length;
      return fresh;
    },
    async change(change) {
      await writeFile(state, JSON.stringify({ ...(await readJson(state)), ...change }));
    },
    configure,
    lockPid,
  };
}

/** Puts supervisors of all systems in front of a home's `PATH`. What they start is ended by `stopAll`. */
export async function fakeSupervisors(home: Home, platform: string) {
  const root = home.env.HOME as string;
  const [bin, log, state] = [join(root, "fakes"), join(root, "calls.log"), join(root, "manager.json")];
  await mkdir(bin);
  await Promise.all(tools.map((name) => script(join(bin, name), `"${process.execPath}" "${join(fakes, "manager.mjs")}" ${name} "$@"`)));
  await writeFile(log, "");
  await writeFile(state, "{}");
  stopLater(async () => {
    const jobs = Object.values((await readJson(state)).jobs ?? {}) as Array<{ pid: number }>;
    const { pid } = await readJson(join(home.stateDir, "gateway", "state.lock"));
    for (const one of [...jobs.map((job) => job.pid), pid]) if (one) killed(one);
  });
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    SVC_GATEWAY_PORT: "",
    SVC_SERVICE_PLATFORM: platform,
    FAKE_LOG: log,
    FAKE_STATE: state,
    APPDATA: join(root, "AppData"),
  };
  return { env, bin, log, state };
}

async function readJson(path: string) {
  return JSON.parse(await readFile(path, "utf8").catch(() => "{}"));
}

/** A port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Mode of a file as people write it. */
export async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

async function script(path: string, line: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\nexec ${line}\n`, { mode: 0o755 });
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}
