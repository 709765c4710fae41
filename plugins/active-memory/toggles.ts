import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, type Logger, messageOf, writeFileAtomic } from "svc/sdk";

const FILE = "session-toggles.json";
/** Sessions that are remembered; beyond it the oldest one is on again. */
const MAX_SESSIONS = 5_000;

/** Sessions in which memory is not searched ahead of answers, in a file that outlives the process. Only "off" is stored. */
export class SessionToggles {
  readonly #path: string;
  readonly #logger: Pick<Logger, "warn">;
  /** In the order in which they were switched off. */
  #off = new Set<string>();
  #writing: Promise<void> = Promise.resolve();

  constructor(stateDir: string, logger: Pick<Logger, "warn">) {
    this.#path = join(stateDir, FILE);
    this.#logger = logger;
  }

  /** Reads the file; one that is missing or no good counts as empty. */
  async load(): Promise<void> {
    try {
      const stored: unknown = JSON.parse(await readFile(this.#path, "utf8"));
      const keys = isRecord(stored) && Array.isArray(stored.off) ? stored.off.filter((key) => typeof key === "string") : [];
      this.#off = new Set(keys.slice(-MAX_SESSIONS));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        this.#logger.warn(`${FILE} cannot be read; active memory is on in every session again`, { error: messageOf(error) });
    }
  }

  isOff(sessionKey: string): boolean {
    return this.#off.has(sessionKey);
  }

  get count(): number {
    return this.#off.size;
  }

  /** Resolves when it is on disk; what cannot be stored is not changed. */
  async set(sessionKey: string, isOn: boolean): Promise<void> {
    const next = this.#writing.then(async () => {
      if (this.#off.has(sessionKey) !== isOn) return;
      const off = [...this.#off].filter((key) => key !== sessionKey);
      if (!isOn) off.push(sessionKey);
      const kept = off.slice(-MAX_SESSIONS);
      await writeFileAtomic(this.#path, `${JSON.stringify({ version: 1, off: kept }, undefined, 2)}\n`);
      this.#off = new Set(kept);
    });
    this.#writing = next.catch(() => undefined);
    await next;
  }
}
