/** One state of a document: `stamp` differs when the document has changed. */
export interface DocumentVersion {
  path: string;
  stamp: string;
}

/** Heartbeats at 0, bytes of the document's name at 1; the name follows. */
const HEAD_BYTES = 8;
/** Room for the longest path of a file. */
const NAME_BYTES = 8_192;

/** Memory that the thread of an index shares with the main thread, which can read it while that thread is blocked. */
export function createActivityMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + NAME_BYTES);
}

/** Tells the main thread what the thread of an index is doing. */
export interface ThreadActivity {
  /** Shows that the event loop turns. */
  beat(): void;
  /** Names the document while a step of work on it runs. */
  during<T>(document: DocumentVersion, work: () => T): T;
}

export function createActivity(memory: SharedArrayBuffer): ThreadActivity {
  const head = new Int32Array(memory, 0, 2);
  const name = new Uint8Array(memory, HEAD_BYTES, NAME_BYTES);
  let written = { text: "", bytes: 0 };
  return {
    beat: () => void Atomics.add(head, 0, 1),
    during({ path, stamp }, work) {
      const text = `${stamp}\n${path}`;
      if (written.text !== text) {
        const bytes = Buffer.from(text).subarray(0, NAME_BYTES);
        name.set(bytes);
        written = { text, bytes: bytes.length };
      }
      Atomics.store(head, 1, written.bytes);
      try {
        return work();
      } finally {
        Atomics.store(head, 1, 0);
      }
    },
  };
}

/** Does nothing: for an index on the thread of its caller. */
export const noActivity: ThreadActivity = { beat: () => undefined, during: (_, work) => work() };

/** Reads what a thread is doing, from the main thread. */
export function readActivity(memory: SharedArrayBuffer): { beats: number; document: DocumentVersion | undefined } {
  const head = new Int32Array(memory, 0, 2);
  const bytes = Atomics.load(head, 1);
  const [stamp = "", ...path] = Buffer.from(new Uint8Array(memory, HEAD_BYTES, bytes))
    .toString("utf8")
    .split("\n");
  return { beats: Atomics.load(head, 0), document: bytes === 0 ? undefined : { path: path.join("\n"), stamp } };
}
