import type { Pacer } from "../pacer.ts";
import { createWriteQueue, type OpenIndex } from "../writing.ts";
import { createPendingChunks, settling } from "./pending.ts";

const PAGE_CHUNKS = 256;
/** Chunks are compared as they are: cutting for a provider is not known while there is none. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Gives chunks that wait the vectors which the same texts have in another index. */
export async function keepVectors(from: OpenIndex, to: OpenIndex, pacer: Pacer): Promise<void> {
  const find = from.db
    .prepare(
      `SELECT v.embedding FROM chunks c JOIN chunk_vectors v ON v.chunk_id = c.rowid
       WHERE c.source = ? AND c.path = ? AND c.hash = ? AND c.trail = ? LIMIT 1`,
    )
    .pluck();
  const place = to.db.prepare("SELECT hash, trail FROM chunks WHERE rowid = ?");
  const pending = createPendingChunks(to);
  const writes = createWriteQueue(to, pacer);
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    await pacer.breathe();
    const page = pending.page(after, { limit: PAGE_CHUNKS, maxTextBytes: UNLIMITED });
    if (page.length === 0) return;
    after = page.at(-1)?.rowid ?? after;
    const found = page.flatMap((chunk) => {
      const { hash, trail } = place.get(chunk.rowid) as { hash: string; trail: string };
      const blob = find.get(chunk.source, chunk.path, hash, trail) as Buffer | undefined;
      return blob ? [{ chunk, hash, vector: new Float32Array(blob.buffer.slice(blob.byteOffset, blob.byteOffset + blob.length)) }] : [];
    });
    writes.add(settling(found, { pending }));
    await writes.flush();
  }
}
