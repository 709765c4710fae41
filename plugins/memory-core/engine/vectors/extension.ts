import { open } from "node:fs/promises";
import Sqlite from "better-sqlite3";
import { getLoadablePath } from "sqlite-vec";
import type { IndexSettings } from "../../index-settings.ts";
import type { Database } from "../database.ts";
import { reasonOf } from "../fault.ts";
import { within } from "../query-embedding.ts";

type VectorSettings = IndexSettings["vector"];

/** A file on a dead network drive would hold whoever opens it for ever. */
const PROBE_MS = 30_000;

/** Outcome by path: undefined = it loads, text = why not. One attempt for the life of the thread. */
const attempts = new Map<string, string | undefined>();

/** Looks whether the file of the extension can be read, before a database is held up by loading it. Never rejects. */
export async function probeVectorExtension(settings: VectorSettings, limitMs = PROBE_MS): Promise<void> {
  if (!settings.enabled) return;
  const path = pathOf(settings);
  if (typeof path !== "string" || attempts.has(path)) return;
  const late = `${path} could not be read within ${limitMs / 1_000} s`;
  const failure = await within(whyUnreadable(path), performance.now() + limitMs, late);
  if (failure !== undefined) attempts.set(path, failure);
}

/** Makes `vec0` known to a database. Returns why it could not be done. */
export function loadVectorExtension(db: Database, settings: VectorSettings): string | undefined {
  if (!settings.enabled) return "it is switched off by store.vector.enabled";
  const path = pathOf(settings);
  if (typeof path !== "string") return path.reason;
  if (!attempts.has(path)) attempts.set(path, tryLoad(path));
  const failure = attempts.get(path);
  if (failure === undefined) db.loadExtension(path);
  return failure;
}

/** On a database of its own: a file that is no such extension must not touch an index. */
function tryLoad(path: string): string | undefined {
  const db = new Sqlite(":memory:");
  try {
    db.loadExtension(path);
    db.prepare("SELECT vec_version()").get();
    return undefined;
  } catch (error) {
    return `sqlite-vec could not be loaded from ${path}: ${reasonOf(error)}`;
  } finally {
    db.close();
  }
}

function pathOf({ extensionPath }: VectorSettings): string | { reason: string } {
  if (extensionPath !== undefined) return extensionPath;
  try {
    return getLoadablePath();
  } catch (error) {
    return { reason: `sqlite-vec has no library for this machine: ${reasonOf(error)}` };
  }
}

async function whyUnreadable(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, "r");
    try {
      await file.read(Buffer.alloc(1), 0, 1, 0);
    } finally {
      await file.close();
    }
    return undefined;
  } catch (error) {
    return `sqlite-vec could not be loaded: ${reasonOf(error)}`;
  }
}
