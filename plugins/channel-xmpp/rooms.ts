import type { Logger } from "svc/sdk";
import type { WantedRoom } from "./accounts.ts";
import { bareOf, parseAddress } from "./address.ts";
import { conditionOf, wordsOf } from "./refusals.ts";
import { attrOf, childOf, childrenOf, textOf, type Xml, type XmlElement, xml } from "./xml.ts";

const MUC = "http://jabber.org/protocol/muc";
const NS_OCCUPANT = "urn:xmpp:occupant-id:0";
const NS_DISCO = "http://jabber.org/protocol/disco#info";

/** Most people that are kept in mind; who they are is not known of further ones. */
const MAX_PEOPLE = 20_000;
/** Other nicks that are tried while the wanted one is in use. */
const MAX_NICK_TRIES = 4;

/** Answers to a question: the result, or the error. Undefined when the link broke, or nothing came. */
type Ask = (to: string, type: "get" | "set", payload: Xml) => Promise<XmlElement | undefined>;

interface RoomsOptions {
  wanted: readonly WantedRoom[];
  send(stanza: Xml): void;
  ask: Ask;
  logger: Logger;
}

interface Occupant {
  /** Account behind the nick, where the room says so. */
  account: string | undefined;
  /** Tells this stay in the room from every other one. */
  stay: number;
}

interface Room {
  wanted: WantedRoom;
  /** Nick in the room, as the server has it. */
  nick: string;
  isJoined: boolean;
  isAsked: boolean;
  nickTries: number;
  hasOccupantIds: boolean;
  occupants: Map<string, Occupant>;
  problem: string | undefined;
}

/** The rooms of an account (XEP-0045): joins those it is not in, and knows who is in them. */
export class Rooms {
  readonly #options: RoomsOptions;
  readonly #rooms: ReadonlyMap<string, Room>;
  #onSettled: (() => void) | undefined;
  #people = 0;
  #stays = 0;

  constructor(options: RoomsOptions) {
    this.#options = options;
    this.#rooms = new Map(options.wanted.map((wanted) => [wanted.jid, newRoom(wanted)]));
  }

  /** True for an address of a room of this account, joined or not. */
  has(jid: string): boolean {
    return this.#rooms.has(jid);
  }

  isJoined(jid: string): boolean {
    return this.#rooms.get(jid)?.isJoined === true;
  }

  nickIn(jid: string): string | undefined {
    return this.#rooms.get(jid)?.nick;
  }

  /** Asks for every room that the account is not in. */
  join(): void {
    for (const room of this.#rooms.values()) {
      if (room.isJoined || room.isAsked) continue;
      room.isAsked = true;
      room.nickTries = 0;
      void this.#learn(room);
      this.#ask(room, room.wanted.nick);
    }
  }

  /** Resolves when every room has answered. */
  async settled(): Promise<void> {
    if (this.#isSettled()) return;
    await new Promise<void>((resolve) => {
      this.#onSettled = resolve;
    });
  }

  /** Tries rooms again that the account is not in, asks for the wanted nicks, and asks whether it is still in the others (XEP-0410). */
  again(): void {
    for (const room of this.#rooms.values()) room.isAsked = false;
    this.join();
    for (const room of this.#rooms.values()) {
      if (!room.isJoined) continue;
      if (room.nick !== room.wanted.nick) this.#ask(room, room.wanted.nick);
      else void this.#checkPresence(room);
    }
  }

  /** Stable id of somebody in a room: the account, an id that the room gives, or else something that ends with their stay. A nick belongs to whoever takes it. */
  senderId(stanza: XmlElement, jid: string, nick: string): string {
    const room = this.#rooms.get(jid);
    const occupant = room?.occupants.get(nick);
    if (occupant?.account !== undefined) return occupant.account;
    const id = room?.hasOccupantIds ? attrOf(childOf(stanza, "occupant-id", NS_OCCUPANT), "id") : "";
    if (id !== "") return `${jid}/occupant:${id.slice(0, 200)}`;
    return `${jid}/${nick}#${occupant?.stay ?? "unknown"}`;
  }

  /** Follows who comes and goes. @returns true for a presence of one of the rooms */
  take(presence: XmlElement): boolean {
    const from = parseAddress(attrOf(presence, "from"));
    const room = from && this.#rooms.get(bareOf(from));
    if (!room || !from) return false;
    const type = attrOf(presence, "type");
    const user = childOf(presence, "x", `${MUC}#user`);
    const codes = new Set(user ? childrenOf(user, "status").map((status) => attrOf(status, "code")) : []);
    const isOwn = codes.has("110") || (room.isJoined && from.resource === room.nick);
    if (type === "error") this.#refused(room, presence);
    else if (type === "unavailable") this.#left(room, from.resource, { user, codes, isOwn });
    else if (type === "") this.#entered(room, from.resource, { user, codes, isOwn });
    if (this.#isSettled()) this.#onSettled?.();
    return true;
  }

  #ask(room: Room, nick: string): void {
    const { jid, password } = room.wanted;
    const secret = password === undefined ? undefined : xml("password", {}, password);
    const enter = xml("x", { xmlns: MUC }, xml("history", { maxstanzas: "0" }), secret);
    this.#options.send(xml("presence", { to: `${jid}/${nick}` }, enter));
  }

  async #learn(room: Room): Promise<void> {
    const answer = await this.#options.ask(room.wanted.jid, "get", xml("query", { xmlns: NS_DISCO }));
    const query = answer && childOf(answer, "query", NS_DISCO);
    room.hasOccupantIds = query !== undefined && childrenOf(query, "feature").some((feature) => attrOf(feature, "var") === NS_OCCUPANT);
  }

  async #checkPresence(room: Room): Promise<void> {
    const answer = await this.#options.ask(`${room.wanted.jid}/${room.nick}`, "get", xml("ping", { xmlns: "urn:xmpp:ping" }));
    const { condition } = conditionOf(answer && childOf(answer, "error"));
    // Every other answer, errors among them, comes from within the room.
    if (condition !== "not-acceptable" && condition !== "item-not-found") return;
    this.#leave(room);
    this.#options.logger.warn(`${room.wanted.jid} has lost this account: it is joined again`);
    this.join();
  }

  #entered(room: Room, nick: string, { user, codes, isOwn }: Told): void {
    const item = user && childOf(user, "item");
    const account = parseAddress(attrOf(item, "jid"));
    const known = room.occupants.get(nick);
    if (known) known.account = account && bareOf(account);
    else if (this.#people < MAX_PEOPLE) {
      this.#people += 1;
      this.#stays += 1;
      room.occupants.set(nick, { account: account && bareOf(account), stay: this.#stays });
    }
    if (!isOwn) return;
    room.isJoined = true;
    room.isAsked = false;
    room.nick = nick;
    room.problem = undefined;
    if (codes.has("201")) void this.#unlock(room);
  }

  /** Opens a room that did not exist before: until its owner has said how it is to be, nobody else gets in. */
  async #unlock(room: Room): Promise<void> {
    const form = xml("x", { xmlns: "jabber:x:data", type: "submit" });
    const answer = await this.#options.ask(room.wanted.jid, "set", xml("query", { xmlns: `${MUC}#owner` }, form));
    const { words } = conditionOf(answer && childOf(answer, "error"));
    if (attrOf(answer, "type") === "result") this.#options.logger.info(`${room.wanted.jid} did not exist: the account has made it`);
    else this.#options.logger.warn(`${room.wanted.jid} is new, and could not be opened to others: ${words}`);
  }

  #left(room: Room, nick: string, { user, codes, isOwn }: Told): void {
    const next = codes.has("303") ? attrOf(user && childOf(user, "item"), "nick") : "";
    const occupant = room.occupants.get(nick);
    if (room.occupants.delete(nick)) this.#people -= 1;
    if (next !== "" && occupant) {
      room.occupants.set(next, occupant);
      this.#people += 1;
    }
    if (!isOwn) return;
    if (next !== "") {
      room.nick = next;
      return;
    }
    this.#leave(room);
    const item = user && childOf(user, "item");
    const destroyed = user && childOf(user, "destroy");
    const words = wordsOf(textOf((item && childOf(item, "reason")) ?? (destroyed && childOf(destroyed, "reason"))));
    const how = destroyed ? "is destroyed" : codes.has("301") ? "has banned this account" : "has removed this account";
    this.#options.logger.warn(`${room.wanted.jid} ${how}: ${words || "no reason given"}`);
  }

  #leave(room: Room): void {
    this.#people -= room.occupants.size;
    room.occupants.clear();
    room.isJoined = false;
    room.isAsked = false;
  }

  #refused(room: Room, presence: XmlElement): void {
    const { condition, words } = conditionOf(childOf(presence, "error"));
    // In the room under another nick: the wanted one is asked for again later.
    if (room.isJoined) return;
    if (condition === "conflict" && room.nickTries < MAX_NICK_TRIES) {
      room.nickTries += 1;
      const tail = room.nickTries < MAX_NICK_TRIES ? "_".repeat(room.nickTries) : `-${Math.random().toString(36).slice(2, 6)}`;
      return this.#ask(room, `${room.wanted.nick}${tail}`);
    }
    room.isAsked = false;
    // Said once: it is tried again every minute.
    if (room.problem !== words) this.#options.logger.warn(`${room.wanted.jid} cannot be joined: ${words}`);
    room.problem = words;
  }

  #isSettled(): boolean {
    return [...this.#rooms.values()].every(({ isJoined, isAsked }) => isJoined || !isAsked);
  }
}

interface Told {
  user: XmlElement | undefined;
  codes: ReadonlySet<string>;
  isOwn: boolean;
}

function newRoom(wanted: WantedRoom): Room {
  return {
    wanted,
    nick: wanted.nick,
    isJoined: false,
    isAsked: false,
    nickTries: 0,
    hasOccupantIds: false,
    occupants: new Map(),
    problem: undefined,
  };
}
