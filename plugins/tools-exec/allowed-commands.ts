import { createHash } from "node:crypto";
import { isSvcError, type Store } from "svc/sdk";
import { fitsPattern } from "./patterns.ts";

const SCOPE = "gateway/exec";
const KEY = "allowed";
/** Commands that are remembered for one agent. */
export const MAX_PATTERNS = 500;
const MAX_TRIES = 5;

/** Commands that a person allowed for good, by agent; each is its words, the last of which may be `*`. */
export interface AllowedFile {
  agents: Record<string, { allow: string[][] }>;
}

/** The list as it is stored, with the hash that a writer has to name. */
export interface AllowedSnapshot {
  path: string;
  exists: boolean;
  hash: string;
  file: AllowedFile;
}

/** The list of commands that need no question any more. Written through the store alone. */
export class AllowedCommands {
  readonly #store: () => Store;

  constructor(store: () => Store) {
    this.#store = store;
  }

  async read(): Promise<AllowedSnapshot> {
    const { file, version } = await this.#read();
    return { path: `${SCOPE}/${KEY}`, exists: version !== undefined, hash: hashOf(file), file };
  }

  async has(agentId: string, argv: readonly string[]): Promise<boolean> {
    const { file } = await this.#read();
    return file.agents[agentId]?.allow.some((pattern) => fitsPattern(argv, pattern)) ?? false;
  }

  /** Remembers a command as it is, word for word; the oldest one goes when the list is full. */
  async add(agentId: string, argv: readonly string[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      const { file, version } = await this.#read();
      const allow = file.agents[agentId]?.allow ?? [];
      if (allow.some((pattern) => fitsPattern(argv, pattern))) return;
      const next = { agents: { ...file.agents, [agentId]: { allow: [...allow, [...argv]].slice(-MAX_PATTERNS) } } };
      try {
        return await this.#write(next, version);
      } catch (error) {
        const isChanged = isSvcError(error, "kv-changed") || isSvcError(error, "exists");
        if (!isChanged || tries === MAX_TRIES) throw error;
      }
    }
  }

  /** Replaces the list. @returns false when another one has written since `baseHash` was read */
  async replace(file: AllowedFile, baseHash: string): Promise<boolean> {
    const { file: present, version } = await this.#read();
    if (hashOf(present) !== baseHash) return false;
    try {
      await this.#write(file, version);
      return true;
    } catch (error) {
      if (isSvcError(error, "kv-changed") || isSvcError(error, "exists")) return false;
      throw error;
    }
  }

  async #read(): Promise<{ file: AllowedFile; version: number | undefined }> {
    const found = await this.#store().kv.read(SCOPE, KEY);
    return { file: (found?.value as AllowedFile | undefined) ?? { agents: {} }, version: found?.version };
  }

  async #write(value: AllowedFile, version: number | undefined): Promise<void> {
    const condition = version === undefined ? { ifAbsent: true } : { ifVersion: version };
    await this.#store().commit([{ op: "kv.put", scope: SCOPE, key: KEY, value, ...condition }]);
  }
}

function hashOf(file: AllowedFile): string {
  return createHash("sha256").update(JSON.stringify(file)).digest("hex");
}
