import { EmbedFault } from "../host.ts";

/** Result for a text: its vector, or why it has none and never will. */
export type Verdict = Float32Array | { skipped: string };

/** State of turning texts into vectors, with what is known of the answers so far. */
export interface RequestScope {
  /** The vectors of the group: of texts, or of what a picture's text stands for. */
  embed(texts: string[]): Promise<Float32Array[]>;
  /** The vector of a plain text, whatever is in the group. */
  probe(text: string): Promise<Float32Array[]>;
  /** Length that vectors must have; undefined until one is known. */
  dims(): number | undefined;
  /** Has this provider ever taken a text? */
  hasSucceeded(): boolean;
  succeeded(dims: number): void;
  retries<T>(run: () => Promise<T>): Promise<T>;
}

const PROBE = "memory";

/**
 * Embeds a group of texts. A group that is too much is halved; in one that is refused, or never has sound vectors, the bad text is found and left out.
 * @throws {EmbedFault} when the provider as a whole is of no use at present
 */
export async function embedGroup(texts: string[], scope: RequestScope): Promise<Verdict[]> {
  try {
    return await scope.retries(() => attempt(texts, scope, scope.embed));
  } catch (error) {
    if (!(error instanceof EmbedFault) || !mayBeOneText(error, scope)) throw error;
    await requireSound(error, scope);
    if (texts.length === 1) return [await judge(error, scope)];
    const middle = texts.length >> 1;
    const first = await embedGroup(texts.slice(0, middle), scope);
    return [...first, ...(await embedGroup(texts.slice(middle), scope))];
  }
}

/** @throws {EmbedFault} `bad-response` for anything that is not one sound vector a text */
export function checkVectors(vectors: readonly Float32Array[], { count, dims }: { count: number; dims: number | undefined }): number {
  if (vectors.length !== count) throw bad(`${count} vectors expected, got ${vectors.length}`);
  const length = dims ?? vectors[0]?.length ?? 0;
  for (const vector of vectors) {
    if (vector.length === 0) throw bad("an empty vector");
    if (vector.length !== length) {
      throw bad(`a vector of ${length} dimensions expected, got ${vector.length}; if the model has changed, run svc memory index --force`);
    }
    if (!isSound(vector)) throw bad("a vector with a number that is none");
  }
  return length;
}

async function attempt(texts: string[], scope: RequestScope, embed: RequestScope["embed"]): Promise<Float32Array[]> {
  const vectors = await embed(texts);
  scope.succeeded(checkVectors(vectors, { count: texts.length, dims: scope.dims() }));
  return vectors;
}

/** A model that has answered well may still have no number for some text; without this one such text would keep all others from their vectors. */
function mayBeOneText({ fault }: EmbedFault, scope: RequestScope): boolean {
  return fault === "too-long" || fault === "invalid-request" || (fault === "bad-response" && scope.hasSucceeded());
}

/** @throws {EmbedFault} when even a plain text has no sound vector now */
async function requireSound({ fault }: EmbedFault, scope: RequestScope): Promise<void> {
  if (fault === "bad-response") await tryPlainText(scope);
}

/** One text alone was refused. While nothing else has gone through, the request itself may be what is wrong. */
async function judge(error: EmbedFault, scope: RequestScope): Promise<Verdict> {
  if (error.fault === "invalid-request" && !scope.hasSucceeded()) {
    await tryPlainText(scope);
  }
  return { skipped: error.message };
}

async function tryPlainText(scope: RequestScope): Promise<void> {
  await scope.retries(() => attempt([PROBE], scope, ([text = PROBE]) => scope.probe(text)));
}

function isSound(vector: Float32Array): boolean {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i] as number) * 0;
  return sum === 0;
}

function bad(message: string): EmbedFault {
  return new EmbedFault("bad-response", `the provider answered with ${message}`);
}
