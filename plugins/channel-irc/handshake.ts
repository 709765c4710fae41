import { AccountRefusedError, messageOf } from "svc/sdk";
import type { IrcAccount } from "./accounts.ts";
import { formatLine, type Line } from "./line.ts";
import { faultOfRegistration, REFUSED, wordsOf } from "./refusals.ts";

/** Outcome of a registration. */
export interface Welcome {
  /** Nick as the server has it: it may have shortened it. */
  nick: string;
  caps: ReadonlySet<string>;
  /** Services account, where the server named it. */
  account?: string;
}

/** Extensions that are asked for where the server has them (ircv3.net/irc). */
const WANTED = ["account-notify", "account-tag", "chghost", "echo-message", "extended-join", "message-tags", "server-time"];
/** Answers to NICK: in use, in use elsewhere, not available now, not a nick for this server. */
const NICK_TAKEN = new Set(["431", "432", "433", "436", "437"]);
const WRONG_NICK = "432";
/** Longest piece of an answer to SASL; a shorter one, or `+`, ends it. */
const SASL_BYTES = 400;

/** Registration at a server: a state machine that is fed with lines, and says what to send. */
export class Handshake {
  readonly #account: IrcAccount;
  readonly #nicks: string[];
  readonly #offered = new Map<string, string>();
  readonly #caps = new Set<string>();
  readonly #wrongNicks: string[] = [];
  #services: string | undefined;
  #isIdentified: boolean;

  /** @param nicks nicks to try, in this order */
  constructor(account: IrcAccount, nicks: readonly string[]) {
    this.#account = account;
    this.#nicks = [...nicks];
    this.#isIdentified = account.sasl === undefined;
  }

  /** First lines of the registration. */
  start(): string[] {
    const { password, username, realname } = this.#account;
    return [
      "CAP LS 302",
      ...(password === undefined ? [] : [formatLine("PASS", password)]),
      formatLine("NICK", this.#nicks.shift() ?? ""),
      formatLine("USER", username, "0", "*", realname),
    ];
  }

  /**
   * Takes a line of the server. `welcome` is set when the registration is complete.
   * @throws {AccountRefusedError} for wrong credentials and bans; {Error} for what may pass
   */
  take({ command, params }: Line): { send: string[]; welcome?: Welcome } {
    const words = wordsOf(params.at(-1) ?? "");
    if (command === "PING") return { send: [formatLine("PONG", params.at(-1) ?? "")] };
    if (command === "ERROR") throw faultOfRegistration(params.at(-1) ?? "");
    if (REFUSED.has(command)) throw new AccountRefusedError(`the server refused the account: ${words} (${command})`);
    if (NICK_TAKEN.has(command)) return { send: [this.#nextNick(command, words)] };
    if (command === "CAP") return { send: this.#takeCap(params) };
    if (command === "AUTHENTICATE") return { send: this.#authenticate(params[0]) };
    if (command === "900") this.#services = params[2];
    if (command === "903" || command === "907") {
      this.#isIdentified = true;
      return { send: ["CAP END"] };
    }
    if (command === "905" || command === "906") throw new Error(`SASL did not end well: ${words} (${command})`);
    if (command === "001") return { send: [], welcome: this.#welcome(params[0] ?? "") };
    return { send: [] };
  }

  #welcome(nick: string): Welcome {
    if (!this.#isIdentified) throw new Error("the server offers no SASL now, and the account has to identify itself");
    return { nick, caps: this.#caps, ...(this.#services === undefined ? {} : { account: this.#services }) };
  }

  #nextNick(numeric: string, words: string): string {
    if (numeric === WRONG_NICK) this.#wrongNicks.push(words);
    const next = this.#nicks.shift();
    if (next !== undefined) return formatLine("NICK", next);
    if (this.#wrongNicks.length > 0) throw new AccountRefusedError(`the server accepts none of the nicks: ${this.#wrongNicks[0]}`);
    throw new Error(`every nick of the account is in use: ${words}`);
  }

  #takeCap(params: readonly string[]): string[] {
    const [, kind, ...rest] = params;
    const listed = (rest.at(-1) ?? "").split(" ").filter(Boolean);
    if (kind === "LS") {
      for (const cap of listed) {
        const at = cap.indexOf("=");
        this.#offered.set(at < 0 ? cap : cap.slice(0, at), at < 0 ? "" : cap.slice(at + 1));
      }
      return rest.length > 1 && rest[0] === "*" ? [] : this.#request();
    }
    if (kind === "ACK") {
      for (const cap of listed) this.#caps.add(cap);
      if (!this.#caps.has("sasl")) return ["CAP END"];
      return this.#isIdentified ? [] : [`AUTHENTICATE ${this.#account.sasl?.mechanism}`];
    }
    // A server takes a request whole or not at all; without the one for SASL there is nothing that has to be.
    if (kind === "NAK") return listed.length > 1 && listed.includes("sasl") ? ["CAP REQ :sasl"] : ["CAP END"];
    return [];
  }

  #request(): string[] {
    const { sasl } = this.#account;
    const caps = WANTED.filter((cap) => this.#offered.has(cap));
    if (sasl) {
      const mechanisms = this.#offered.get("sasl");
      if (mechanisms === undefined) throw new Error("the server offers no SASL now, and the account has to identify itself");
      if (mechanisms !== "" && !mechanisms.toUpperCase().split(",").includes(sasl.mechanism)) {
        throw new AccountRefusedError(`the server offers SASL ${wordsOf(mechanisms)}, and not ${sasl.mechanism}`);
      }
      caps.push("sasl");
    }
    return [caps.length === 0 ? "CAP END" : `CAP REQ :${caps.join(" ")}`];
  }

  /** RFC 4616 for a password; the certificate of the link says who it is otherwise. */
  #authenticate(challenge: string | undefined): string[] {
    const { sasl } = this.#account;
    if (challenge !== "+") return ["AUTHENTICATE *"];
    if (sasl?.mechanism !== "PLAIN") return ["AUTHENTICATE +"];
    const text = Buffer.from(`${sasl.user}\0${sasl.user}\0${sasl.password}`).toString("base64");
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += SASL_BYTES) pieces.push(text.slice(at, at + SASL_BYTES));
    if (pieces.at(-1)?.length === SASL_BYTES) pieces.push("+");
    return pieces.map((piece) => `AUTHENTICATE ${piece}`);
  }
}

/** Nicks of an account in the order in which they are tried: the wanted one, the configured others, and one that nobody else has. */
export function nicksOf({ nick, nickAlternatives }: Pick<IrcAccount, "nick" | "nickAlternatives">, random: () => number): string[] {
  const others = nickAlternatives.length > 0 ? nickAlternatives : [`${nick}_`, `${nick}__`];
  // Nine characters are what every server takes.
  return [nick, ...others, `${nick.slice(0, 5)}${String(Math.floor(random() * 10_000)).padStart(4, "0")}`];
}

/** Message of an error without the account's secrets: a server may repeat what it was sent. */
export function messageWithout(error: unknown, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, "…"), messageOf(error));
}
