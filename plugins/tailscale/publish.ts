import { messageOf, type PluginContext } from "svc/sdk";
import { tailscaleErrors } from "./errors.ts";
import { endLeftover, forgetServe, rememberServe } from "./leftover.ts";
import { nodeName, PublishFailure, runTailscale } from "./node-name.ts";
import { type ServeProcess, startServe } from "./serve-process.ts";

/** `gateway.tailscale`, and the address that is published. */
export interface PublishSettings {
  mode: "serve" | "funnel";
  resetOnExit: boolean;
  target: string;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Variables that the program needs; the gateway's secrets are none of its business. */
const passedOn = ["PATH", "HOME", "USERPROFILE", "SystemRoot", "LANG"];

/**
 * Publishes the port for as long as the plugin runs; a process that ends by itself is started again. A failure ends the start of the gateway: an operator who
 * asked for an address must not find a gateway without it.
 * @throws {SvcError} `tailscale-failed`
 */
export async function publish(ctx: PluginContext, settings: PublishSettings): Promise<void> {
  const env = Object.fromEntries(passedOn.flatMap((name) => (ctx.env[name] === undefined ? [] : [[name, ctx.env[name]]]))) as Environment;
  const { mode, resetOnExit } = settings;
  const publisher = createPublisher(ctx, settings, env);
  ctx.onDispose(async () => {
    await publisher.close();
    await forgetServe(ctx.stateDir);
    if (resetOnExit) await reset(ctx, mode, env);
  });
  ctx.registerHealthCheck({
    id: "published",
    run() {
      const problem = publisher.problem();
      return problem === undefined ? { ok: true, level: "info", message: "published" } : { ok: false, level: "error", message: problem };
    },
  });
  const left = await endLeftover(ctx.stateDir);
  if (left !== undefined) ctx.logger.warn(`ended tailscale ${mode} of a gateway that was killed`, { pid: left });
  await publisher.open().catch((error: unknown) => {
    const advice = error instanceof PublishFailure ? error.advice : "see tailscale status";
    const refusal = tailscaleErrors.tailscaleFailed({ mode, reason: messageOf(error), advice }, { cause: error });
    ctx.service("gateway@1").refuseStart(refusal);
    throw refusal;
  });
}

type Environment = Record<string, string>;

/** Owns the process that publishes, and starts it again when it ends by itself. */
function createPublisher(ctx: PluginContext, settings: PublishSettings, env: Environment) {
  const gateway = ctx.service("gateway@1");
  const state = { child: undefined as ServeProcess | undefined, problem: undefined as string | undefined, isStopping: false };
  let pauseMs = FIRST_PAUSE_MS;

  const open = async () => {
    const name = await nodeName({ env, signal: ctx.signal });
    const child = await startServe({ ...settings, name, env, signal: ctx.signal });
    state.child = child;
    state.problem = undefined;
    await rememberServe(ctx.stateDir, child.pid);
    const published = gateway.publish(`https://${name}`);
    ctx.logger.info(`published in the ${settings.mode === "serve" ? "tailnet" : "internet"} as https://${name}/`);
    void child.ended.then((reason) => {
      published.dispose();
      if (!state.isStopping) lost(reason);
    });
  };
  const lost = (reason: string) => {
    state.problem = reason;
    gateway.invalidateHealth();
    ctx.logger.error(`not published any more: ${reason}; trying again`, { inMs: pauseMs });
    ctx.timers.setTimeout(() => void open().then(regained, (error: unknown) => lost(messageOf(error))), pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  };
  const regained = () => {
    pauseMs = FIRST_PAUSE_MS;
    gateway.invalidateHealth();
  };
  return {
    open,
    problem: () => state.problem,
    async close() {
      state.isStopping = true;
      await state.child?.stop();
    },
  };
}

/** Takes back everything that this machine publishes in that mode, whoever did it. */
async function reset(ctx: PluginContext, mode: PublishSettings["mode"], env: Environment): Promise<void> {
  // The plugin's own signal has ended by now.
  await runTailscale([mode, "reset"], { env, signal: AbortSignal.timeout(5_000) }).catch((error: unknown) =>
    ctx.logger.warn(`tailscale ${mode} reset failed`, { error: messageOf(error) }),
  );
}
