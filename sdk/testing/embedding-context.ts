import { rootSchema } from "../../kernel/config/root-schema.ts";
import { EmbeddingError } from "../define.ts";
import type { EmbeddingContext } from "../types/embedding.ts";

/** Creates the context of an adapter, with harmless values for everything the test does not care about. */
export function embeddingContext(own: Partial<EmbeddingContext>): EmbeddingContext {
  const quiet = {
    trace: () => undefined,
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    child: () => quiet,
  };
  return {
    agentId: "main",
    config: rootSchema.parse({}),
    auto: false,
    logger: quiet,
    clock: { now: Date.now, monotonic: () => performance.now() },
    signal: new AbortController().signal,
    ...own,
  };
}

/** True for an `EmbeddingError` of any SDK copy. */
export function isEmbeddingError(error: unknown): error is EmbeddingError {
  return error instanceof Error && error.name === EmbeddingError.name;
}
