import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { MemorySearchResult, MemoryStatus, SvcConfigInput } from "svc/sdk";
import { createTestGateway, type FakeClock, fakeClock, type TestGateway } from "svc/sdk/testing";
import type { MemorySearchConfig, Vendor } from "./_embedding-vendors.ts";

export type SearchAnswer = Omit<MemorySearchResult, "mode"> & { searchMode: MemorySearchResult["mode"] };

/** A gateway with a memory, its own home and a clock that the test moves. */
export interface Stage {
  gateway: TestGateway;
  clock: FakeClock;
  /** Puts another `memorySearch` in force. */
  configure(memorySearch: MemorySearchConfig, models?: SvcConfigInput["models"]): Promise<void>;
  search(query: string): Promise<SearchAnswer>;
  status(): Promise<MemoryStatus>;
  /** Resolves when everything that can be done is done. */
  sync(options?: { force?: boolean }): Promise<void>;
  stored(): Stored;
  close(): Promise<void>;
}

/** Contents of the index. */
export interface Stored {
  chunks: number;
  vectors: number;
  /** Lengths that occur. */
  dims: number[];
  /** Vectors that are not of length 1, or hold no number somewhere. */
  odd: number;
}

export interface StageOptions {
  memorySearch: MemorySearchConfig;
  models?: SvcConfigInput["models"];
  /** Adapters whose plugins are there. */
  adapters: readonly string[];
  vendors: readonly Vendor[];
}

const notes = {
  "MEMORY.md": "# House\n\nThe boiler needs 1.4 bar.\n",
  "memory/first.md": "# Trains\n\nThe airport train leaves at six.\n",
};

export async function startStage(options: StageOptions): Promise<Stage> {
  const clock = fakeClock();
  const home = await mkdtemp(join(tmpdir(), "svc-embedding-"));
  const configOf = (own: MemorySearchConfig, models: SvcConfigInput["models"]): SvcConfigInput => {
    const memorySearch = { limits: { timeoutMs: 2_000 }, sync: { watch: false, onSearch: false, onSessionStart: false }, ...own };
    return { agents: { defaults: { memorySearch } }, ...(models ? { models } : {}) };
  };
  const gateway = await createTestGateway({
    plugins: ["memory-core", ...options.adapters.map((id) => `embed-${id}`)],
    workspace: notes,
    env: { HOME: home, AWS_EC2_METADATA_DISABLED: "true", ...Object.assign({}, ...options.vendors.map(({ env }) => env)) },
    clock,
    stragglerMs: 60_000,
    config: configOf(options.memorySearch, options.models),
  });
  return {
    gateway,
    clock,
    async configure(memorySearch, models) {
      await gateway.reload(configOf(memorySearch, models));
    },
    search: (query) => gateway.rpc<SearchAnswer>("memory.search", { query }),
    status: () => gateway.rpc<MemoryStatus>("memory.status", {}),
    async sync(how = {}) {
      await gateway.service("memory@1").sync("main", how);
    },
    stored: () => readIndex(join(gateway.stateDir, "memory", "main.sqlite")),
    async close() {
      await gateway.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

function readIndex(path: string): Stored {
  const db = new Database(path, { readonly: true });
  try {
    const { chunks = 0 } = db.prepare<[], { chunks: number }>("SELECT count(*) chunks FROM chunks").get() ?? {};
    const rows = db.prepare<[], { embedding: Buffer }>("SELECT embedding FROM chunk_vectors").all();
    const vectors = rows.map(
      ({ embedding: { buffer, byteOffset, length } }) => new Float32Array(buffer.slice(byteOffset, byteOffset + length)),
    );
    return {
      chunks,
      vectors: vectors.length,
      dims: [...new Set(vectors.map((vector) => vector.length))],
      odd: vectors.filter((vector) => !vector.every(Number.isFinite) || Math.abs(Math.hypot(...vector) - 1) > 1e-3).length,
    };
  } finally {
    db.close();
  }
}
