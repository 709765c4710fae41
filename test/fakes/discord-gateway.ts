import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { FakeBot } from "./discord.ts";

const INTENTS = { guilds: 1 << 0, guildMessages: 1 << 9, directMessages: 1 << 12, messageContent: 1 << 15 };
const ALL_INTENTS = (1 << 26) - 1;
/** Shortest time between two heartbeats that a test asks for. */
const ASK_MS = 100;

interface Session {
  id: string;
  bot: FakeBot;
  intents: number;
  seq: number;
  /** Place that the last heartbeat, or the resuming of the session, has named. */
  stored: number;
  /** Time of the last heartbeat that it was asked for. */
  askedAt: number;
  events: Array<{ op: 0; t: string; s: number; d: object }>;
  socket: WebSocket | undefined;
}

export interface GatewayOptions {
  bots: readonly FakeBot[];
  heartbeatMs: number;
  /** Servers of a bot, as GUILD_CREATE announces them. */
  guildsOf(bot: FakeBot): Array<{ id: string }>;
  wrong: string[];
}

/** The gateway of the fake: HELLO, IDENTIFY or RESUME, heartbeats, and the events of each session in their order. */
export class FakeGateway {
  /** Frames of the bots, oldest first, without their tokens. */
  readonly frames: Array<{ op: number; d: unknown }> = [];
  /** Heartbeats are not answered. */
  isDeaf = false;
  /** Connections are taken, and nothing is said. */
  isSilent = false;
  /** Address for taking sessions up again, in place of the usual one. */
  resumeUrl: string | undefined;
  /** Sessions are not taken up again. */
  forgets = false;
  readonly #options: GatewayOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: 65_536 });
  readonly #sessions = new Map<string, Session>();
  #count = 0;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { searchParams: query, pathname } = new URL(request.url ?? "", "http://localhost");
    const isRight = /^\/gateway\/?$/.test(pathname) && query.get("v") === "10" && query.get("encoding") === "json";
    if (!isRight) this.#options.wrong.push(`gateway address ${request.url}`);
    this.#server.handleUpgrade(request, socket, head, (link) => this.#greet(link, String(request.headers.host)));
  }

  #greet(link: WebSocket, host: string): void {
    link.on("error", () => undefined);
    if (this.isSilent) return;
    let session: Session | undefined;
    link.on("message", (data) => {
      let frame: { op?: unknown; d?: unknown };
      try {
        frame = JSON.parse(data.toString());
      } catch {
        return link.close(4_002);
      }
      const { token: _, ...shown } = typeof frame.d === "object" && frame.d !== null ? (frame.d as Record<string, unknown>) : {};
      this.frames.push({ op: Number(frame.op), d: typeof frame.d === "object" && frame.d !== null ? shown : frame.d });
      if (frame.op === 1) return this.#heartbeat(link, session, frame.d);
      if (frame.op !== 2 && frame.op !== 6) return link.close(4_001);
      if (session) return link.close(4_005);
      session = frame.op === 2 ? this.#identify(link, frame.d as Record<string, unknown>, host) : this.#resume(link, frame.d as never);
    });
    link.on("close", (code) => {
      if (!session) return;
      session.socket = session.socket === link ? undefined : session.socket;
      // These say that the bot is gone for good.
      if (code === 1_000 || code === 1_001) this.#sessions.delete(session.id);
    });
    link.send(JSON.stringify({ op: 10, d: { heartbeat_interval: this.#options.heartbeatMs, _trace: ["fake"] }, s: null, t: null }));
  }

  #heartbeat(link: WebSocket, session: Session | undefined, d: unknown): void {
    if (d !== null && !(Number.isInteger(d) && session && (d as number) <= session.seq && (d as number) >= session.stored))
      this.#options.wrong.push(`heartbeat ${JSON.stringify(d)} of a session at ${session?.seq}`);
    if (session && typeof d === "number") session.stored = d;
    if (!this.isDeaf) link.send(JSON.stringify({ op: 11, d: null, s: null, t: null }));
  }

  #identify(link: WebSocket, d: Record<string, unknown>, host: string): Session | undefined {
    const { bots, guildsOf, wrong } = this.#options;
    const bot = bots.find(({ token }) => token === d.token);
    const refuse = (code: number) => void link.close(code);
    if (!bot) {
      refuse(4_004);
      return undefined;
    }
    const intents = d.intents;
    const properties = d.properties as Record<string, unknown> | undefined;
    if (!properties || ["os", "browser", "device"].some((key) => typeof properties[key] !== "string"))
      wrong.push("identify without properties");
    if (JSON.stringify(d.shard) !== "[0,1]") wrong.push(`identify with shard ${JSON.stringify(d.shard)}`);
    if (typeof intents !== "number" || (intents & ~ALL_INTENTS) !== 0) refuse(4_013);
    else if ((intents & INTENTS.messageContent) !== 0 && !bot.mayReadContent) refuse(4_014);
    else {
      this.#count += 1;
      const session: Session = { id: `fake-session-${this.#count}`, bot, intents, seq: 0, stored: 0, askedAt: 0, events: [], socket: link };
      this.#sessions.set(session.id, session);
      const guilds = guildsOf(bot);
      this.#dispatch(session, "READY", {
        v: 10,
        user: { id: bot.id, username: bot.username, discriminator: "0", bot: true },
        guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
        session_id: session.id,
        resume_gateway_url: this.resumeUrl ?? `ws://${host}/gateway`,
        application: { id: bot.applicationId, flags: 0 },
      });
      for (const guild of guilds) this.#dispatch(session, "GUILD_CREATE", guild);
      return session;
    }
    return undefined;
  }

  #resume(link: WebSocket, { token, session_id: id, seq }: { token: string; session_id: string; seq: number }): Session | undefined {
    const session = this.#sessions.get(id);
    if (session && session.bot.token !== token) {
      link.close(4_004);
      return undefined;
    }
    if (!session || this.forgets) {
      this.#sessions.delete(id);
      link.send(JSON.stringify({ op: 9, d: false, s: null, t: null }));
      return undefined;
    }
    if (!Number.isInteger(seq) || seq > session.seq) {
      link.close(4_007);
      return undefined;
    }
    session.socket?.terminate();
    session.socket = link;
    session.stored = Math.max(session.stored, seq);
    for (const event of session.events.filter(({ s }) => s > seq)) link.send(JSON.stringify(event));
    this.#dispatch(session, "RESUMED", {});
    return session;
  }

  #dispatch(session: Session, t: string, d: object): number {
    session.seq += 1;
    const event = { op: 0 as const, t, s: session.seq, d };
    session.events.push(event);
    if (session.socket?.readyState === WebSocket.OPEN) session.socket.send(JSON.stringify(event));
    return session.seq;
  }

  /**
   * Gives an event to the sessions of a bot; one without a session never learns of it.
   * @returns what tells whether it counts as taken: it asks for a heartbeat, as Discord may, which names the place
   */
  push(bot: FakeBot, kind: string, data: object): () => boolean {
    const places = [...this.#sessions.values()]
      .filter((session) => session.bot.token === bot.token)
      .map((session) => [session, this.#dispatch(session, kind, visible(data, session))] as const);
    return () => {
      const isTaken = places.some(([session, seq]) => session.stored >= seq);
      // Not at each look, or a proxy that joins packets waits for a pause that never comes.
      const waiting = isTaken ? [] : places.map(([session]) => session).filter(({ askedAt }) => Date.now() - askedAt > ASK_MS);
      for (const session of waiting) {
        session.askedAt = Date.now();
        session.socket?.send(JSON.stringify({ op: 1, d: null, s: null, t: null }), () => undefined);
      }
      return isTaken;
    };
  }

  /** Sends a frame as it is to every connection. */
  sendRaw(text: string): void {
    for (const link of this.#server.clients) link.send(text);
  }

  closeWith(code: number): void {
    for (const link of this.#server.clients) link.close(code);
  }

  connections(): number {
    return this.#server.clients.size;
  }

  cut(): void {
    for (const link of this.#server.clients) link.terminate();
  }
}

/** Without the intent a text is shown only to the bot that it names, and in direct messages. */
function visible(data: object, { intents, bot }: Session): object {
  const message = data as { content?: string; guild_id?: string };
  const isHidden =
    message.content !== undefined &&
    message.guild_id !== undefined &&
    (intents & INTENTS.messageContent) === 0 &&
    !message.content.includes(`<@${bot.id}>`);
  return isHidden ? { ...message, content: "", attachments: [] } : message;
}
