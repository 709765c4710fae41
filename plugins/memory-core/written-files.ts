import { settledWithin } from "svc/sdk";

/** Tools of agents that write files of the workspace, which may be notes. */
export const fileTools = ["write", "edit"] as const;

/** Wait for the index before a search; it goes on without what comes later. */
const INDEX_MS = 5_000;

/**
 * Agents that have written files since the index was last brought up to date for them: their next search finds what they wrote. The index would notice by itself,
 * but later than the next turn of a model.
 */
export class WrittenFiles {
  /** No more than there are agents. */
  readonly #agents = new Set<string>();
  readonly #sync: (agentId: string, signal: AbortSignal) => Promise<{ joined: boolean }>;

  constructor(sync: (agentId: string, signal: AbortSignal) => Promise<{ joined: boolean }>) {
    this.#sync = sync;
  }

  add(agentId: string): void {
    this.#agents.add(agentId);
  }

  /** Resolves when the index has what the agent wrote, when it cannot have it, or after 5 s. Never rejects. */
  async indexed(agentId: string, signal: AbortSignal): Promise<void> {
    if (!this.#agents.delete(agentId)) return;
    const work = async () => {
      // A sync that began before may have passed the file already: then once more.
      const { joined } = await this.#sync(agentId, signal);
      if (joined) await this.#sync(agentId, signal);
    };
    await settledWithin(work(), INDEX_MS);
  }
}
