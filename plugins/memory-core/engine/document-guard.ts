import type { MemorySource } from "../index-settings.ts";
import { type DocumentVersion, noActivity, type ThreadActivity } from "../thread-activity.ts";
import type { IndexDocument } from "./documents.ts";
import { isStall, STALLED, STALLED_TRANSCRIPT } from "./skip-reasons.ts";

/** A document that is not in the index. `code` is one of `skip-reasons.ts`, of the system, or the message of an error. */
export interface LeftOut {
  path: string;
  code: string;
}

type Identity = Pick<IndexDocument, "path" | "stamp">;

/** Keeps one document from stopping all others, and knows which ones are left out. */
export interface DocumentGuard {
  /** Runs a step of work on a document. The thread that watches this one learns which document it is. */
  during<T>(document: Identity, work: () => T): T;
  /** Runs a generator in the same way. */
  steps<T>(document: Identity, steps: Generator<unknown, T>): Generator<void, T>;
  /** Code of a document that stopped the index before and has not changed since; undefined for all others. */
  stallOf(document: Identity): string | undefined;
  /** Lifts the quarantine. */
  release(): void;
  leaveOut(source: MemorySource, document: LeftOut): void;
  /** The document is in the index, or gone. */
  settle(source: MemorySource, path: string): void;
  /** Forgets what is left out of a source, before all of it is looked at. */
  startOver(source: MemorySource): void;
  isLeftOut(source: MemorySource, path: string): boolean;
  /** At most 100 documents, those that stopped the index first, and how many there are. */
  leftOut(): { documents: LeftOut[]; total: number };
}

export interface DocumentGuardOptions {
  activity?: ThreadActivity;
  /** Documents that stopped the index before. */
  quarantined?: readonly DocumentVersion[];
}

const MAX_NAMED = 100;

export function createDocumentGuard({ activity = noActivity, quarantined = [] }: DocumentGuardOptions = {}): DocumentGuard {
  const stamps = new Map(quarantined.map(({ path, stamp }) => [path, stamp]));
  const codes = new Map<MemorySource, Map<string, string>>();
  const during = <T>({ path, stamp = "" }: Identity, work: () => T) => activity.during({ path, stamp }, work);
  return {
    during,
    *steps(document, steps) {
      for (;;) {
        const step = during(document, () => steps.next());
        if (step.done) return step.value;
        yield;
      }
    },
    stallOf({ path, stamp }) {
      if (stamps.get(path) !== (stamp ?? "")) return undefined;
      return stamp === undefined ? STALLED_TRANSCRIPT : STALLED;
    },
    release: () => stamps.clear(),
    leaveOut(source, { path, code }) {
      const known = codes.get(source) ?? new Map<string, string>();
      codes.set(source, known.set(path, code));
    },
    settle: (source, path) => void codes.get(source)?.delete(path),
    startOver: (source) => void codes.delete(source),
    isLeftOut: (source, path) => codes.get(source)?.has(path) ?? false,
    leftOut() {
      const sources = [...codes.values()];
      const stalled = firstOf(sources, isStall);
      const others = firstOf(sources, (code) => !isStall(code));
      return { documents: [...stalled, ...others].slice(0, MAX_NAMED), total: sources.reduce((sum, known) => sum + known.size, 0) };
    },
  };
}

function firstOf(sources: ReadonlyArray<ReadonlyMap<string, string>>, isWanted: (code: string) => boolean): LeftOut[] {
  const found: LeftOut[] = [];
  for (const known of sources) {
    for (const [path, code] of known) {
      if (found.length === MAX_NAMED) return found;
      if (isWanted(code)) found.push({ path, code });
    }
  }
  return found;
}
