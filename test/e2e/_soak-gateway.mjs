/**
 * `svc`, from its sources, with a clock that goes faster: `SVC_SOAK_FACTOR` seconds of the gateway's plugins pass in one of the machine. Heartbeats,
 * maintenance and all that plugins do from time to time come round as often as in that time; what sockets and the kernel's own watch need stays as it is.
 * With `SVC_SOAK_BEGIN` (epoch ms) that time begins then.
 */
import { join } from "node:path";
import { createJiti } from "jiti";

const root = join(import.meta.dirname, "../..");
const sdk = (path) => join(root, "sdk", path);
const jiti = createJiti(import.meta.url, {
  alias: {
    "svc/sdk/client": sdk("client/index.ts"),
    "svc/sdk/internal": sdk("internal/index.ts"),
    "svc/sdk/testing": sdk("testing/index.ts"),
    "svc/sdk": sdk("index.ts"),
  },
  fsCache: join(root, "node_modules/.cache/jiti"),
});
const load = (path) => jiti.import(join(root, "kernel", path));
const [{ createProgram }, { programParts }, { gatewayMaker }, { createGateway }, { createInterrupt }, { exitProcess }, { exportEnv }] =
  await Promise.all([
    load("cli/program.ts"),
    load("cli/run.ts"),
    load("cli/gateway-maker.ts"),
    load("boot/gateway.ts"),
    load("cli/interrupt.ts"),
    load("sandbox/threads.ts"),
    load("config/process-env.ts"),
  ]);

const factor = Number(process.env.SVC_SOAK_FACTOR);
/** Waits up to this long are limits of work that takes its time by the machine's clock, as those of tools are. */
const LIMIT_MS = 120_000;
const [begun, origin] = [performance.now(), Number(process.env.SVC_SOAK_BEGIN ?? Date.now())];
const passed = () => (performance.now() - begun) * factor;
const clock = {
  now: () => Math.round(origin + passed()),
  monotonic: passed,
  setTimeout(run, delayMs) {
    const timer = setTimeout(run, delayMs <= LIMIT_MS ? delayMs : delayMs / factor);
    return { dispose: () => clearTimeout(timer) };
  },
  setInterval(run, periodMs) {
    const timer = setInterval(run, Math.max(5, periodMs / factor));
    return { dispose: () => clearInterval(timer) };
  },
};

const run = createProgram({
  ...programParts,
  maker: async () => ({ ...gatewayMaker, create: (options) => createGateway({ ...options, exportEnv, clock }) }),
});
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  interrupt: (options) => createInterrupt(options, exitProcess),
  exit: exitProcess,
  exportEnv,
});
await exitProcess(process.exitCode);
