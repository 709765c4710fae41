import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { get } from "./http.mjs";
import { freePort, startProcess } from "./process.mjs";
import { connect } from "./ws.mjs";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
export const svc = join(root, "bin/svc.mjs");
const token = "bench-only-0000";

/** A home folder of its own: state, config, workspace. The caller removes it. */
export function makeHome(config = {}) {
  const home = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const state = join(home, "state");
  mkdirSync(join(state, "workspace"), { recursive: true });
  const file = { gateway: { mode: "local", auth: { token } }, ...config };
  writeFileSync(join(state, "svc.json"), JSON.stringify(file));
  return {
    path: home,
    state,
    workspace: join(state, "workspace"),
    env: { HOME: home, SVC_STATE_DIR: state, NO_COLOR: "1" },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Flags of Node that a service's definition, `npm start` and the image have. */
const nodeFlags = ["--max-semi-space-size=4"];

/** Spawns the product as its supervisor would; returns at once. @param options `program`: that of another build; `nodeArgs`: more flags of Node */
export async function spawnGateway(home, { program = svc, nodeArgs = [] } = {}) {
  const port = await freePort();
  const child = startProcess([...nodeFlags, ...nodeArgs, program, "gateway", "--port", String(port)], { env: home.env });
  return handle(child, port, /^svc is ready/m);
}

/** The bare server of `baselines/server.mjs`, in the same shape. */
export async function spawnBaselineServer() {
  const port = await freePort();
  return handle(startProcess([join(root, "test/bench/baselines/server.mjs"), String(port)]), port);
}

/** The bare relay of `baselines/relay.mjs` to a vendor, in the same shape. */
export async function spawnBaselineRelay(vendor) {
  const port = await freePort();
  const relay = handle(startProcess([join(root, "test/bench/baselines/relay.mjs"), String(port), vendor]), port);
  return { ...relay, ready: relay.answers };
}

/** `banner`: what the process prints once it is ready; without one it is ready as soon as it listens. */
function handle(child, port, banner) {
  const url = `http://127.0.0.1:${port}`;
  const retry = async (what, attempt, pauseMs = 2) => {
    const deadline = performance.now() + 30_000;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!child.isRunning()) throw new Error(`the process ended before ${what}:\n${child.output()}`);
        if (performance.now() > deadline) throw new Error(`no ${what} within 30 s: ${error.message}`);
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  // Probes and handshakes that are refused during a start cost the server CPU, so it is asked nothing before it says that it is ready.
  const announced = () =>
    retry("its banner", async () => {
      if (banner && !banner.test(child.output())) throw new Error("not ready yet");
    });
  const expect200 = async (path) => {
    if ((await get(url + path)).status !== 200) throw new Error(`${path} is not 200`);
  };
  return {
    ...child,
    port,
    url,
    wsUrl: `ws://127.0.0.1:${port}`,
    headers: { authorization: `Bearer ${token}` },
    msToHealthz: () => retry("/healthz", () => expect200("/healthz")).then(() => performance.now() - child.spawnedAt),
    ready: async () => {
      await announced();
      await retry("/readyz", () => expect200("/readyz"));
    },
    answers: () => retry("an answer", () => expect200("/")),
    connect: (options = {}) => connect(`ws://127.0.0.1:${port}`, { token, ...options }),
    async msToHello() {
      await announced();
      const connection = await retry("hello-ok", () => connect(`ws://127.0.0.1:${port}`, { token }));
      const ms = performance.now() - child.spawnedAt;
      await connection.close();
      return ms;
    },
  };
}
