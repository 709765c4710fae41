import { createHash } from "node:crypto";
import type { IndexSettings, ProviderFacts, Tokenizer } from "../index-settings.ts";
import { CHUNKER_VERSION } from "./chunker.ts";

/** Version of the tables; another one means a new index. */
export const SCHEMA_VERSION = 3;
/** Oldest version whose tables can be searched, and vectors taken over, until the new index is made. */
export const OLDEST_READABLE = 2;
/** Version of what of a transcript is indexed; counts only where transcripts are. */
const TRANSCRIPT_VERSION = 2;
/** Version of what is put into the FTS columns. */
const FTS_VERSION = 1;

/** Parameters an index was built with. Any difference to the present settings means a full reindex. */
export interface IndexIdentity {
  provider: string;
  model: string;
  providerKey: string;
  /** Length of the stored vectors; absent in keyword-only mode and until the first vector. */
  vectorDims?: number;
  sources: string[];
  scopeHash: string;
  chunkTokens: number;
  chunkOverlap: number;
  chunkerVersion: number;
  ftsTokenizer: Tokenizer;
  ftsVersion: number;
  schemaVersion: number;
}

/** State of embedding: a provider; none by choice; none for the moment, so what the index was made with stays. */
export type ProviderChoice = ProviderFacts | "none" | "absent";

type ProviderPart = Pick<IndexIdentity, "provider" | "model" | "providerKey" | "vectorDims">;

/** @param live identity of the index that answers; with an absent provider its vectors are kept */
export function identityOf(settings: IndexSettings, choice: ProviderChoice, live?: IndexIdentity): IndexIdentity {
  return {
    ...providerPart(choice, live),
    sources: [...settings.sources].sort(),
    scopeHash: scopeHash(settings),
    chunkTokens: settings.chunking.tokens,
    chunkOverlap: settings.chunking.overlap,
    chunkerVersion: CHUNKER_VERSION,
    ftsTokenizer: settings.tokenizer,
    ftsVersion: FTS_VERSION,
    schemaVersion: SCHEMA_VERSION,
  };
}

/** A length that only one of them tells decides nothing: a provider may learn it from its first vector. */
export function isSameIdentity(a: IndexIdentity | undefined, b: IndexIdentity): boolean {
  if (a === undefined) return false;
  const { vectorDims: dimsA, ...restA } = a;
  const { vectorDims: dimsB, ...restB } = b;
  return canonical(restA) === canonical(restB) && (dimsA === undefined || dimsB === undefined || dimsA === dimsB);
}

/** True when the vectors of an index may be compared with those of a provider. */
export function isOfProvider(identity: IndexIdentity, provider: ProviderFacts): boolean {
  const { id, model, providerKey, dims } = provider;
  if (identity.provider !== id || identity.model !== model || identity.providerKey !== providerKey) return false;
  return dims === undefined || identity.vectorDims === undefined || dims === identity.vectorDims;
}

export function isKeywordOnly(identity: IndexIdentity): boolean {
  return identity.provider === "none";
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

function providerPart(choice: ProviderChoice, live: IndexIdentity | undefined): ProviderPart {
  if (choice === "absent" && live) {
    const { provider, model, providerKey, vectorDims } = live;
    return { provider, model, providerKey, ...(vectorDims === undefined ? {} : { vectorDims }) };
  }
  if (typeof choice === "string") return { provider: "none", model: "fts-only", providerKey: sha256({}) };
  const { id, model, providerKey, dims } = choice;
  return { provider: id, model, providerKey, ...(dims === undefined ? {} : { vectorDims: dims }) };
}

function scopeHash({ extraPaths, multimodal, sources }: IndexSettings): string {
  const { modalities, maxFileBytes } = multimodal;
  const isOn = modalities.length > 0;
  const media = isOn ? { enabled: true, modalities: [...modalities].sort(), maxFileBytes } : { enabled: false };
  const transcripts = sources.includes("sessions") ? { transcripts: TRANSCRIPT_VERSION } : {};
  return sha256({ extraPaths: [...extraPaths].sort(), multimodal: media, ...transcripts });
}

function canonical(identity: Omit<IndexIdentity, "vectorDims">): string {
  return JSON.stringify(Object.entries(identity).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sha256(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
