import type { Logger } from "svc/sdk";
import { formatLine, type Line } from "./line.ts";
import { wordsOf } from "./refusals.ts";

/** Bytes of names in one JOIN. */
const MAX_JOIN_BYTES = 400;
/** Answers to JOIN that say no. */
const NOT_JOINED = new Set(["403", "405", "407", "437", "470", "471", "473", "474", "475", "476", "477", "480", "489", "520"]);

interface RoomsOptions {
  wanted: ReadonlyArray<{ name: string; key?: string }>;
  fold(name: string): string;
  send(line: string): boolean;
  logger: Logger;
}

/** The rooms of an account: joins those it is not in, and knows in which it is. */
export class Rooms {
  readonly #options: RoomsOptions;
  /** Names as the server tells them, by their folded form. */
  readonly #joined = new Map<string, string>();
  /** Asked for the last time, and not answered yet. */
  readonly #asked = new Set<string>();
  /** Last word of the server about a room that cannot be joined. */
  readonly #problems = new Map<string, string>();

  constructor(options: RoomsOptions) {
    this.#options = options;
  }

  has(room: string): boolean {
    return this.#joined.has(this.#options.fold(room));
  }

  /** Name of a room as the config has it, or the server when the account joined it. */
  nameOf(room: string): string {
    const { wanted, fold } = this.#options;
    const folded = fold(room);
    return wanted.find(({ name }) => fold(name) === folded)?.name ?? this.#joined.get(folded) ?? room;
  }

  /** Asks for every wanted room that the account is not in; rooms with a key first, as the protocol has it. */
  join(): void {
    const { wanted, fold } = this.#options;
    const missing = wanted.filter(({ name }) => !this.has(name) && !this.#asked.has(fold(name)));
    this.#asked.clear();
    for (const { name } of missing) this.#asked.add(fold(name));
    const byKey = [...missing.filter(({ key }) => key !== undefined), ...missing.filter(({ key }) => key === undefined)];
    let batch: typeof byKey = [];
    const flush = () => {
      if (batch.length === 0) return;
      const keys = batch.flatMap(({ key }) => (key === undefined ? [] : [key]));
      const names = batch.map(({ name }) => name).join(",");
      this.#options.send(keys.length > 0 ? formatLine("JOIN", names, keys.join(",")) : formatLine("JOIN", names));
      batch = [];
    };
    let bytes = 0;
    for (const room of byKey) {
      const size = Buffer.byteLength(`${room.name},${room.key ?? ""},`);
      if (bytes + size > MAX_JOIN_BYTES) {
        flush();
        bytes = 0;
      }
      batch.push(room);
      bytes += size;
    }
    flush();
  }

  /** Follows where the account is. @param self its nick */
  take({ command, params, source }: Line, self: string): void {
    const { fold, logger } = this.#options;
    const [first = "", second = ""] = params;
    const isOwn = fold(source?.nick ?? "") === fold(self);
    if (command === "JOIN" && isOwn) {
      this.#joined.set(fold(first), first);
      this.#asked.delete(fold(first));
      this.#problems.delete(fold(first));
    } else if (command === "PART" && isOwn) this.#joined.delete(fold(first));
    else if (command === "KICK" && fold(second) === fold(self)) {
      this.#joined.delete(fold(first));
      logger.warn(`the account was removed from ${wordsOf(first)}: ${wordsOf(params[2] ?? "") || "no reason given"}`);
    } else if (NOT_JOINED.has(command) && this.#isWanted(second)) {
      const words = wordsOf(params.at(-1) ?? "");
      this.#asked.delete(fold(second));
      // Said once: it is tried again every minute.
      if (this.#problems.get(fold(second)) !== words) logger.warn(`${wordsOf(second)} cannot be joined: ${words} (${command})`);
      this.#problems.set(fold(second), words);
    }
  }

  #isWanted(room: string): boolean {
    const { wanted, fold } = this.#options;
    return !this.has(room) && wanted.some(({ name }) => fold(name) === fold(room));
  }
}
