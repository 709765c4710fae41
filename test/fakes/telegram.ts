import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkCall, type TelegramCall, type TelegramChat } from "./telegram-checks.ts";

/** A bot that the fake knows. */
export interface FakeBot {
  id: number;
  token: string;
  username: string;
}

/** The Bot API on the loopback: checks every call, and answers as Telegram does. */
export interface FakeTelegram {
  /** Value for `apiRoot`. */
  url: string;
  /** Calls that were right, oldest first. */
  calls: readonly TelegramCall[];
  /** Calls that were not, with the reason: a test expects none. */
  wrong: readonly string[];
  /** Gives a bot something that happened; it waits until the bot has confirmed it. @returns its `update_id` */
  push(bot: FakeBot, update: object): number;
  /** Puts things into the answers to a bot as they are: without an id they stay there for ever. */
  inject(bot: FakeBot, ...updates: unknown[]): void;
  /** True once a bot has asked for what comes after it, or its webhook has answered 200. */
  isConfirmed(bot: FakeBot, updateId: number): boolean;
  /** Sets the answers to the next calls of a method, one each: a refusal, or `cut` for a connection that breaks when the call was read. */
  script(method: string, ...answers: Array<{ code: number; description: string; parameters?: object } | "cut" | "garbage">): void;
  /** Refuses the messages of a bot with 429 for a time, as Telegram does to a bot that sends too much; each refusal is counted. */
  limit(bot: FakeBot, ms: number, retryAfterSeconds: number): void;
  /** Refusals by `limit`, and their times of the monotonic clock. */
  limited: readonly number[];
  /** Files that messages name: path by `file_id`. */
  files: Map<string, { path: string; content: Buffer }>;
  /** Sets a webhook as another program would. */
  setWebhook(bot: FakeBot, url: string): void;
  webhookOf(bot: FakeBot): { url: string; secret?: string };
  /** Requests that are open now. */
  open(): number;
  /** Cuts every connection; new ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

interface FakeOptions {
  bots: readonly FakeBot[];
  chats: readonly TelegramChat[];
  /** How long a message can be held; a question that waits longer is answered with nothing. */
  onCall?(call: TelegramCall): void;
}

interface BotState {
  bot: FakeBot;
  updates: unknown[];
  confirmed: number;
  webhook: { url: string; secret?: string };
  poll: { answer(status: number, body: object): void; offset: number } | undefined;
  limit?: { until: number; retryAfterSeconds: number };
}

/** Numbers of updates begin anywhere. */
let nextUpdate = 700_000_000;
let nextMessage = 1_000;

export async function startFakeTelegram({ bots, chats, onCall }: FakeOptions): Promise<FakeTelegram> {
  const states = new Map<string, BotState>(
    bots.map((bot) => [bot.token, { bot, updates: [], confirmed: 0, webhook: { url: "" }, poll: undefined }]),
  );
  const stateOf = (bot: FakeBot) => states.get(bot.token) as BotState;
  const calls: TelegramCall[] = [];
  const wrong: string[] = [];
  const scripts = new Map<string, Array<{ code: number; description: string; parameters?: object } | "cut" | "garbage">>();
  const limited: number[] = [];
  const files: FakeTelegram["files"] = new Map();
  let open = 0;

  const server = createServer((request, response) => {
    open += 1;
    response.once("close", () => {
      open -= 1;
    });
    void answer(request, response).catch((error: unknown) => {
      wrong.push(String(error));
      response.destroy();
    });
  });

  const reply = (response: ServerResponse, code: number, body: object) => {
    if (response.destroyed) return;
    response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const refuse = (response: ServerResponse, code: number, description: string, parameters?: object) =>
    reply(response, code, { ok: false, error_code: code, description, ...(parameters ? { parameters } : {}) });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bytesOf(request);
    const [, token = "", rest = ""] = /^\/(?:file\/)?bot([^/]+)\/(.+)$/.exec(request.url ?? "") ?? [];
    const state = states.get(token);
    if (!state) return refuse(response, 401, "Unauthorized");
    if (request.url?.startsWith("/file/")) {
      const file = [...files.values()].find(({ path }) => path === decodeURIComponent(rest));
      return file ? void response.end(file.content) : refuse(response, 404, "Not Found");
    }
    const scripted = scripts.get(rest)?.shift();
    if (scripted === "cut") return void response.destroy();
    if (scripted === "garbage") return void response.writeHead(200).end("<html>maintenance</html>");
    if (scripted) return refuse(response, scripted.code, scripted.description, scripted.parameters);
    if (state.limit && performance.now() < state.limit.until && rest === "sendMessage") {
      limited.push(performance.now());
      const seconds = state.limit.retryAfterSeconds;
      return refuse(response, 429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
    }
    const checked = checkCall(
      rest,
      { method: request.method ?? "", type: request.headers["content-type"] ?? "", body },
      { bot: state.bot, chats },
    );
    if ("wrong" in checked) {
      wrong.push(`${rest}: ${checked.wrong}`);
      return refuse(response, 400, `Bad Request: ${checked.wrong}`);
    }
    if ("refusal" in checked) return refuse(response, checked.code, checked.refusal);
    const { call } = checked;
    if (rest === "getUpdates") return poll(state, call, response);
    const result = resultOf(state, call);
    calls.push({ ...call, result });
    onCall?.({ ...call, result });
    reply(response, 200, { ok: true, result });
  }

  function poll(state: BotState, { params }: TelegramCall, response: ServerResponse): void {
    if (state.webhook.url !== "")
      return refuse(
        response,
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    const offset = Number(params.offset ?? 0);
    if (offset > 0) {
      state.confirmed = Math.max(state.confirmed, offset - 1);
      state.updates = state.updates.filter((update) => ((update as { update_id?: number } | null)?.update_id ?? offset) >= offset);
    }
    // The newest question wins.
    state.poll?.answer(409, {
      ok: false,
      error_code: 409,
      description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    });
    const waiting = state.updates.slice(0, Number(params.limit ?? 100));
    if (waiting.length > 0) return reply(response, 200, { ok: true, result: waiting });
    const late = setTimeout(() => own.answer(200, { ok: true, result: [] }), Number(params.timeout ?? 0) * 1_000);
    const own = {
      offset,
      answer(status: number, body: object) {
        clearTimeout(late);
        if (state.poll === own) state.poll = undefined;
        reply(response, status, body);
      },
    };
    state.poll = own;
    response.once("close", () => {
      clearTimeout(late);
      if (state.poll === own) state.poll = undefined;
    });
  }

  function resultOf(state: BotState, { method, params }: TelegramCall): unknown {
    const { bot } = state;
    if (method === "getMe")
      return { id: bot.id, is_bot: true, first_name: bot.username, username: bot.username, can_read_all_group_messages: false };
    if (method === "getWebhookInfo")
      return { url: state.webhook.url, has_custom_certificate: false, pending_update_count: state.updates.length };
    if (method === "setWebhook")
      state.webhook = { url: String(params.url), ...(params.secret_token ? { secret: String(params.secret_token) } : {}) };
    if (method === "deleteWebhook") state.webhook = { url: "" };
    if (method === "getFile") {
      const file = files.get(String(params.file_id));
      return { file_id: params.file_id, file_unique_id: "u", file_size: file?.content.length, file_path: file?.path };
    }
    const chat = chats.find(({ id }) => String(id) === String(params.chat_id));
    const message = () => {
      nextMessage += 1;
      return {
        message_id: nextMessage,
        date: 1_700_000_000,
        chat,
        from: { id: bot.id, is_bot: true, first_name: bot.username },
        text: params.text,
      };
    };
    if (method === "sendMediaGroup") return (params.media as unknown[]).map(message);
    if (method.startsWith("send") && method !== "sendChatAction") return message();
    return true;
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    wrong,
    limited,
    limit: (bot, ms, retryAfterSeconds) => {
      stateOf(bot).limit = { until: performance.now() + ms, retryAfterSeconds };
    },
    files,
    push(bot, update) {
      nextUpdate += 1;
      const state = stateOf(bot);
      state.updates.push({ update_id: nextUpdate, ...update });
      state.poll?.answer(200, { ok: true, result: state.updates });
      return nextUpdate;
    },
    inject: (bot, ...updates) => void stateOf(bot).updates.push(...updates),
    isConfirmed: (bot, updateId) => stateOf(bot).confirmed >= updateId,
    script: (method, ...answers) => void scripts.set(method, [...(scripts.get(method) ?? []), ...answers]),
    setWebhook: (bot, url) => {
      stateOf(bot).webhook = { url };
    },
    webhookOf: (bot) => stateOf(bot).webhook,
    open: () => open,
    cut: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
