import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { ALL_SCOPES, checkCall, type FakeApp, type Known, type SlackCall } from "./slack-checks.ts";

export type { FakeApp, SlackCall } from "./slack-checks.ts";

/** Answer that a test sets: a code of Slack, a status, a connection that breaks before or after the call was taken, or a page of something in between. */
export type ScriptedAnswer =
  | { error: string; more?: object }
  | { status: number; headers?: Record<string, string> }
  | "cut"
  | "taken, then cut"
  | "silence"
  | "garbage";

/** Slack on the loopback: Web API, socket mode, files. Checks every call, and answers as Slack does. */
export interface FakeSlack {
  url: string;
  /** Value for `apiRoot`. */
  apiRoot: string;
  /** Calls that were right, oldest first. */
  calls: readonly SlackCall[];
  /** Calls, links and acknowledgements that were not: a test expects none. */
  wrong: readonly string[];
  /** Gives an app something; it is sent over one of its links, and again over the next one until it is acknowledged. @returns id of the envelope */
  push(app: FakeApp, payload: object, type?: string): string;
  isAcknowledged(envelopeId: string): boolean;
  /** How often an envelope was sent. */
  deliveries(envelopeId: string): number;
  /** Sends an envelope that was not acknowledged yet once more. */
  repeat(envelopeId: string): void;
  /** Sends something over every link of an app as it is. */
  raw(app: FakeApp, message: unknown): void;
  /** Sets the answers to the next calls of a method, or to the next links (`link`), one each. */
  script(method: string, ...answers: ScriptedAnswer[]): void;
  /** Files that messages name, by id. */
  files: Map<string, { name: string; type: string; content: Buffer }>;
  /** Files that apps have sent, with what was said to them. */
  shared: ReadonlyArray<{ channel: string; name: string; content: Buffer; comment?: string; thread?: string }>;
  /** Takes scopes away from the bot token of an app. */
  grant(app: FakeApp, scopes: readonly string[]): void;
  /** Stops to read what apps send over the links that are open now, pings included, as a machine does that is gone. */
  stall(): void;
  /** Refuses the tokens of an app from now on. */
  revoke(app: FakeApp, error: string): void;
  /** Links that are open now. */
  links(app?: FakeApp): number;
  /** Cuts every link; new ones are taken. */
  cut(): void;
  /** Sends the links through this port from now on. */
  linkPort: number;
  close(): Promise<void>;
}

interface FakeOptions extends Known {
  apps: readonly FakeApp[];
  onCall?(call: SlackCall): void;
}

interface Pending {
  app: FakeApp;
  id: string;
  type: string;
  payload: object;
  sent: number;
  isAcknowledged: boolean;
  link: WebSocket | undefined;
}

let nextTs = 0;

/** Time stamp of a message: unique, and growing. */
export function newTs(): string {
  nextTs += 1;
  return `17000${String(nextTs).padStart(5, "0")}.000100`;
}

/** Headers and body of a request as Slack signs it. */
export function signedRequest(
  app: Pick<FakeApp, "signingSecret">,
  body: string,
  { now = Date.now(), retry = 0, type = "application/json" }: { now?: number; retry?: number; type?: string } = {},
): { method: "POST"; headers: Record<string, string>; body: string } {
  const time = String(Math.floor(now / 1_000));
  const signature = createHmac("sha256", app.signingSecret).update(`v0:${time}:${body}`).digest("hex");
  return {
    method: "POST",
    headers: {
      "content-type": type,
      "x-slack-request-timestamp": time,
      "x-slack-signature": `v0=${signature}`,
      ...(retry > 0 ? { "x-slack-retry-num": String(retry), "x-slack-retry-reason": "http_timeout" } : {}),
    },
    body,
  };
}

export async function startFakeSlack({ apps, channels, users, onCall }: FakeOptions): Promise<FakeSlack> {
  const calls: SlackCall[] = [];
  const wrong: string[] = [];
  const scripts = new Map<string, ScriptedAnswer[]>();
  const files: FakeSlack["files"] = new Map();
  const shared: Array<FakeSlack["shared"][number]> = [];
  const uploads = new Map<string, { name: string; length: number; content?: Buffer }>();
  const refusals = new Map<string, string>();
  const granted = new Map<string, readonly string[]>();
  const tickets = new Map<string, FakeApp>();
  const links = new Map<WebSocket, FakeApp>();
  const stalled = new Set<WebSocket>();
  const envelopes = new Map<string, Pending>();
  const sockets = new WebSocketServer({ noServer: true });

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      wrong.push(String(error));
      response.destroy();
    });
  });
  const reply = (response: ServerResponse, body: object, headers: Record<string, string> = {}) =>
    void response.writeHead(200, { "content-type": "application/json; charset=utf-8", ...headers }).end(JSON.stringify(body));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://slack").pathname;
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const body = await bytesOf(request);
    if (path.startsWith("/files-pri/")) return sendFile(path.slice("/files-pri/".length), token, response);
    if (path.startsWith("/upload/")) return takeFile(path.slice("/upload/".length), { body, token }, response);
    const method = /^\/api\/([\w.]+)$/.exec(path)?.[1];
    if (method === undefined || request.method !== "POST") return void response.writeHead(404).end();
    const scripted = scripts.get(method)?.shift();
    if (scripted === "cut") return void response.destroy();
    if (scripted === "silence") return;
    if (scripted === "garbage") return void response.writeHead(200).end("<html>maintenance</html>");
    if (typeof scripted === "object" && "status" in scripted) return void response.writeHead(scripted.status, scripted.headers).end("{}");
    if (typeof scripted === "object") return reply(response, { ok: false, error: scripted.error, ...scripted.more });
    const ofApp = method === "apps.connections.open";
    const known = apps.find((one) => token !== undefined && (ofApp ? one.appToken : one.botToken) === token);
    const app = known && { ...known, scopes: granted.get(known.appId) ?? ALL_SCOPES };
    const refusal = app ? refusals.get(app.appId) : token === undefined ? "not_authed" : "invalid_auth";
    if (!app || refusal !== undefined) return reply(response, { ok: false, error: refusal });
    const checked = checkCall(method, { type: request.headers["content-type"] ?? "", body: body.toString() }, app, { channels, users });
    if ("wrong" in checked) {
      wrong.push(`${method}: ${checked.wrong}`);
      return reply(response, { ok: false, error: "invalid_arguments" });
    }
    if ("error" in checked) return reply(response, { ok: false, error: checked.error, ...checked.more });
    const result = resultOf(app, method, checked.params);
    if (result.ok !== false) {
      calls.push({ app, method, params: checked.params, result });
      onCall?.({ app, method, params: checked.params, result });
    }
    if (scripted === "taken, then cut") return void response.destroy();
    reply(response, { ok: true, ...result }, ofApp ? {} : { "x-oauth-scopes": app.scopes.join(",") });
  }

  function resultOf(app: FakeApp, method: string, params: Record<string, string>): Record<string, unknown> {
    const { channel = "" } = params;
    if (method === "auth.test") return { user_id: app.userId, bot_id: app.botId, user: app.name, team_id: app.teamId, team: "Kitchen Ltd" };
    if (method === "apps.connections.open") {
      const ticket = randomUUID();
      tickets.set(ticket, apps.find(({ appId }) => appId === app.appId) as FakeApp);
      return { url: `ws://127.0.0.1:${slack.linkPort}/link/?ticket=${ticket}&app_id=${app.appId}` };
    }
    if (method === "chat.postMessage") return { channel, ts: newTs(), message: { type: "message", text: params.text, user: app.userId } };
    if (method === "conversations.open") return { channel: { id: channels.find(({ user }) => user === params.users)?.id } };
    if (method === "conversations.info") {
      const { id, name, isMember = true, isArchived = false } = channels.find((one) => one.id === channel) ?? { id: channel };
      return { channel: { id, name, is_member: isMember, is_archived: isArchived } };
    }
    if (method === "users.info") {
      const { id, name } = users.find((one) => one.id === params.user) ?? { id: "", name: "" };
      return { user: { id, name: name.toLowerCase(), real_name: name, profile: { display_name: name } } };
    }
    if (method === "files.info") return { file: fileOf(params.file ?? "", slack) };
    if (method === "files.getUploadURLExternal") {
      const id = `F0UP${uploads.size + 1}`;
      uploads.set(id, { name: params.filename ?? "", length: Number(params.length) });
      return { upload_url: `${slack.url}/upload/${id}`, file_id: id };
    }
    return method === "files.completeUploadExternal" ? share(params) : { channel, ts: params.ts };
  }

  function share(params: Record<string, string>): Record<string, unknown> {
    const named = JSON.parse(params.files ?? "[]") as Array<{ id: string; title: string }>;
    for (const { id } of named) {
      const upload = uploads.get(id);
      if (!upload?.content || upload.content.length !== upload.length) return { ok: false, error: "file_not_found" };
      shared.push({
        channel: params.channel_id ?? "",
        name: upload.name,
        content: upload.content,
        ...(params.initial_comment === undefined ? {} : { comment: params.initial_comment }),
        ...(params.thread_ts === undefined ? {} : { thread: params.thread_ts }),
      });
    }
    return { files: named.map(({ id, title }) => ({ id, title, shares: {} })) };
  }

  function sendFile(id: string, token: string | undefined, response: ServerResponse): void {
    const file = files.get(id);
    // Without the right token Slack leads to its page to sign in.
    if (!apps.some(({ botToken }) => botToken === token)) return void response.writeHead(302, { location: `${slack.url}/signin` }).end();
    if (!file) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": file.type }).end(file.content);
  }

  function takeFile(id: string, { body, token }: { body: Buffer; token: string | undefined }, response: ServerResponse): void {
    const upload = uploads.get(id);
    if (token !== undefined) wrong.push("an upload carries a token, which its address makes needless");
    if (!upload || upload.length !== body.length) return void response.writeHead(500).end();
    upload.content = body;
    response.writeHead(200, { "content-type": "text/plain" }).end(`OK - ${body.length}`);
  }

  server.on("upgrade", (request, socket, head) => {
    const url = new URL(request.url ?? "/", "http://slack");
    const ticket = url.searchParams.get("ticket") ?? "";
    const app = tickets.get(ticket);
    tickets.delete(ticket);
    if (!app || url.searchParams.get("app_id") !== app.appId) {
      wrong.push("a link without a ticket, or with one that was used");
      return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    }
    const scripted = scripts.get("link")?.shift();
    if (scripted === "cut") return void socket.destroy();
    if (typeof scripted === "object" && "status" in scripted) return void socket.end(`HTTP/1.1 ${scripted.status} Refused\r\n\r\n`);
    if (scripted === "silence") return sockets.handleUpgrade(request, socket, head, (link) => link.on("error", () => undefined));
    sockets.handleUpgrade(request, socket, head, (link) => greet(link, app));
  });

  function greet(link: WebSocket, app: FakeApp): void {
    links.set(link, app);
    link.on("error", () => undefined);
    link.on("message", (data) => acknowledge(link, String(data)));
    link.on("close", () => {
      links.delete(link);
      for (const envelope of envelopes.values()) if (envelope.link === link) envelope.link = undefined;
    });
    const count = [...links.values()].filter((other) => other === app).length;
    const about = { host: "fake", build_number: 1, approximate_connection_time: 18_060 };
    link.send(JSON.stringify({ type: "hello", num_connections: count, debug_info: about, connection_info: { app_id: app.appId } }));
    for (const envelope of envelopes.values()) if (envelope.app === app && !envelope.isAcknowledged && !envelope.link) send(link, envelope);
  }

  function send(link: WebSocket, envelope: Pending): void {
    const { id, type, payload } = envelope;
    envelope.link = link;
    const again = envelope.sent > 0 ? { retry_attempt: envelope.sent, retry_reason: "timeout" } : { retry_attempt: 0, retry_reason: "" };
    envelope.sent += 1;
    link.send(JSON.stringify({ envelope_id: id, payload, type, accepts_response_payload: type === "slash_commands", ...again }));
  }

  function acknowledge(link: WebSocket, data: string): void {
    const { envelope_id: id } = JSON.parse(data) as { envelope_id?: string };
    const envelope = envelopes.get(id ?? "");
    if (!envelope || envelope.app !== links.get(link)) return void wrong.push(`an acknowledgement of nothing: ${data.slice(0, 200)}`);
    envelope.isAcknowledged = true;
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const slack: FakeSlack = {
    url: `http://127.0.0.1:${port}`,
    apiRoot: `http://127.0.0.1:${port}/api`,
    calls,
    wrong,
    files,
    shared,
    linkPort: port,
    push(app, payload, type = "events_api") {
      const envelope: Pending = { app, id: randomUUID(), type, payload, sent: 0, isAcknowledged: false, link: undefined };
      envelopes.set(envelope.id, envelope);
      const [link] = [...links].find(([one, owner]) => owner === app && one.readyState === one.OPEN) ?? [];
      if (link) send(link, envelope);
      return envelope.id;
    },
    isAcknowledged: (id) => envelopes.get(id)?.isAcknowledged === true,
    deliveries: (id) => envelopes.get(id)?.sent ?? 0,
    repeat(id) {
      const envelope = envelopes.get(id);
      const [link] = [...links].find(([, owner]) => owner === envelope?.app) ?? [];
      if (envelope && link) send(link, envelope);
    },
    raw(app, message) {
      for (const [link, owner] of links) if (owner === app) link.send(typeof message === "string" ? message : JSON.stringify(message));
    },
    script: (method, ...answers) => void scripts.set(method, [...(scripts.get(method) ?? []), ...answers]),
    grant: (app, scopes) => void granted.set(app.appId, scopes),
    stall() {
      for (const link of links.keys()) {
        link.pause();
        links.delete(link);
        stalled.add(link);
      }
    },
    revoke: (app, error) => void refusals.set(app.appId, error),
    links: (app) => [...links.values()].filter((owner) => app === undefined || owner === app).length,
    cut() {
      for (const link of links.keys()) link.terminate();
    },
    async close() {
      for (const link of [...links.keys(), ...stalled]) link.terminate();
      sockets.close();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return slack;
}

/** A file as messages name it. */
export function fileOf(id: string, slack: Pick<FakeSlack, "files" | "url">): object {
  const file = slack.files.get(id);
  const address = `${slack.url}/files-pri/${id}`;
  return {
    id,
    name: file?.name,
    mimetype: file?.type,
    size: file?.content.length,
    mode: "hosted",
    url_private: address,
    url_private_download: address,
  };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
