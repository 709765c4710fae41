import { type CliContext, isRecord } from "svc/sdk";
import type { EntryChange } from "../install/entry.ts";
import { withLive } from "./live.ts";

/** Writes (or, with null, removes) a plugin's entry by the one write pipeline: through the running gateway, which then has applied it, else in the file. */
export async function writeEntry(cli: CliContext, id: string, change: EntryChange | null): Promise<void> {
  const done = await withLive(cli, async (client) => {
    const { hash } = await client.request("config.get", {});
    const raw = JSON.stringify({ plugins: { entries: { [id]: change } } });
    await client.request("config.patch", {
      raw,
      baseHash: hash,
      note: `svc plugins: ${id}`,
      ...(change?.grants ? { replacePaths: [`plugins.entries.${id}.grants`] } : {}),
    });
    return true;
  });
  if (done) return;
  const file = await cli.configFile();
  await file.write({ kind: "edit", apply: (source) => withEntry(source, id, change) }, { onWarning: (text) => cli.stderr.line(text) });
}

/** The tree with the entry changed; everything else is the very same. Pure. */
export function withEntry(source: unknown, id: string, change: EntryChange | null): unknown {
  const root = asTree(source);
  const plugins = asTree(root.plugins);
  const entries = asTree(plugins.entries);
  const old = Object.hasOwn(entries, id) ? entries[id] : undefined;
  const { [id]: _, ...others } = entries;
  if (change === null && old === undefined) return source;
  const next = change === null ? others : { ...entries, [id]: { ...asTree(old), ...change } };
  return { ...root, plugins: { ...plugins, entries: next } };
}

function asTree(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
