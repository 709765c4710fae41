import { formatLine, type Line } from "./line.ts";

/** Most people that are kept in mind; further ones are known by where they come from. */
const MAX_PEOPLE = 20_000;
const MAX_NICKS = 1_000;
/** Marks our own WHO requests, so that their answers are told from others. */
const WHOX_TOKEN = "746";

/**
 * Services accounts of people, as far as the server tells: by a tag on every message, or by who joins, logs in and out in rooms that are shared. Somebody who is
 * in no shared room is nobody: another may have the nick by now.
 */
export class Members {
  readonly #fold: (name: string) => string;
  readonly #hasTags: boolean;
  readonly #people = new Map<string, { account: string | undefined; rooms: Set<string> }>();
  /** Nick that an account wrote from last. */
  readonly #nicks = new Map<string, string>();
  /** The same the other way round: accounts by their nick in its folded form. */
  readonly #accounts = new Map<string, Set<string>>();

  /** @param hasTags every message names the account of its sender, or there is none */
  constructor(fold: (name: string) => string, hasTags: boolean) {
    this.#fold = fold;
    this.#hasTags = hasTags;
  }

  /** Line that asks for the accounts of the people in a room (WHOX: token, room, nick, account). */
  static question(room: string): string {
    return formatLine("WHO", room, `%tcna,${WHOX_TOKEN}`);
  }

  /** Account of the sender of a message. */
  accountOf({ tags, source }: Line): string | undefined {
    const nick = this.#fold(source?.nick ?? "");
    const account = this.#hasTags ? tags.get("account") : this.#people.get(nick)?.account;
    if (!account) return undefined;
    this.#remember(account.toLowerCase(), source?.nick ?? "");
    return account;
  }

  /** Nick that an account can be reached by; undefined when it has not been heard of on this link. */
  nickOf(account: string): string | undefined {
    return this.#nicks.get(account.toLowerCase());
  }

  /** Follows who comes, goes, changes the nick, logs in and out. */
  take({ command, params, source }: Line): void {
    const nick = source?.nick ?? "";
    const [first = "", second = ""] = params;
    if (command === "JOIN") this.#join(nick, first, params.length > 2 ? second : undefined);
    else if (command === "PART") this.#leave(nick, first);
    else if (command === "KICK") this.#leave(second, first);
    else if (command === "QUIT") this.#forget(nick);
    else if (command === "NICK") this.#rename(nick, first);
    else if (command === "ACCOUNT") this.#login(nick, first);
    // RPL_WHOSPCRPL: our nick, the token, room, nick, account.
    else if (command === "354" && second === WHOX_TOKEN) this.#join(params[3] ?? "", params[2] ?? "", params[4]);
  }

  /** Forgets a room that the account itself has left. */
  leaveRoom(room: string): void {
    for (const nick of [...this.#people.keys()]) this.#leave(nick, room);
  }

  #join(nick: string, room: string, account: string | undefined): void {
    const key = this.#fold(nick);
    const known = this.#people.get(key);
    if (!known && this.#people.size >= MAX_PEOPLE) return;
    const person = known ?? { account: undefined, rooms: new Set<string>() };
    person.rooms.add(this.#fold(room));
    if (account !== undefined) person.account = loggedIn(account);
    this.#people.set(key, person);
    if (person.account !== undefined) this.#remember(person.account.toLowerCase(), nick);
  }

  #leave(nick: string, room: string): void {
    const person = this.#people.get(this.#fold(nick));
    person?.rooms.delete(this.#fold(room));
    if (person?.rooms.size === 0) this.#people.delete(this.#fold(nick));
  }

  #forget(nick: string): void {
    this.#people.delete(this.#fold(nick));
    for (const account of [...(this.#accounts.get(this.#fold(nick)) ?? [])]) this.#unlink(account);
  }

  #rename(from: string, to: string): void {
    const person = this.#people.get(this.#fold(from));
    this.#people.delete(this.#fold(from));
    if (person) this.#people.set(this.#fold(to), person);
    for (const account of [...(this.#accounts.get(this.#fold(from)) ?? [])]) this.#remember(account, to);
  }

  #login(nick: string, account: string): void {
    const person = this.#people.get(this.#fold(nick));
    if (person) person.account = loggedIn(account);
  }

  #remember(account: string, nick: string): void {
    this.#unlink(account);
    this.#nicks.set(account, nick);
    const folded = this.#fold(nick);
    this.#accounts.set(folded, (this.#accounts.get(folded) ?? new Set()).add(account));
    const [oldest] = this.#nicks.keys();
    if (this.#nicks.size > MAX_NICKS && oldest !== undefined) this.#unlink(oldest);
  }

  #unlink(account: string): void {
    const nick = this.#nicks.get(account);
    if (nick === undefined) return;
    this.#nicks.delete(account);
    const folded = this.#fold(nick);
    const accounts = this.#accounts.get(folded);
    accounts?.delete(account);
    if (accounts?.size === 0) this.#accounts.delete(folded);
  }
}

/** `*` and `0` stand for nobody. */
function loggedIn(account: string): string | undefined {
  return account === "*" || account === "0" || account === "" ? undefined : account;
}
