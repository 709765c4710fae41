import { AccountRefusedError, isRecord, type PluginContext } from "svc/sdk";
import type { OauthSettings } from "./accounts.ts";
import { wordsOf } from "./refusals.ts";

export type Fetch = PluginContext["fetch"];

const LIMIT_MS = 20_000;
const MAX_ANSWER_CHARS = 64 * 1024;
/** A token is renewed so long before its end. */
const MARGIN_MS = 60_000;
const DEFAULT_LIFE_MS = 3_600_000;

/** Access tokens of one account: the configured one, or one that a refresh token gets and that is kept until shortly before its end. */
export class AccessTokens {
  readonly #oauth: OauthSettings;
  readonly #fetch: Fetch;
  readonly #now: () => number;
  #token: string | undefined;
  #until = 0;
  /** A provider may give a new one with each answer. It is not stored: the configured one starts the next process. */
  #refreshToken: string | undefined;
  #pending: Promise<string> | undefined;

  constructor(oauth: OauthSettings, { fetch, now }: { fetch: Fetch; now: () => number }) {
    this.#oauth = oauth;
    this.#fetch = fetch;
    this.#now = now;
    this.#refreshToken = oauth.refreshToken;
  }

  /** True when a server's refusal of a token may be answered with a new one. */
  get canRenew(): boolean {
    return this.#refreshToken !== undefined;
  }

  /**
   * @param renew the server refused the last one
   * @throws {AccountRefusedError} when the provider takes back what the account was given
   */
  async get(renew = false): Promise<string> {
    if (this.#refreshToken === undefined) return this.#oauth.accessToken as string;
    if (!renew && this.#token !== undefined && this.#now() < this.#until) return this.#token;
    this.#pending ??= this.#renew(this.#refreshToken).finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #renew(refreshToken: string): Promise<string> {
    const { tokenUrl = "", clientId = "", clientSecret, scope } = this.#oauth;
    const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId });
    if (clientSecret !== undefined) body.set("client_secret", clientSecret);
    if (scope !== undefined) body.set("scope", scope);
    const response = await this.#fetch(tokenUrl, { method: "POST", body, redirect: "error", signal: AbortSignal.timeout(LIMIT_MS) });
    const answer = await readAnswer(response);
    const error = typeof answer.error === "string" ? wordsOf(answer.error) : "no reason given";
    if (response.status === 400 || response.status === 401) {
      throw new AccountRefusedError(`the OAuth provider refused the refresh token: ${error}`);
    }
    if (!response.ok || typeof answer.access_token !== "string") {
      throw new Error(`the OAuth provider answered ${response.status}: ${error}`);
    }
    const lifeMs = typeof answer.expires_in === "number" ? answer.expires_in * 1_000 : DEFAULT_LIFE_MS;
    this.#token = answer.access_token;
    this.#until = this.#now() + lifeMs - MARGIN_MS;
    if (typeof answer.refresh_token === "string") this.#refreshToken = answer.refresh_token;
    return answer.access_token;
  }

  /** Values that nobody may see. */
  get secrets(): string[] {
    return [this.#token, this.#refreshToken].filter((value) => value !== undefined);
  }
}

async function readAnswer(response: Response): Promise<Record<string, unknown>> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ANSWER_CHARS) throw new Error("the OAuth provider answered with more than 64 KiB");
  }
  try {
    const answer: unknown = JSON.parse(text);
    return isRecord(answer) ? answer : {};
  } catch {
    return {};
  }
}
