import { type Disposable, messageOf } from "svc/sdk";
import type { Kit } from "../kit.ts";

/** After the first answers, and after the code of model calls was loaded. */
const FIRST_LOOK_MS = 5_000;
const LOOK_EVERY_MS = 900_000;

/**
 * Asks the servers that the config names by an address whether they are there: after the start, after a change, and every quarter of an hour. A vendor
 * without such an address is asked by `svc doctor` only.
 */
export function followServers(kit: Kit): void {
  const { ctx } = kit;
  let timer: Disposable | undefined;
  let told = "";
  const look = async () => {
    await kit.modelStates.refresh("named");
    const { provider, model } = kit.modelStates.of(kit.directory.get(kit.directory.defaultId));
    const isUnnamed =
      kit.directory.get(kit.directory.defaultId).models.length === 0 && kit.catalog.provider(provider)?.defaultModel === undefined;
    const text = isUnnamed && provider !== "" ? `${provider}/${model}` : "";
    if (text !== "" && text !== told)
      ctx.logger.info(
        `no model is named, so "${text}" answers: the first by name that the server lists; name one in agents.defaults.model`,
      );
    told = text;
  };
  const lookLater = (delayMs: number) => {
    void timer?.dispose();
    timer = ctx.timers.setTimeout(() => {
      lookLater(LOOK_EVERY_MS);
      look().catch((error: unknown) => ctx.logger.debug(`model servers could not be reached: ${messageOf(error)}`));
    }, delayMs);
  };
  const begin = () => {
    const { phase, port } = ctx.service("gateway@1").info();
    if (phase === "ready" && port !== 0) lookLater(FIRST_LOOK_MS);
  };
  ctx.on("gateway.ready", begin);
  ctx.onReload({ prefixes: ["models"], prepare: async () => ({ apply: begin, discard: () => undefined }) });
  begin();
}
