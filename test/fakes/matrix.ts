import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type MatrixCall, wrongContent, wrongParameters } from "./matrix-checks.ts";
import { type FakeEvent, type FakeRoom, Rooms, shown } from "./matrix-rooms.ts";

/** A user that programs log in as. */
export interface FakeUser {
  id: string;
  password?: string;
  /** Token of a session that is there from the start. */
  token?: string;
  name?: string;
}

type Scripted = { status: number; body?: object; text?: string; headers?: Record<string, string> } | "cut" | "taken, then cut" | "stall";

/** A homeserver on the loopback: checks every request, and answers as one does. */
export interface FakeMatrix {
  url: string;
  rooms: Rooms;
  /** Requests that were right, oldest first; syncs are not among them. */
  calls: readonly MatrixCall[];
  /** Requests that were not, with the reason: a test expects none. */
  wrong: readonly string[];
  /** Largest place from which a user has asked for more. */
  confirmed(userId: string): number;
  /** Sets the answers to the next requests of one name (`sync`, `send`, `login`, `messages` …), one each. */
  script(name: string, ...answers: Scripted[]): void;
  /** Files by `server/id`. */
  files: Map<string, { content: Buffer; mime: string }>;
  /** True: files are given out by the old address only, as servers before version 1.11 do. */
  isOld: boolean;
  /** True: every new room is encrypted, as some homeservers are set up. */
  encryptsNew: boolean;
  /** Ends every session of a user. */
  logOut(userId: string, isSoft?: boolean): void;
  devices: Map<string, Set<string>>;
  open(): number;
  /** Time since somebody has looked at the rooms and not asked for news yet. */
  sinceLookMs(): number;
  cut(): void;
  close(): Promise<void>;
}

interface Options {
  users: readonly FakeUser[];
  onCall?(call: MatrixCall, result: Record<string, unknown>): void;
}

interface Session {
  userId: string;
  deviceId: string;
}

class Refusal extends Error {
  readonly status: number;
  readonly body: object;
  constructor(status: number, errcode: string, error: string, more: object = {}) {
    super(error);
    this.status = status;
    this.body = { errcode, error, ...more };
  }
}

interface Request {
  call: MatrixCall;
  parts: string[];
  bytes: Buffer;
  type: string;
  session: Session;
  signal: AbortSignal;
}

export async function startFakeMatrix({ users, onCall }: Options): Promise<FakeMatrix> {
  const rooms = new Rooms();
  const calls: MatrixCall[] = [];
  const wrong: string[] = [];
  const scripts = new Map<string, Scripted[]>();
  const files: FakeMatrix["files"] = new Map();
  const sessions = new Map<string, Session>(users.flatMap(({ id, token }) => (token ? [[token, { userId: id, deviceId: "START" }]] : [])));
  const ended = new Map<string, boolean>();
  const devices = new Map<string, Set<string>>();
  /** Events by user, device, room, type and transaction. */
  const transactions = new Map<string, string>();
  const confirmed = new Map<string, number>();
  let open = 0;
  let count = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const server = createServer((request, response) => {
    open += 1;
    const isNews = request.url?.includes("since=") === true;
    if (isNews) lookedAt = Number.NEGATIVE_INFINITY;
    response.once("close", () => {
      open -= 1;
      if (!isNews && request.url?.includes("/sync?")) lookedAt = performance.now();
    });
    void answer(request, response).catch((error: unknown) => {
      if (error instanceof Refusal) return reply(response, error.status, error.body);
      if (!response.destroyed) wrong.push(`${request.url}: ${String(error)}`);
      response.destroy();
    });
  });

  const reply = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) => {
    if (!response.destroyed) response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await bytesOf(request);
    const url = new URL(request.url ?? "/", "http://fake");
    const parts = url.pathname
      .replace(/^\/_matrix\//, "")
      .split("/")
      .map(decodeURIComponent);
    const name = nameOf(parts);
    const scripted = scripts.get(name)?.shift();
    if (scripted === "cut") return void response.destroy();
    if (scripted === "stall") return;
    if (typeof scripted === "object") {
      response.writeHead(scripted.status, { "content-type": scripted.body ? "application/json" : "text/html", ...scripted.headers });
      return void response.end(scripted.body ? JSON.stringify(scripted.body) : scripted.text);
    }
    const type = request.headers["content-type"] ?? "";
    const body = name === "upload" || bytes.length === 0 ? {} : (JSON.parse(bytes.toString()) as Record<string, unknown>);
    if (bytes.length > 0 && name !== "upload" && type !== "application/json") wrong.push(`${name}: content type ${type}`);
    const query = Object.fromEntries(url.searchParams);
    const problem = wrongParameters(name, query, body);
    if (problem) {
      wrong.push(`${name}: ${problem}`);
      throw new Refusal(400, "M_INVALID_PARAM", problem);
    }
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    if (name === "versions") return reply(response, 200, { versions: ["v1.1", "v1.11"] });
    if (parts[0] === "media" && parts[2] === "download") return giveFile(response, parts.slice(3), files, true);
    const call = { userId: "", method: request.method ?? "", path: parts.join("/"), query, body };
    if (name === "login") return reply(response, 200, logIn(call));
    const session = sessionOf(request);
    const asked: Request = { call: { ...call, userId: session.userId }, parts, bytes, type, session, signal: gone.signal };
    if (name === "sync") return reply(response, 200, await sync(asked));
    if (name === "download") {
      if (matrix.isOld) throw new Refusal(404, "M_UNRECOGNIZED", "Unrecognized request");
      return giveFile(response, parts.slice(4), files, false);
    }
    const result = run(name, asked);
    calls.push(asked.call);
    if (scripted === "taken, then cut") return void response.destroy();
    reply(response, 200, result);
  }

  function sessionOf(request: IncomingMessage): Session {
    const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    if (token === undefined) throw new Refusal(401, "M_MISSING_TOKEN", "Missing access token");
    const session = sessions.get(token);
    if (!session) throw new Refusal(401, "M_UNKNOWN_TOKEN", `Unknown access token ${token}`, { soft_logout: ended.get(token) === true });
    return session;
  }

  function logIn(call: MatrixCall): Record<string, unknown> {
    const {
      type,
      identifier,
      password,
      device_id: wanted,
    } = call.body as Record<string, string> & { identifier?: { type?: string; user?: string } };
    if (call.method !== "POST" || type !== "m.login.password") throw new Refusal(400, "M_UNKNOWN", "Unknown login type");
    const who = identifier as { type?: string; user?: string } | undefined;
    const user = users.find(({ id }) => who?.type === "m.id.user" && id === who.user);
    if (!user?.password || user.password !== password) throw new Refusal(403, "M_FORBIDDEN", "Invalid username or password");
    count += 1;
    const deviceId = wanted ?? `DEVICE${count}`;
    // A login for a device ends its session before.
    for (const [token, session] of sessions) if (session.userId === user.id && session.deviceId === deviceId) sessions.delete(token);
    const token = `syt_login_${count}_${user.id.length}`;
    sessions.set(token, { userId: user.id, deviceId });
    devices.set(user.id, (devices.get(user.id) ?? new Set()).add(deviceId));
    return { user_id: user.id, access_token: token, device_id: deviceId };
  }

  async function sync({ call, session, signal }: Request): Promise<object> {
    const { since, timeout = "0", filter = "{}" } = call.query;
    const from = since === undefined ? undefined : placeOf(since);
    if (from !== undefined) confirmed.set(session.userId, Math.max(confirmed.get(session.userId) ?? 0, from));
    const look = () => rooms.changes(session.userId, from, JSON.parse(filter));
    let found = look();
    const isOver = () => ![...sessions.values()].includes(session);
    for (
      const until = performance.now() + Number(timeout);
      !found && !signal.aborted && !isOver() && performance.now() < until;
      found = look()
    )
      await rooms.changed(until - performance.now(), signal);
    if (isOver()) throw new Refusal(401, "M_UNKNOWN_TOKEN", "Unknown access token", { soft_logout: [...ended.values()].at(-1) });
    return { ...found, next_batch: `s${rooms.now}` };
  }

  function run(name: string, asked: Request): Record<string, unknown> {
    const { call, parts, session, bytes, type } = asked;
    const { userId } = session;
    if (name === "whoami") return { user_id: userId, device_id: session.deviceId };
    if (name === "logout") {
      for (const [token, one] of sessions) if (one === session) sessions.delete(token);
      devices.get(userId)?.delete(session.deviceId);
      return {};
    }
    if (name === "displayname") return { displayname: users.find(({ id }) => id === parts[3])?.name ?? "nobody" };
    if (name === "directory") return { room_id: aliased(parts[4] as string).id };
    if (name === "account_data") return accountData(call, userId);
    if (name === "createRoom") return createRoom(call, userId);
    if (name === "upload") {
      if (bytes.length === 0 || type === "") throw new Refusal(400, "M_UNKNOWN", "nothing was uploaded");
      count += 1;
      files.set(`fake.test/up${count}`, { content: bytes, mime: type });
      return { content_uri: `mxc://fake.test/up${count}` };
    }
    const room = rooms.all.get(parts[3] ?? "");
    const membership = rooms.membership(room, userId);
    if (room && name === "join" && (membership === "invite" || membership === "join")) {
      if (membership === "invite") rooms.member(room, userId, userId, "join", { displayname: users.find(({ id }) => id === userId)?.name });
      return { room_id: room.id };
    }
    if (!room || membership !== "join") throw new Refusal(403, "M_FORBIDDEN", `User ${userId} not in room ${parts[3]}`);
    if (name === "typing") {
      onCall?.(call, {});
      return {};
    }
    if (name === "event") {
      const event = room.events.find(({ event_id: id }) => id === parts[5]);
      if (!event) throw new Refusal(404, "M_NOT_FOUND", "Event not found");
      return shown(event) as Record<string, unknown>;
    }
    if (name === "state") {
      const event = rooms.stateOf(room, parts[5] as string);
      if (!event) throw new Refusal(404, "M_NOT_FOUND", "State not found");
      return event.content;
    }
    if (name === "messages") {
      const { from = "", to, limit = "10", filter = "{}" } = call.query;
      const bounds = { from: placeOf(from), to: to === undefined ? undefined : placeOf(to) };
      return rooms.page(room, { ...bounds, limit: Number(limit), types: JSON.parse(filter).types }) as Record<string, unknown>;
    }
    if (name === "send" || name === "redact") return write(name, asked, room);
    throw new Refusal(404, "M_UNRECOGNIZED", `Unrecognized request ${call.path}`);
  }

  function write(name: string, { call, parts, session }: Request, room: FakeRoom): Record<string, unknown> {
    const [type, txn] = name === "send" ? [parts[5] as string, parts[6]] : ["m.room.redaction", parts[6]];
    if (!txn || call.method !== "PUT") throw new Refusal(400, "M_INVALID_PARAM", "no transaction");
    const key = [session.userId, session.deviceId, room.id, type, txn].join(" ");
    const known = transactions.get(key);
    if (known !== undefined) return { event_id: known };
    const levels = rooms.stateOf(room, "m.room.power_levels")?.content as
      | { users?: Record<string, number>; events_default?: number }
      | undefined;
    if ((levels?.users?.[session.userId] ?? 0) < (levels?.events_default ?? 0))
      throw new Refusal(403, "M_FORBIDDEN", "You don't have permission to post that to the room");
    const exists = (id: string) => room.events.some(({ event_id }) => event_id === id);
    if (name === "redact") {
      if (!exists(parts[5] as string)) throw new Refusal(404, "M_NOT_FOUND", "Event not found");
      onCall?.(call, {});
    } else {
      const problem = wrongContent(type, call.body, exists);
      if (problem === "too large") throw new Refusal(413, "M_TOO_LARGE", "event too large");
      if (problem) {
        wrong.push(`send: ${problem}`);
        throw new Refusal(400, "M_BAD_JSON", problem);
      }
      if (rooms.stateOf(room, "m.room.encryption")) wrong.push("send: in the clear into an encrypted room");
    }
    const { event_id: id } = rooms.add(room, { type, sender: session.userId, content: call.body });
    transactions.set(key, id);
    if (name === "send") onCall?.(call, { event_id: id });
    return { event_id: id };
  }

  function accountData({ method, body }: MatrixCall, userId: string): Record<string, unknown> {
    if (method === "PUT") {
      rooms.setDirect(userId, body);
      return {};
    }
    const direct = rooms.direct.get(userId);
    if (!direct) throw new Refusal(404, "M_NOT_FOUND", "Account data not found");
    return direct.content;
  }

  function createRoom({ body }: MatrixCall, userId: string): Record<string, unknown> {
    count += 1;
    const room = rooms.create(`!made${count}:fake.test`);
    rooms.member(room, userId, userId, "join");
    if (matrix.encryptsNew)
      rooms.add(room, { type: "m.room.encryption", sender: userId, state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } });
    for (const person of body.invite as string[]) rooms.member(room, userId, person, "invite", { is_direct: body.is_direct === true });
    return { room_id: room.id };
  }

  function aliased(alias: string): FakeRoom {
    const room = [...rooms.all.values()].find((one) => rooms.stateOf(one, "m.room.canonical_alias")?.content.alias === alias);
    if (!room) throw new Refusal(404, "M_NOT_FOUND", `Room alias ${alias} not found`);
    return room;
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const matrix: FakeMatrix = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rooms,
    calls,
    wrong,
    files,
    devices,
    isOld: false,
    encryptsNew: false,
    confirmed: (userId) => confirmed.get(userId) ?? 0,
    script: (name, ...answers) => void scripts.set(name, [...(scripts.get(name) ?? []), ...answers]),
    logOut(userId, isSoft = false) {
      for (const [token, session] of sessions) {
        if (session.userId !== userId) continue;
        sessions.delete(token);
        ended.set(token, isSoft);
      }
      rooms.now += 1;
      rooms.wake();
      server.closeIdleConnections();
    },
    open: () => open,
    sinceLookMs: () => performance.now() - lookedAt,
    cut: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return matrix;
}

/** Name of a request: the part of its path that says what it does. */
function nameOf(parts: string[]): string {
  if (parts[2] === "rooms") return parts[4] ?? "";
  if (parts[2] === "account") return "whoami";
  if (parts[2] === "profile") return "displayname";
  if (parts[2] === "user") return "account_data";
  if (parts[0] === "media") return parts[2] ?? "";
  if (parts[2] === "media") return "download";
  return parts[2] ?? parts[1] ?? "";
}

function giveFile(response: ServerResponse, parts: string[], files: FakeMatrix["files"], isOpen: boolean): void {
  const file = files.get(parts.join("/"));
  if (!file) throw new Refusal(404, "M_NOT_FOUND", isOpen ? "Not found here" : "Not found");
  response.writeHead(200, { "content-type": file.mime }).end(file.content);
}

function placeOf(token: string): number {
  const [, at] = /^[st](\d+)$/.exec(token) ?? [];
  if (at === undefined) throw new Refusal(400, "M_INVALID_PARAM", "Invalid stream token");
  return Number(at);
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export type { FakeEvent };
