import { setImmediate as nextTurn } from "node:timers/promises";
import type { Memory, MemoryTranscript, SessionRow } from "svc/sdk";
import { redactSecrets } from "../engine/sessions/redact.ts";
import { transcriptLine } from "../engine/sessions/transcript-text.ts";
import { SLICE_MS } from "./slices.ts";
import { createTranscripts, rememberedSessions, type TranscriptStore, type Transcripts } from "./transcripts.ts";

/** Transcripts as backends read them. */
export type BackendTranscripts = NonNullable<Memory["transcripts"]>;

const MAX_TRANSCRIPTS = 10_000;

/** @param store the service, asked for at each use; throws while nobody provides it */
export function createBackendTranscripts(store: () => TranscriptStore): BackendTranscripts {
  const transcripts = createTranscripts(store);
  return async function* (agentId, { updatedAfter } = {}) {
    let count = 0;
    for await (const session of rememberedSessions(store, { agentId, ...(updatedAfter === undefined ? {} : { updatedAfter }) })) {
      if (++count > MAX_TRANSCRIPTS) return;
      yield toTranscript(transcripts, session);
    }
  };
}

function toTranscript(transcripts: Transcripts, { sessionId, agentId, label, derivedTitle, key, updatedAt }: SessionRow): MemoryTranscript {
  const name = redactSecrets(label ?? derivedTitle ?? key);
  return { sessionId, name, updatedAt, lines: () => linesOf(transcripts, { agentId, sessionId }) };
}

async function* linesOf(transcripts: Transcripts, { agentId, sessionId }: { agentId: string; sessionId: string }): AsyncGenerator<string> {
  let sliceStart = performance.now();
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await transcripts.read(agentId, sessionId, after);
    if (!page) return;
    for (const message of page.messages) {
      const line = transcriptLine(message);
      if (line !== undefined) yield line;
      if (performance.now() - sliceStart < SLICE_MS) continue;
      await nextTurn();
      sliceStart = performance.now();
    }
    after = page.next;
  }
}
