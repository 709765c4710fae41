import { randomUUID } from "node:crypto";
import { ChannelInbox, type ChannelRun, type Receipt, SendRefusedError } from "svc/sdk";
import type { IrcAccount } from "./accounts.ts";
import type { Welcome } from "./handshake.ts";
import { formatLine, formatSource, type Line, MAX_LINE_BYTES, type Source } from "./line.ts";
import { Members } from "./members.ts";
import { toEvent } from "./message.ts";
import { type CaseMapping, caseMappingOf, foldName, isRoom, normalizeTarget, ROOM_TYPES, senderId } from "./names.ts";
import { Pace } from "./pace.ts";
import { faultOfError, wordsOf } from "./refusals.ts";
import { Rooms } from "./rooms.ts";
import { Sending } from "./sending.ts";
import { MAX_TEXT_BYTES } from "./split.ts";
import type { IrcTiming } from "./timing.ts";
import { ALIVE, type Wire } from "./wire.ts";

/** Room for a text that has to be left beside the names in a line. */
const MIN_TEXT_BYTES = 40;

interface SessionOptions {
  run: ChannelRun<IrcAccount>;
  wire: Wire;
  welcome: Welcome;
  timing: IrcTiming;
}

/** A registered link: joins rooms, hands over what people write, and sends. */
export class Session {
  readonly #options: SessionOptions;
  /** Ids of messages are made of it: they differ from those of every other link. */
  readonly #linkId = randomUUID();
  readonly #features = new Map<string, string>();
  readonly #inbox: ChannelInbox;
  readonly #pace: Pace;
  readonly #sending: Sending;
  readonly #rooms: Rooms;
  readonly #members: Members;
  readonly #again: NodeJS.Timeout;
  #self: Source;
  #count = 0;
  #isOwnSaid = false;

  constructor(options: SessionOptions) {
    const { run, wire, welcome, timing } = options;
    this.#options = options;
    this.#self = { nick: welcome.nick };
    this.#pace = new Pace(run.account);
    const gone = new AbortController();
    this.#inbox = new ChannelInbox({ run, link: wire, signal: gone.signal, firstWaitMs: timing.offerMs });
    this.#members = new Members((name) => this.#fold(name), welcome.caps.has("account-tag"));
    const fold = (name: string) => this.#fold(name);
    this.#sending = new Sending({ wire, pace: this.#pace, fold, timing, signal: run.signal, now: () => run.clock.now() });
    this.#rooms = new Rooms({ wanted: run.account.rooms, fold, send: (line) => this.#send(line), logger: run.logger });
    this.#again = setInterval(() => this.#tryAgain(), timing.againMs);
    void wire.ended.then(() => {
      clearInterval(this.#again);
      gone.abort();
      this.#sending.end();
    });
  }

  /** Joins the rooms; resolves when the server has answered for each. @throws {Error} when the link breaks meanwhile */
  async enter(): Promise<void> {
    // The server's features come with the welcome; what follows depends on them.
    await this.#sending.confirm();
    this.#rooms.join();
    await this.#sending.confirm();
    this.#tellSelf();
  }

  /** @throws as `Channel.send` */
  async say(to: string, text: string): Promise<Receipt> {
    if (normalizeTarget(to) === null) throw new SendRefusedError(`"${wordsOf(to)}" is no room and nobody`, { isPermanent: true });
    const target = this.#targetOf(to);
    const before = Buffer.byteLength(`:${formatSource(this.#own())} ${formatLine("PRIVMSG", target, "")}`);
    const maxBytes = Math.min(MAX_TEXT_BYTES, MAX_LINE_BYTES - before);
    if (maxBytes < MIN_TEXT_BYTES) throw new SendRefusedError(`the name ${target} leaves no room for a text`, { isPermanent: true });
    return this.#sending.say(target, text, maxBytes);
  }

  /** Takes a line of the server. @throws {Error} for one that ends the link */
  take(line: Line): void {
    const { command, params, source } = line;
    if (command === "PING") return void this.#send(formatLine("PONG", params.at(-1) ?? ""));
    if (command === "PONG") return void (params.at(-1) === ALIVE || this.#sending.pong(params.at(-1) ?? ""));
    // A registered account is healthy: if it is banned now, the next registration says so.
    if (command === "ERROR") throw faultOfError(params.at(-1) ?? "");
    if (command === "005") return this.#takeFeatures(params.slice(1, -1));
    const isOwn = source !== undefined && this.#isSelf(source.nick);
    if (isOwn) this.#self = { ...this.#self, ...source };
    if (command === "PRIVMSG") return isOwn ? this.#sending.echo(line) : this.#receive(line);
    this.#members.take(line);
    this.#rooms.take(line, this.#self.nick);
    this.#sending.take(line);
    if (command === "NICK") this.#takeNick(source?.nick ?? "", params[0] ?? "");
    else if (command === "QUIT" && this.#isWanted(source?.nick ?? "")) this.#wantNick();
    else if (command === "CHGHOST" && isOwn) this.#self = { nick: this.#self.nick, user: params[0] ?? "", host: params[1] ?? "" };
    else if (command === "KICK" && this.#isSelf(params[1] ?? "")) this.#members.leaveRoom(params[0] ?? "");
    // Servers have ways to part somebody against their will.
    else if (command === "PART" && isOwn) this.#members.leaveRoom(params[0] ?? "");
    else if (command === "366" && this.#rooms.has(params[1] ?? "")) this.#askAccounts(params[1] ?? "");
  }

  #receive(line: Line): void {
    this.#count += 1;
    const account = this.#members.accountOf(line);
    this.#warnOfOwn(line, account);
    const event = toEvent(line, {
      id: `${this.#linkId}-${this.#count}`,
      account,
      mapping: this.#mapping(),
      isRoom: (name) => this.#isRoom(name),
      roomName: (name) => this.#rooms.nameOf(name),
      isSelf: (name) => this.#isSelf(name),
    });
    if (event) this.#inbox.offer(event);
  }

  /** Says once that somebody shares the account's own services account: the host takes what they write for the account's own, and answers nothing. */
  #warnOfOwn({ source }: Line, account: string | undefined): void {
    const { run, welcome } = this.#options;
    if (this.#isOwnSaid || account === undefined || account.toLowerCase() !== welcome.account?.toLowerCase()) return;
    this.#isOwnSaid = true;
    const words = `${wordsOf(source?.nick ?? "")} is logged in as ${wordsOf(welcome.account ?? "")}, the services account of this account`;
    run.logger.warn(`${words}: messages from there count as its own, and are not answered`);
  }

  #takeFeatures(tokens: readonly string[]): void {
    for (const token of tokens) {
      const at = token.indexOf("=");
      if (token.startsWith("-")) this.#features.delete(token.slice(1));
      else this.#features.set(at < 0 ? token : token.slice(0, at), at < 0 ? "" : token.slice(at + 1));
    }
  }

  #takeNick(from: string, to: string): void {
    if (this.#isSelf(from)) {
      this.#self = { ...this.#self, nick: to };
      this.#tellSelf();
    } else if (this.#isWanted(from)) this.#wantNick();
  }

  #tryAgain(): void {
    this.#wantNick();
    this.#rooms.join();
  }

  /** Asks for the nick of the config while the account has another one. */
  #wantNick(): void {
    if (!this.#isSelf(this.#options.run.account.nick)) this.#send(formatLine("NICK", this.#options.run.account.nick));
  }

  #isWanted(nick: string): boolean {
    return this.#fold(nick) === this.#fold(this.#options.run.account.nick) && !this.#isSelf(nick);
  }

  /** Where messages carry no accounts, those of a room are asked for once; who joins later is told with the account. */
  #askAccounts(room: string): void {
    const { caps } = this.#options.welcome;
    if (!caps.has("account-tag") && caps.has("extended-join") && this.#features.has("WHOX")) this.#send(Members.question(room));
  }

  #tellSelf(): void {
    const id = senderId(this.#own(), this.#options.welcome.account, this.#mapping());
    this.#options.run.state({ self: { id, name: this.#self.nick } });
  }

  /** The account as others see it. Until the server has said so, as long as such names get. */
  #own(): Required<Source> {
    return { user: "u".repeat(11), host: "h".repeat(63), ...this.#self };
  }

  /** A line that does not wait for its place in the flood limit, but has one. */
  #send(line: string): boolean {
    this.#pace.count();
    return this.#options.wire.send(line);
  }

  #targetOf(to: string): string {
    if (this.#isRoom(to)) return to;
    const bang = to.indexOf("!");
    return bang > 0 ? to.slice(0, bang) : (this.#members.nickOf(to) ?? to);
  }

  #isRoom(name: string): boolean {
    return isRoom(name, this.#features.get("CHANTYPES") ?? ROOM_TYPES);
  }

  #isSelf(nick: string): boolean {
    return this.#fold(nick) === this.#fold(this.#self.nick);
  }

  #mapping(): CaseMapping {
    return caseMappingOf(this.#features.get("CASEMAPPING"));
  }

  #fold(name: string): string {
    return foldName(name, this.#mapping());
  }
}
