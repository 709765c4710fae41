import { chmod, mkdir, readdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, type Logger, type ModelAnswer, type ModelQuestion, messageOf, writeFileAtomic } from "svc/sdk";
import { isInside } from "svc/sdk/internal";

/** Files of one agent; the oldest go. */
const MAX_FILES = 500;

/** One search, as its model saw it. */
export type SearchRecord = Pick<ModelQuestion, "agentId" | "sessionKey" | "system" | "content"> &
  Pick<ModelAnswer, "model" | "messages"> & { note: string | undefined };

/** Keeps what models that search read and said, one file for each search. */
export class Transcripts {
  readonly #stateDir: string;
  readonly #folder: () => string;
  readonly #clock: Pick<Clock, "now">;
  readonly #logger: Pick<Logger, "warn">;
  #count = 0;

  /** @param parts.folder name below the folder of the agent */
  constructor(parts: { stateDir: string; folder: () => string; clock: Pick<Clock, "now">; logger: Pick<Logger, "warn"> }) {
    this.#stateDir = parts.stateDir;
    this.#folder = parts.folder;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
  }

  /** Writes one file. Never rejects: an answer does not wait for a disk that is full. */
  async keep(record: SearchRecord): Promise<void> {
    try {
      const folder = await this.#open(record.agentId);
      const name = `${new Date(this.#clock.now()).toISOString().replaceAll(":", "-")}-${String(this.#count++).padStart(6, "0")}.jsonl`;
      const { messages, ...head } = record;
      const lines = [head, ...messages].map((line) => JSON.stringify(line));
      await writeFileAtomic(join(folder, name), `${lines.join("\n")}\n`);
      await removeOldest(folder);
    } catch (error) {
      this.#logger.warn("the transcript of a search could not be kept", { error: messageOf(error) });
    }
  }

  /** The folder of an agent, mode 0700. @throws {Error} for one that a link leads out of the data of the plugin */
  async #open(agentId: string): Promise<string> {
    const base = join(this.#stateDir, "transcripts", "agents");
    const folder = join(base, agentId, this.#folder());
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const [root, real] = await Promise.all([realpath(this.#stateDir), realpath(folder)]);
    if (!isInside(root, real)) throw new Error(`${folder} leads out of the data of the plugin`);
    await chmod(real, 0o700);
    return real;
  }
}

async function removeOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".jsonl")).sort();
  for (const name of names.slice(0, Math.max(0, names.length - MAX_FILES))) await rm(join(folder, name), { force: true });
}
