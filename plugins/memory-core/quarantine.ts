import { isSvcError, messageOf, type PluginKv } from "svc/sdk";
import type { DocumentVersion } from "./thread-activity.ts";

/** Documents that stopped the index of one agent. They are left out, also by the next process, until they change or a forced sync lifts the quarantine. */
export interface Quarantine {
  entries(): readonly DocumentVersion[];
  /** Adds a document that is not there yet; the oldest entries go when there are too many. */
  add(document: DocumentVersion): void;
  clear(): void;
  /** Resolves once the entries of earlier processes are read; the first call reads them. Never rejects. */
  ready(): Promise<void>;
}

/** Characters of all entries together: a value of the store has 64 KiB, and a character up to three bytes. */
const MAX_CHARS = 15_000;
/** Quotes, names and commas of an entry. */
const ENTRY_CHARS = 25;

/** @param options.kv absent: the quarantine ends with the process */
export function createQuarantine(agentId: string, { kv, warn }: { kv?: PluginKv | undefined; warn(message: string): void }): Quarantine {
  const key = `index-quarantine/${agentId}`;
  let entries: DocumentVersion[] = [];
  let saving: Promise<void> = Promise.resolve();
  const save = () => {
    if (!kv) return;
    const kept = entries;
    saving = saving
      .then(() => (kept.length === 0 ? kv.delete(key) : kv.set(key, kept)))
      .catch((error: unknown) => {
        if (!hasNoStore(error)) warn(`the files that stopped the memory index could not be stored for the next start: ${messageOf(error)}`);
      });
  };
  const load = async () => {
    try {
      const found = await kv?.get(key);
      if (Array.isArray(found)) entries = found.filter(isEntry);
    } catch (error) {
      if (!hasNoStore(error)) warn(`the files that stopped the memory index earlier could not be read: ${messageOf(error)}`);
    }
  };
  let loading: Promise<void> | undefined;
  return {
    entries: () => entries,
    add(document) {
      if (entries.some(({ path, stamp }) => path === document.path && stamp === document.stamp)) return;
      entries = [...entries.filter(({ path }) => path !== document.path), document];
      while (entries.length > 1 && charsOf(entries) > MAX_CHARS) entries = entries.slice(1);
      save();
    },
    clear() {
      if (entries.length === 0) return;
      entries = [];
      save();
    },
    ready: () => (loading ??= load()),
  };
}

/** A command that works without a gateway may have no store, and then no earlier process has left anything. */
function hasNoStore(error: unknown): boolean {
  return isSvcError(error, "service-unavailable");
}

function charsOf(entries: readonly DocumentVersion[]): number {
  return entries.reduce((sum, { path, stamp }) => sum + path.length + stamp.length + ENTRY_CHARS, 0);
}

function isEntry(value: unknown): value is DocumentVersion {
  if (typeof value !== "object" || value === null) return false;
  const { path, stamp } = value as Partial<DocumentVersion>;
  return typeof path === "string" && typeof stamp === "string";
}
