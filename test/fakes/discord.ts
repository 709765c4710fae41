import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type DiscordRequest, messageRefusal, partsOf, type Refusal, wrongBody } from "./discord-checks.ts";
import { FakeGateway } from "./discord-gateway.ts";

/** A bot that the fake knows. */
export interface FakeBot {
  id: string;
  applicationId: string;
  token: string;
  username: string;
  /** Message Content Intent is on. */
  mayReadContent: boolean;
}

export interface FakeChannel {
  id: string;
  type: number;
  name?: string;
  guild_id?: string;
  parent_id?: string;
  /** Of a direct channel: the user, and the bot. */
  recipient?: string;
  botId?: string;
  /** Error for whoever writes here. */
  refusal?: Refusal;
}

export interface FakeGuild {
  id: string;
  name: string;
  /** Rights of the bots in it. */
  permissions: string;
}

/** A call that was right, with its answer. */
export interface DiscordCall extends DiscordRequest {
  bot: FakeBot | undefined;
  /** Ids of the path, in their order. */
  ids: readonly string[];
  result: unknown;
}

/** Answer to one call in place of the usual one. `lost`: the call is carried out, and its answer never comes; `hang`: it is read, and nothing follows. */
export type Scripted = "cut" | "lost" | "hang" | "garbage" | { status: number; body?: object; headers?: Record<string, string> };

/** The API and gateway of Discord on the loopback: checks every call and frame, and answers as version 10 does. */
export interface FakeDiscord {
  /** Value for `apiRoot`. */
  url: string;
  port: number;
  gateway: FakeGateway;
  calls: readonly DiscordCall[];
  /** Calls and frames that were not right: a test expects none. */
  wrong: readonly string[];
  /** Sets the answers to the next calls, one each. @param call such as `POST /channels/:id/messages` */
  script(call: string, ...answers: Scripted[]): void;
  /** Files of messages: content by the path below `/files/`. */
  files: Map<string, Buffer>;
  /** Slash commands of an application. */
  commands: Map<string, Array<{ name: string; description: string; type: number }>>;
  open(): number;
  cut(): void;
  close(): Promise<void>;
}

interface FakeOptions {
  bots: readonly FakeBot[];
  channels: readonly FakeChannel[];
  guilds?: readonly FakeGuild[];
  heartbeatMs?: number;
  onCall?(call: DiscordCall): void;
}

const unauthorized: Refusal = { status: 401, code: 0, message: "401: Unauthorized" };
const unknownChannel: Refusal = { status: 404, code: 10_003, message: "Unknown Channel" };
/** Calls whose right is a token in the path. */
const OPEN_ROUTES = ["/interactions/:id/:token/callback", "/webhooks/:id/:token/messages/@original"];
let nextId = 900_000_000_000_000_000n;

export async function startFakeDiscord({ bots, channels, guilds = [], heartbeatMs = 45_000, onCall }: FakeOptions): Promise<FakeDiscord> {
  const calls: DiscordCall[] = [];
  const wrong: string[] = [];
  const scripts = new Map<string, Scripted[]>();
  const files: FakeDiscord["files"] = new Map();
  const commands: FakeDiscord["commands"] = new Map();
  const byNonce = new Map<string, object>();
  let open = 0;
  const gateway = new FakeGateway({
    bots,
    heartbeatMs,
    wrong,
    guildsOf: () =>
      guilds.map(({ id, name }) => {
        const own = channels.filter((channel) => channel.guild_id === id);
        const isThread = ({ type }: FakeChannel) => [10, 11, 12].includes(type);
        return { id, name, channels: own.filter((one) => !isThread(one)), threads: own.filter(isThread) };
      }),
  });

  const server = createServer((request, response) => {
    open += 1;
    response.once("close", () => {
      open -= 1;
    });
    void answer(request, response).catch((error: unknown) => {
      wrong.push(`${request.method} ${request.url}: ${String(error)}`);
      response.destroy();
    });
  });
  server.on("upgrade", (request, socket, head) => gateway.upgrade(request, socket, head));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await bytesOf(request);
    const path = (request.url ?? "").split("?")[0] as string;
    const file = files.get(path.replace("/files/", ""));
    if (path.startsWith("/files/")) return void response.writeHead(file ? 200 : 404).end(file);
    const { route, ids } = routeOf(path);
    const method = request.method ?? "";
    const bot = bots.find(({ token }) => request.headers.authorization === `Bot ${token}`);
    const scripted = scripts.get(`${method} ${route}`)?.shift();
    if (scripted === "cut") return void response.destroy();
    if (scripted === "hang") return;
    if (scripted === "garbage") return void response.writeHead(200, { "content-type": "application/json" }).end("<html>");
    if (typeof scripted === "object") return reply(response, scripted.status, scripted.body ?? {}, scripted.headers);
    if (!bot && !OPEN_ROUTES.includes(route)) return refuse(response, unauthorized);
    if (bot && OPEN_ROUTES.includes(route)) wrong.push(`${method} ${route} carries the token of the bot`);
    if (!/^DiscordBot \(/.test(String(request.headers["user-agent"]))) wrong.push(`user agent ${request.headers["user-agent"]}`);
    const call = { method, route, ids, bot, ...(await partsOf(String(request.headers["content-type"] ?? ""), bytes)) };
    const fault = wrongBody(call);
    if (fault !== undefined) wrong.push(`${method} ${route}: ${fault}`);
    const result = resultOf(call, String(request.headers.host));
    if (result === undefined) {
      wrong.push(`there is no ${method} ${path}`);
      return refuse(response, { status: 404, code: 0, message: "404: Not Found" });
    }
    if ("refusal" in result) return refuse(response, result.refusal);
    const done = { ...call, result: result.body };
    calls.push(done);
    onCall?.(done);
    if (scripted === "lost") return void response.destroy();
    if (result.body === null) return void response.writeHead(204).end();
    reply(response, 200, result.body);
  }

  type Result = { body: object | null } | { refusal: Refusal };

  function resultOf({ method, route, ids, bot, body = {}, files: uploads }: Omit<DiscordCall, "result">, host: string): Result | undefined {
    const [id = "", second] = ids;
    const channel = channels.find((one) => one.id === id);
    const inChannel = (then: (channel: FakeChannel) => Result): Result => {
      if (!channel || (channel.botId !== undefined && channel.botId !== bot?.id)) return { refusal: unknownChannel };
      return channel.refusal ? { refusal: channel.refusal } : then(channel);
    };
    switch (`${method} ${route}`) {
      case "GET /users/@me":
        return { body: { id: bot?.id, username: bot?.username, discriminator: "0", bot: true } };
      case "GET /gateway/bot":
        return {
          body: {
            url: `ws://${host}/gateway`,
            shards: 1,
            session_start_limit: { total: 1_000, remaining: 999, reset_after: 0, max_concurrency: 1 },
          },
        };
      case "GET /applications/@me":
        return { body: { id: bot?.applicationId, name: bot?.username, flags: bot?.mayReadContent ? 1 << 19 : 0 } };
      case "GET /users/@me/guilds":
        return { body: guilds.map(({ id: guild, name, permissions }) => ({ id: guild, name, permissions })) };
      case "GET /channels/:id":
        return inChannel(({ refusal: _, recipient: __, botId: ___, ...shown }) => ({ body: shown }));
      case "POST /users/@me/channels": {
        const direct = channels.find(({ recipient, botId }) => recipient === body.recipient_id && botId === bot?.id);
        return direct ? { body: { id: direct.id, type: 1 } } : { refusal: { status: 400, code: 50_033, message: "Invalid Recipient(s)" } };
      }
      case "POST /channels/:id/messages":
        return inChannel(() => post({ channelId: id, bot, body, uploads: uploads.length }));
      case "PATCH /channels/:id/messages/:id": {
        const refusal = messageRefusal(body, 0);
        return inChannel(() => (refusal ? { refusal } : { body: { id: second, channel_id: id, content: body.content } }));
      }
      case "DELETE /channels/:id/messages/:id":
      case "PUT /channels/:id/messages/:id/reactions/:emoji/@me":
      case "POST /channels/:id/typing":
        return inChannel(() => ({ body: null }));
      case "GET /applications/:id/commands":
        return { body: commands.get(id) ?? [] };
      case "POST /applications/:id/commands":
        commands.set(id, [...(commands.get(id) ?? []), body as never]);
        return { body: { id: String(nextId++), ...body } };
      case "POST /interactions/:id/:token/callback":
        return { body: null };
      case "DELETE /webhooks/:id/:token/messages/@original":
        return { body: null };
      case "PATCH /webhooks/:id/:token/messages/@original":
        return { body: { id: String(nextId++), channel_id: "1", content: body.content } };
      default:
        return undefined;
    }
  }

  function post({ channelId, bot, body, uploads }: { channelId: string; bot: FakeBot | undefined; body: object; uploads: number }): Result {
    const refusal = messageRefusal(body as Record<string, unknown>, uploads);
    if (refusal) return { refusal };
    const { nonce, enforce_nonce: isEnforced, content } = body as { nonce?: string; enforce_nonce?: boolean; content?: string };
    const key = `${bot?.id} ${nonce}`;
    const earlier = isEnforced ? byNonce.get(key) : undefined;
    const message = earlier ?? { id: String(nextId++), channel_id: channelId, type: 0, content, nonce, author: { id: bot?.id, bot: true } };
    byNonce.set(key, message);
    return { body: message };
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api`,
    port,
    gateway,
    calls,
    wrong,
    files,
    commands,
    script: (call, ...answers) => void scripts.set(call, [...(scripts.get(call) ?? []), ...answers]),
    open: () => open + gateway.connections(),
    cut() {
      gateway.cut();
      server.closeAllConnections();
    },
    async close() {
      gateway.cut();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Path of version 10 with its ids taken out. */
function routeOf(path: string): { route: string; ids: string[] } {
  const ids: string[] = [];
  const parts = path.replace(/^\/api\/v10/, "").split("/");
  const route = parts.map((part, i) => {
    if (parts[i - 1] === "reactions") return ":emoji";
    if ((parts[1] === "interactions" || parts[1] === "webhooks") && i === 3) return ":token";
    if (!/^\d+$/.test(part)) return part;
    ids.push(part);
    return ":id";
  });
  return { route: route.join("/"), ids };
}

function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  reply(response, status, { message, code });
}

function reply(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
