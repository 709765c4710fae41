import { z } from "zod";
import { duration, durationMs, sizeBytes } from "./amounts.ts";
import { clamped, clampedDays, knownNames } from "./clamped.ts";
import { documented, httpUrl, pathText, secret } from "./fields.ts";

const count = (max: number) => z.number().int().min(1).max(max);
/** Schema that clamps a value to its range, so that a config of another program or an older one keeps working; every change is reported at load. */
const share = () => clamped({ min: 0, max: 1 });
const amount = (max: number) => clamped({ min: 1, max, whole: true });

const inputType = () => z.string().min(1).max(64).optional();

const remote = z.strictObject({
  baseUrl: httpUrl().optional().describe("Address of an OpenAI-compatible embedding server"),
  apiKey: secret().optional().describe("Key for it; wins over the vendor's"),
  headers: z.record(z.string().min(1), z.string()).optional().describe("Headers added to the adapter's own"),
  batch: z
    .strictObject({
      enabled: documented(z.boolean(), false).describe("Use the vendor's batch API while indexing"),
      wait: documented(z.boolean(), true).describe("Indexing waits for the batch"),
      concurrency: documented(count(16), 2).describe("Batch jobs at a time"),
      pollIntervalMs: documented(durationMs(100, 3_600_000), 2_000).describe("Polling interval of a batch job"),
      timeoutMinutes: documented(duration("m", 1, 1_440), 60).describe("Time limit of a batch job"),
    })
    .optional(),
});

const store = z.strictObject({
  path: documented(pathText(), "<state dir>/memory/{agentId}.sqlite").describe("Index file; `{agentId}` is replaced, `~` expanded"),
  vector: z
    .strictObject({
      enabled: documented(z.boolean(), true).describe(
        "Use the vector extension of the database; without it the gateway compares vectors itself",
      ),
      extensionPath: pathText().optional().describe("Path of another build of that extension"),
    })
    .optional(),
  fts: z
    .strictObject({
      tokenizer: documented(z.enum(["unicode61", "trigram"]), "unicode61").describe(
        "Tokenizer of the keyword index; `trigram` for languages without spaces",
      ),
    })
    .optional(),
});

const hybrid = z.strictObject({
  enabled: documented(z.boolean(), true).describe("Combine keyword and vector search; off: vectors only"),
  vectorWeight: documented(share(), 0.7).describe("Weight of vectors, 0 to 1; both weights are divided by their sum"),
  textWeight: documented(share(), 0.3).describe("Weight of keywords, 0 to 1"),
  candidateMultiplier: documented(amount(20), 4).describe("Candidates fetched per requested result, 1 to 20"),
  mmr: z
    .strictObject({
      enabled: documented(z.boolean(), false).describe("Prefer results that differ from each other"),
      lambda: documented(share(), 0.7).describe("0: most different, 1: most relevant"),
    })
    .optional(),
  temporalDecay: z
    .strictObject({
      enabled: documented(z.boolean(), false).describe("Newer notes score higher"),
      halfLifeDays: documented(clampedDays({ min: 1, whole: true }), 30).describe("Age at which a score is halved, at least a day"),
    })
    .optional(),
});

/** `memorySearch.*`, of the defaults and of one agent: the agent's fields win, `extraPaths` of both are joined. */
export const memorySearchSchema = z
  .strictObject({
    enabled: documented(z.boolean(), true).describe("Off: no memory tools, no index"),
    provider: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,63}$/, "expected the id of an embedding adapter, or none")
      .optional()
      .describe("Embedding adapter; unset: the first one available; `none`: keywords only"),
    model: z.string().min(1).optional().describe("Embedding model; unset: the adapter's own"),
    fallback: documented(z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, "expected the id of an embedding adapter, or none"), "none").describe(
      "Adapter used when the first one fails",
    ),
    outputDimensionality: z
      .number()
      .int()
      .min(1)
      .max(65_536)
      .optional()
      .describe("Length of vectors; unset: the adapter's own; a change rebuilds the index"),
    inputType: inputType().describe("`input_type` of requests to servers of the adapter `openai` that require one"),
    queryInputType: inputType().describe("`input_type` of queries; wins over `inputType`"),
    documentInputType: inputType().describe("`input_type` of documents; wins over `inputType`; a change of any of them rebuilds the index"),
    remote: remote.optional(),
    local: z
      .strictObject({
        modelPath: pathText().optional().describe("Model file of the adapter `local`; unset: downloaded"),
        modelCacheDir: pathText().optional().describe("Where downloaded models are kept"),
        sha256: z
          .string()
          .regex(/^[0-9a-fA-F]{64}$/, "expected a SHA-256 as 64 hexadecimal digits")
          .optional()
          .describe("SHA-256 that a downloaded model has to have, besides the one that its server announces"),
      })
      .optional(),
    sources: documented(knownNames(["memory", "sessions"]), ["memory"]).describe(
      "What is indexed; `sessions` needs `experimental.sessionMemory`; other names are dropped",
    ),
    extraPaths: documented(z.array(z.string().min(1)), []).describe("Further folders and files, absolute or relative to the workspace"),
    multimodal: z
      .strictObject({
        enabled: documented(z.boolean(), false).describe("Index images and audio in `extraPaths`"),
        modalities: documented(knownNames(["image", "audio", "all"]), ["all"]).describe("Kinds of media to index; other names are dropped"),
        maxFileBytes: documented(sizeBytes(1, 1_000_000_000), 10_000_000).describe("Larger files are left out"),
      })
      .optional(),
    chunking: z
      .strictObject({
        tokens: documented(amount(8_000), 400).describe("Length of a chunk in tokens, 1 to 8000"),
        overlap: documented(clamped({ min: 0, max: 8_000, whole: true }), 80).describe(
          "Overlap of neighbouring chunks in tokens; less than `tokens`",
        ),
      })
      .optional(),
    store: store.optional(),
    cache: z
      .strictObject({
        enabled: documented(z.boolean(), false).describe("Keep embeddings of unchanged text"),
        maxEntries: documented(amount(100_000_000), 50_000).describe("Maximum number of cached embeddings, at least one"),
      })
      .optional(),
    query: z
      .strictObject({
        maxResults: documented(amount(200), 6).describe("Another name of `limits.maxResults`, which wins"),
        minScore: documented(share(), 0.35).describe("Results below it are left out while better ones exist; 0 to 1"),
        hybrid: hybrid.optional(),
      })
      .optional(),
    limits: z
      .strictObject({
        maxResults: documented(amount(200), 6).describe("Maximum results of a search, 1 to 200"),
        maxSnippetChars: documented(z.number().int().min(1), 700).describe("Maximum length of a snippet in UTF-16 units"),
        maxInjectedChars: z.number().int().min(1).optional().describe("All snippets together; unset: no limit"),
        timeoutMs: documented(durationMs(1, 600_000), 4_000).describe("Time limit of a search; results found so far are returned"),
      })
      .optional(),
    sync: z
      .strictObject({
        watch: documented(z.boolean(), true).describe("Index when a file changes"),
        watchDebounceMs: documented(durationMs(0, 600_000), 1_500).describe("Quiet time before a changed file is indexed"),
        onSessionStart: documented(z.boolean(), true).describe("Check for changes in the background when a session starts"),
        onSearch: documented(z.boolean(), true).describe("Check for changes in the background at each search"),
        intervalMinutes: documented(duration("m", 0, 10_080), 0).describe("Interval between checks for changes; 0 = off"),
        sessions: z
          .strictObject({
            deltaBytes: documented(sizeBytes(0, 1_000_000_000), 100_000).describe("New bytes after which a transcript is indexed; 0: any"),
            deltaMessages: documented(z.number().int().min(0).max(1_000_000), 50).describe(
              "New messages after which a transcript is indexed; 0: any",
            ),
          })
          .optional(),
      })
      .optional(),
    experimental: z
      .strictObject({ sessionMemory: documented(z.boolean(), false).describe("Allows `sessions` among the sources") })
      .optional(),
    sidecar: z
      .strictObject({
        extraCollections: documented(
          z.array(
            z.strictObject({
              path: pathText().describe("Folder, relative to the workspace; `~` is expanded"),
              name: z.string().min(1).describe("Name of the collection"),
              pattern: z.string().min(1).optional().meta({ default: "**/*.md" }).describe("Files of the folder"),
            }),
          ),
          [],
        ).describe("Folders that this agent searches besides its own, with the engine `sidecar`"),
      })
      .optional(),
  })
  .meta({ reload: "hot" });
