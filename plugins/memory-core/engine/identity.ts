import { createHash } from "node:crypto";
import type { IndexSettings, Tokenizer } from "../index-settings.ts";
import { CHUNKER_VERSION } from "./chunker.ts";

/** Version of the tables; another one means a new index. */
export const SCHEMA_VERSION = 1;
/** Version of what is put into the FTS columns. */
const FTS_VERSION = 1;

/** What an index was made with. Any difference to the present settings means a full reindex. */
export interface IndexIdentity {
  provider: string;
  model: string;
  providerKey: string;
  sources: string[];
  scopeHash: string;
  chunkTokens: number;
  chunkOverlap: number;
  chunkerVersion: number;
  ftsTokenizer: Tokenizer;
  ftsVersion: number;
  schemaVersion: number;
}

/** Identity of a keyword-only index under these settings. */
export function identityOf(settings: IndexSettings): IndexIdentity {
  return {
    provider: "none",
    model: "fts-only",
    providerKey: sha256({}),
    sources: ["memory"],
    scopeHash: sha256({ extraPaths: [...settings.extraPaths].sort(), multimodal: { enabled: false } }),
    chunkTokens: settings.chunking.tokens,
    chunkOverlap: settings.chunking.overlap,
    chunkerVersion: CHUNKER_VERSION,
    ftsTokenizer: settings.tokenizer,
    ftsVersion: FTS_VERSION,
    schemaVersion: SCHEMA_VERSION,
  };
}

export function isSameIdentity(a: IndexIdentity | undefined, b: IndexIdentity): boolean {
  return a !== undefined && canonical(a) === canonical(b);
}

/** The stored JSON as an identity; undefined when it is none. */
export function parseIdentity(json: string): IndexIdentity | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && "schemaVersion" in value ? (value as IndexIdentity) : undefined;
  } catch {
    return undefined; // written by something else: not our index
  }
}

function canonical(identity: IndexIdentity): string {
  return JSON.stringify(Object.entries(identity).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sha256(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
