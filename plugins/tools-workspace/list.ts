import { lstat, opendir } from "node:fs/promises";
import { type Tool, z } from "svc/sdk";
import { inFolder, shownPath } from "svc/sdk/internal";
import type { Place, Places } from "./place.ts";
import { orRefused, texts } from "./result.ts";

const input = z.strictObject({
  path: z.string().max(4_096).optional().describe("Folder below the workspace; default: the workspace."),
  depth: z.number().int().min(1).max(8).optional().describe("Levels of folders to look into, 1 to 8; default 1."),
});

const MAX_ENTRIES = 500;
/** Entries of one folder that are looked at. */
const MAX_LOOKED_AT = 10_000;

interface Entry {
  name: string;
  isFolder: boolean;
}

/** `list`: the names in a folder. */
export function listTool(places: Places): Tool<z.output<typeof input>> {
  return {
    name: "list",
    description: "Lists files and folders of the workspace, at most 500; folders end with a slash.",
    input,
    readOnly: true,
    run: ({ path = ".", depth = 1 }, call) =>
      orRefused(async () => {
        const place = await places.toRead(call.agentId, path);
        const found: string[] = [];
        const isComplete = await walk(place, { below: "", depth, found, signal: call.signal });
        const more = isComplete ? "" : `[there is more: at most ${MAX_ENTRIES} entries are listed; list a folder of it]`;
        const none = found.length === 0 ? `[${place.shown} is empty]` : "";
        return texts([found.join("\n"), none, more], { path: place.shown, entries: found.length, isComplete });
      }),
  };
}

/** @returns whether everything is listed */
async function walk(
  place: Place,
  { below, depth, found, signal }: { below: string; depth: number; found: string[]; signal: AbortSignal },
): Promise<boolean> {
  signal.throwIfAborted();
  const { lines, isComplete } = await entriesOf(place);
  for (const { name, line, isFolder } of lines) {
    signal.throwIfAborted();
    if (place.isClosed([...place.parts, name])) continue;
    if (found.length >= MAX_ENTRIES) return false;
    found.push(below + line);
    if (!isFolder || depth <= 1) continue;
    const inner = { below: `${below}${shownPath(name)}/`, depth: depth - 1, found, signal };
    // A folder that is gone by now, or a link by now, has nothing to list.
    const isWhole = await walk({ ...place, parts: [...place.parts, name] }, inner).catch(() => true);
    if (!isWhole) return false;
  }
  return isComplete;
}

async function entriesOf({ root, parts }: Place) {
  return inFolder(root, parts, async (folder) => {
    const entries: Entry[] = [];
    let isComplete = true;
    for await (const entry of await opendir(folder.way)) {
      if (entries.length >= MAX_LOOKED_AT) {
        isComplete = false;
        break;
      }
      entries.push({ name: entry.name, isFolder: entry.isDirectory() });
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const shown = entries.slice(0, MAX_ENTRIES + 1);
    const lines = await Promise.all(
      shown.map(async ({ name, isFolder }) => ({ name, isFolder, line: await lineOf(folder.pathOf(name), { name, isFolder }) })),
    );
    return { lines, isComplete };
  });
}

async function lineOf(path: string, { name, isFolder }: Entry): Promise<string> {
  const shown = shownPath(name);
  if (isFolder) return `${shown}/`;
  const facts = await lstat(path).catch(() => undefined);
  if (facts?.isSymbolicLink()) return `${shown} (link, not followed)`;
  return facts?.isFile() ? `${shown} (${facts.size} bytes)` : `${shown} (no file)`;
}
