import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { IndexSettings } from "./index-settings.ts";

/** Temporary test workspace with files, and a place for an index beside it. */
export interface TestWorkspace {
  /** Holds `workspace/` and `index/`. */
  readonly folder: string;
  readonly root: string;
  readonly settings: IndexSettings;
  path(relative: string): string;
  write(relative: string, content: string | Uint8Array): string;
  remove(): void;
}

export function createTestWorkspace(files: Record<string, string> = {}, over: Partial<IndexSettings> = {}): TestWorkspace {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-memory-")));
  const root = join(folder, "workspace");
  mkdirSync(root);
  const settings: IndexSettings = {
    agentId: "main",
    workspace: root,
    dbPath: join(folder, "index", "main.sqlite"),
    extraPaths: [],
    sources: ["memory"],
    chunking: { tokens: 400, overlap: 80 },
    tokenizer: "unicode61",
    vector: { enabled: true, extensionPath: undefined },
    multimodal: { modalities: [], maxFileBytes: 10_000_000 },
    cache: { enabled: false, maxEntries: 50_000 },
    batch: { enabled: false, wait: true, concurrency: 2, pollIntervalMs: 2_000, timeoutMs: 3_600_000 },
    sessions: { deltaBytes: 100_000, deltaMessages: 50 },
    watchDebounceMs: 50,
    ...over,
  };
  const made: TestWorkspace = {
    folder,
    root,
    settings,
    path: (relative) => join(root, relative),
    write(relative, content) {
      const path = join(root, relative);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  for (const [path, content] of Object.entries(files)) made.write(path, content);
  return made;
}
