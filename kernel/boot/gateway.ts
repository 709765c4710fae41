import { messageOf } from "../../sdk/errors.ts";
import { continueReplacement, hasReplacement, replacementPath } from "../../sdk/internal/files/replacement.ts";
import { kernelErrors } from "../errors.ts";
import { createEventLoopMonitor } from "../operations/event-loop.ts";
import { type Listeners, openListeners } from "../port/listen.ts";
import { createStartupGate, type StartupGate } from "../port/startup-gate.ts";
import { acquireConfigLock, acquireStateLock, type HeldLock } from "../process/lock.ts";
import type { Gateway, GatewayOptions } from "./running-gateway.ts";
import { planStart, recordRefusal, removeRuntimeFiles, type StartPlan, writeRuntimeToken } from "./start-plan.ts";

/**
 * Starts a gateway: guards, lock, listener, then plugins behind it. Resolves once the port listens.
 * @throws {SvcError} `already-listening`, `invalid-config`, `start-blocked`, `secret-unresolved`, `bind-without-auth`, `lock-held`, `config-lock-held`, `port-taken`, `bind-failed`, `replacement-unfinished`
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const listen = options.listen ?? true;
  try {
    await completeReplacement(options);
    const plan = await planStart({
      paths: options.paths,
      env: options.env,
      flags: options.flags ?? {},
      listen,
      takePort: options.takePort,
    });
    const { configPath, stateDir } = options.paths;
    const record = { configPath, stateDir, port: listen ? plan.port : null, version: options.version };
    const lock = await acquireLocks(record, { listen, waitMs: options.lockWaitMs });
    try {
      await writeRuntimeToken(options.paths.stateDir, plan.auth);
      if (options.flags?.https && !plan.tls) {
        const { localCertificate } = await import("../port/local-certificate.ts");
        plan.tls = await localCertificate(stateDir);
        await lock.update({ localTls: true });
      }
      return await boot(options, plan, lock);
    } catch (error) {
      await removeRuntimeFiles(options.paths.stateDir);
      await lock.release();
      throw error;
    }
  } catch (error) {
    await recordRefusal(options.paths.stateDir, error);
    throw error;
  }
}

/** A restore that was cut off is completed before anything of the state is read. @throws {SvcError} `replacement-unfinished` */
async function completeReplacement({ paths, version, logger, lockWaitMs }: GatewayOptions): Promise<void> {
  const { stateDir, configPath } = paths;
  if (!(await hasReplacement(stateDir))) return;
  const lock = await acquireStateLock({ configPath, stateDir, port: null, version }, lockWaitMs);
  try {
    if (await continueReplacement(stateDir)) logger.warn("the restore of a backup had been cut off; it is complete now");
  } catch (error) {
    throw kernelErrors.replacementUnfinished({ path: replacementPath(stateDir), reason: messageOf(error) });
  } finally {
    await lock.release();
  }
}

/** The state directory always; the config file only by a gateway that serves: commands that open the state merely read it. */
async function acquireLocks(
  record: Parameters<typeof acquireStateLock>[0],
  { listen, waitMs }: { listen: boolean; waitMs: number | undefined },
): Promise<HeldLock> {
  const state = await acquireStateLock(record, waitMs);
  if (!listen) return state;
  const config = await acquireConfigLock(record, waitMs).catch(async (error: unknown) => {
    await state.release();
    throw error;
  });
  return {
    async update(fields) {
      await state.update(fields);
      await config?.update(fields);
    },
    async keep() {
      const found = await state.keep();
      return found === "kept" ? ((await config?.keep()) ?? found) : found;
    },
    async release() {
      await config?.release();
      await state.release();
    },
  };
}

/** The port opens before the rest is loaded: a supervisor's probe and a second start get their answer at once. */
async function boot(options: GatewayOptions, plan: StartPlan, lock: HeldLock): Promise<Gateway> {
  const { logger } = options;
  for (const secret of [...plan.loaded.secrets.values(), plan.auth.secret]) logger.addSecret(secret);
  logger.redactWith(() => plan.config.logging.redactPatterns);
  for (const note of plan.notes) logger.info(note);
  const eventLoop = createEventLoopMonitor();
  const startupGate = createStartupGate(eventLoop.figures);
  let listeners: Listeners | undefined;
  try {
    if (options.listen ?? true) listeners = await openPort(options, plan, startupGate);
    if (listeners) await lock.update({ port: listeners.port });
    const { assemble } = await import("./assemble.ts");
    return await assemble({ options, plan, lock, listeners, startupGate, eventLoop });
  } catch (error) {
    await listeners?.close();
    eventLoop.dispose();
    throw error;
  }
}

async function openPort(options: GatewayOptions, plan: StartPlan, startupGate: StartupGate): Promise<Listeners> {
  const { logger, clock } = options;
  const { handler, upgrade } = startupGate;
  const listeners = await openListeners({
    plan: plan.bind,
    port: plan.port,
    tls: plan.tls,
    dev: options.flags?.https === true,
    logger,
    handler,
    onUpgrade: upgrade,
    monotonic: clock?.monotonic ?? (() => performance.now()),
  });
  if (plan.bindMode === "tailnet" && plan.bind.loopbackOnly)
    logger.warn("bind tailnet: this machine has no tailnet address; listening on loopback only");
  logger.info(`listening on ${plan.tls ? "wss" : "ws"}://${listeners.host}:${listeners.port}`, {
    bind: plan.bindMode,
    auth: plan.auth.mode,
  });
  await listeners.printBanner().catch((error: unknown) => logger.warn(`the addresses could not be shown: ${messageOf(error)}`));
  return listeners;
}
