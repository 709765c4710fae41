import { AccountRefusedError, type ChannelRun, keepConnected, messageOf, sleep } from "svc/sdk";
import { secretValues, type TelegramAccount } from "./accounts.ts";
import { ApiError, type BotApi } from "./api.ts";
import { Receiving } from "./receiving.ts";
import type { TelegramTiming } from "./timing.ts";
import { UnderWay } from "./under-way.ts";
import { ALLOWED_UPDATES, isUpdate, type Update, type User } from "./updates.ts";
import type { WebhookRoute } from "./webhook.ts";

/** Updates of one answer. */
const BATCH = 100;
/** Time that Telegram has, beyond how long it may hold a question, to answer it. */
const SLACK_MS = 15_000;

interface SessionContext {
  api: BotApi;
  timing: TelegramTiming;
  webhooks: WebhookRoute;
  random(): number;
}

/** Runs a bot until it is stopped: asks for messages, or has them sent. A refused token ends it. */
export async function runBot(run: ChannelRun<TelegramAccount>, context: SessionContext): Promise<void> {
  const secrets = secretValues(run.account);
  const underWay = new UnderWay();
  return keepConnected(run, {
    firstWaitMs: context.timing.reconnectMs,
    random: context.random,
    describe: (reason) => secrets.reduce((text, secret) => text.replaceAll(secret, "…"), reason.message),
    connect: (onReady) => connect(run, { ...context, underWay }, onReady).catch((error: unknown) => faultOfAccount(error)),
  });
}

async function connect(
  run: ChannelRun<TelegramAccount>,
  context: SessionContext & { underWay: UnderWay },
  onReady: () => void,
): Promise<Error | undefined> {
  const { api, timing, webhooks, underWay } = context;
  const { account, signal } = run;
  const options = { limitMs: timing.callMs, signal };
  const self = await api.call<User>("getMe", {}, options);
  run.state({ self: { id: String(self.id), name: self.username ?? self.first_name } });
  const receiving = new Receiving({ run, api, self, timing });
  if (account.webhook) {
    const { url, secret } = account.webhook;
    const address = `${url.endsWith("/") ? url.slice(0, -1) : url}${webhooks.pathOf(account.accountId)}`;
    const take = (update: Update) => underWay.join(update.update_id, () => receiving.takeAll([update]));
    const close = webhooks.open(account.accountId, { secret, take });
    try {
      await api.call("setWebhook", { url: address, secret_token: secret, allowed_updates: ALLOWED_UPDATES, max_connections: 10 }, options);
      onReady();
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      return undefined;
    } finally {
      close();
    }
  }
  await leaveWebhook(run, context);
  onReady();
  return poll({ run, api, timing, receiving });
}

/** A webhook takes every message: while one is set nothing can be asked for. */
async function leaveWebhook({ account, signal }: ChannelRun<TelegramAccount>, { api, timing, webhooks }: SessionContext): Promise<void> {
  const options = { limitMs: timing.callMs, signal };
  const { url } = await api.call<{ url: string }>("getWebhookInfo", {}, options);
  if (url === "") return;
  // One that this account set before is its own.
  if (!account.replaceWebhook && !url.endsWith(webhooks.pathOf(account.accountId))) {
    const host = URL.canParse(url) ? new URL(url).host : "another place";
    throw new AccountRefusedError(
      `messages of this bot are sent to a webhook at ${host}: end that program, or set replaceWebhook to take them over`,
    );
  }
  await api.call("deleteWebhook", { drop_pending_updates: false }, options);
}

interface PollContext {
  run: ChannelRun<TelegramAccount>;
  api: BotApi;
  timing: TelegramTiming;
  receiving: Receiving;
}

/** Asks for messages until something breaks. The next question confirms the messages of the one before, which are stored by then. */
async function poll({ run, api, timing, receiving }: PollContext): Promise<Error | undefined> {
  const { signal } = run;
  let offset: number | undefined;
  let hasWarned = false;
  while (!signal.aborted) {
    try {
      const question = {
        timeout: Math.round(timing.pollMs / 1_000),
        limit: BATCH,
        allowed_updates: ALLOWED_UPDATES,
        ...(offset === undefined ? {} : { offset }),
      };
      const given = await api.call<unknown[]>("getUpdates", question, { limitMs: timing.pollMs + SLACK_MS, signal });
      const updates = given.filter(isUpdate);
      if (updates.length < given.length && !hasWarned) {
        hasWarned = true;
        run.logger.warn("updates without an id were passed over", { count: given.length - updates.length });
      }
      await receiving.takeAll(updates);
      const last = updates.at(-1);
      if (last) offset = last.update_id + 1;
      // An update without an id cannot be confirmed, and comes with the next answer again, at once.
      else if (given.length > 0) await sleep(timing.reconnectMs, signal).catch(() => undefined);
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof ApiError) || error.code !== 429) throw error;
      run.logger.warn("Telegram asks to wait before the next question", { waitMs: error.retryAfterMs ?? timing.reconnectMs });
      await sleep(error.retryAfterMs ?? timing.reconnectMs, signal).catch(() => undefined);
    }
  }
  return undefined;
}

function faultOfAccount(error: unknown): Error {
  if (!(error instanceof ApiError)) return error instanceof Error ? error : new Error(messageOf(error));
  if (error.code === 401 || error.code === 404)
    return new AccountRefusedError(`Telegram refuses the token: ask BotFather for the present one (${error.code})`);
  if (error.code === 409)
    return new Error(`another program asks for the messages of this bot: end it, only one gets each message (${error.message})`);
  return error;
}
