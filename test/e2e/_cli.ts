import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHome, type Home, type Running, startGateway, svcCommand } from "./_process.ts";

/** The checkout. */
export const root = fileURLToPath(new URL("../..", import.meta.url));
/** Secret of every gateway that `configured` prepares. */
export const token = "e2e-token-1234";

const homes: Array<{ remove(): Promise<void> }> = [];
const stops: Array<() => Promise<unknown>> = [];

export async function freshHome(): Promise<Home> {
  const home = await createHome();
  homes.push(home);
  return home;
}

/** Removed by `stopAll`, after the gateways. */
export function removeLater(thing: { remove(): Promise<void> }): void {
  homes.push(thing);
}

export async function gatewayIn(home: Home, args: string[] = [], env: Record<string, string> = {}): Promise<Running> {
  const gateway = await startGateway(home, args, env);
  stopLater(() => gateway.kill("SIGTERM"));
  return gateway;
}

/** Called by `stopAll`, before homes are removed. */
export function stopLater(stop: () => Promise<unknown>): void {
  stops.push(stop);
}

export async function configured(home: Home, config: object = { gateway: { mode: "local", auth: { token } } }): Promise<Home> {
  await mkdir(home.stateDir, { recursive: true });
  await writeFile(join(home.stateDir, "svc.json"), JSON.stringify(config));
  return home;
}

/**
 * Plugins of stories about messages, of which some start dozens of gateways: one starts with a third less work. A story names the others that it looks at: its channel,
 * its model, notes, the page.
 */
export const aroundMessages = (...others: string[]) => ({ allow: ["store", "agents", "messaging", ...others] });

/** Plugins that answer `GET /v1/models`. A story about the port, its certificates and its signals needs no other: a gateway starts with a third less work. */
export const behindModels = { allow: ["store", "agents", "model-recall", "openai-http"] };

/** stdout as the one JSON document it has to be. */
export async function json(home: Home, args: string[], env: Record<string, string> = {}, run: typeof svcCommand = svcCommand) {
  const done = await run(home, [...args, "--json"], env);
  return { code: done.code, value: JSON.parse(done.stdout) as Record<string, unknown>, stderr: done.stderr };
}

export async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
  for (const home of homes.splice(0)) await home.remove();
}
