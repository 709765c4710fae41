import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually, type TestGateway } from "svc/sdk/testing";

// biome-ignore lint/suspicious/noExplicitAny: a config as a test edits it
export type Editable = any;

/** So that a test waits for the watcher no longer than it must. */
export const quickReload = { debounceMs: 10 };

/** Changes the config file as an editor would; the watcher finds it. */
export async function edit(gateway: TestGateway, change: (config: Editable) => void): Promise<void> {
  const path = join(gateway.stateDir, "svc.json");
  const config = JSON.parse(await readFile(path, "utf8"));
  change(config);
  await writeFile(path, JSON.stringify(config));
}

/** The first log line from `from` on that contains a text, present or to come. */
export async function line(gateway: TestGateway, text: string, from = 0): Promise<string> {
  const found = await eventually(() => gateway.logs.slice(from).find((l) => l.message.includes(text)));
  return found.message;
}

/** An edit, and the end of the reload it caused. */
export async function editAndApply(gateway: TestGateway, change: (config: Editable) => void): Promise<string> {
  const from = gateway.logs.length;
  await edit(gateway, change);
  const told = await line(gateway, "config reload ", from);
  if (!told.startsWith("config reload applied")) throw new Error(told);
  return told;
}

/** `health.configReload`, as soon as its status is this. */
export async function reloadStatus(gateway: TestGateway, status: string): Promise<Editable> {
  return eventually(async () => {
    const { configReload } = await gateway.rpc<Editable>("health", { probe: true });
    return configReload.status === status && configReload;
  });
}

/** Instance numbers of all plugins that run. */
export function instances(gateway: TestGateway): Record<string, number> {
  return Object.fromEntries(gateway.gateway.plugins().map((p) => [p.id, p.instance]));
}
