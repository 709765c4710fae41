import { isRecord, type PluginKv } from "svc/sdk";

/** Rest of a login at one server: tokens and the registration of this client, by the authorization server that gave them. */
export interface StoredLogin {
  /** Address of the config at that time: an entry for another address is not used. */
  url: string;
  redirectUrl: string;
  /** Client of the config at that time, where it was registered by hand: its tokens are no other's. */
  clientId?: string;
  /** Rights that a call wanted and the login does not have; the next login asks for them. */
  wanted?: WantedScope;
  /** The authorization server that gave tokens last. */
  issuer?: string;
  byIssuer: Record<string, { client?: Record<string, unknown>; tokens?: Record<string, unknown> }>;
}

/** Rights that a server wants for a call, as it said with its refusal. */
export interface WantedScope {
  scope: string;
  /** Where the server says who gives tokens for it. */
  metadataUrl?: string;
}

/** A server that names another authorization server each time gets no more entries. */
const MAX_ISSUERS = 4;

/** Logins of all servers, as rows of the store, which is as private as the gateway's other secrets. */
export class OAuthStore {
  readonly #kv: Pick<PluginKv, "get" | "set" | "delete">;

  constructor(kv: Pick<PluginKv, "get" | "set" | "delete">) {
    this.#kv = kv;
  }

  /** @returns undefined where nobody logged in at this address, as this client */
  async read(server: string, { url, oauth }: { url: string; oauth?: { clientId: string } }): Promise<StoredLogin | undefined> {
    const stored = await this.#kv.get<StoredLogin>(`oauth:${server}`);
    const isTheirs = isRecord(stored) && stored.url === url && stored.clientId === oauth?.clientId;
    return isTheirs && isRecord(stored.byIssuer) ? stored : undefined;
  }

  write(server: string, login: StoredLogin): Promise<void> {
    const entries = Object.entries(login.byIssuer);
    const kept = entries.filter(([issuer], i) => issuer === login.issuer || i >= entries.length - MAX_ISSUERS);
    return this.#kv.set(`oauth:${server}`, { ...login, byIssuer: Object.fromEntries(kept) });
  }

  async remove(server: string): Promise<boolean> {
    const had = (await this.#kv.get(`oauth:${server}`)) !== undefined;
    await this.#kv.delete(`oauth:${server}`);
    return had;
  }
}

/** Values of a login that nobody may see. Pure. */
export function tokensOf(login: StoredLogin | undefined): string[] {
  const issued = Object.values(login?.byIssuer ?? {}).flatMap(({ client, tokens }) => [
    tokens?.access_token,
    tokens?.refresh_token,
    client?.client_secret,
  ]);
  return issued.filter((value): value is string => typeof value === "string" && value.length >= 6);
}
