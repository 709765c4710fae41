import { randomBytes } from "node:crypto";
import type { PluginKv } from "svc/sdk";
import { accountDigest, type MatrixAccount } from "./accounts.ts";
import { tokenOf } from "./events.ts";

/** Stored values of an account: how far the stream was handled, and its device. No token of a session is among them. */
export class SessionState {
  readonly #kv: Pick<PluginKv, "get" | "set">;
  readonly #digest: string;
  #since: string | undefined;

  constructor(kv: Pick<PluginKv, "get" | "set">, account: MatrixAccount) {
    this.#kv = kv;
    this.#digest = accountDigest(account);
  }

  /** Place up to which the host has every message; undefined at the first contact. */
  async since(): Promise<string | undefined> {
    this.#since ??= tokenOf(await this.#kv.get(`since:${this.#digest}`));
    return this.#since;
  }

  /** To be called when the host has every message before this place. */
  async reached(since: string): Promise<void> {
    if (since === this.#since) return;
    await this.#kv.set(`since:${this.#digest}`, since);
    this.#since = since;
  }

  /** Forgets the place: the next contact is the first one. */
  async forget(): Promise<void> {
    await this.#kv.set(`since:${this.#digest}`, null);
    this.#since = undefined;
  }

  /** Id of the device that logins by password are for: always the same, stored before the first one, so that no login leaves one behind. */
  async deviceId(): Promise<string> {
    const key = `device:${this.#digest}`;
    const known = await this.#kv.get(key);
    if (typeof known === "string" && /^SVC[0-9A-F]{12}$/.test(known)) return known;
    const id = `SVC${randomBytes(6).toString("hex").toUpperCase()}`;
    await this.#kv.set(key, id);
    return id;
  }
}
