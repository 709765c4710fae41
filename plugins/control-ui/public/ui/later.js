import { texts } from "../texts/parts.js";
import { announce } from "./announce.js";

/** Parts of a view, and modules that do something, fetched when they are needed. */

export { Later, prefetch } from "./states.js";

/**
 * Does something with a module that is fetched when it is first needed, and says so when it cannot be.
 * @template Module
 * @param {() => Promise<Module>} load @param {(module: Module) => unknown} use
 */
export async function withModule(load, use) {
  const found = await load().catch(() => undefined);
  if (found) use(found);
  else announce(texts.partPageCouldNot);
}
