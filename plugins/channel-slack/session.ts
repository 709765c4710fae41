import { AccountRefusedError, type ChannelRun, keepConnected, messageOf } from "svc/sdk";
import { type SlackAccount, secretValues } from "./accounts.ts";
import { type ApiError, isRefusal, type SlackApi } from "./api.ts";
import type { Conversations } from "./conversations.ts";
import { type Delivery, readCommand, readEvent } from "./deliveries.ts";
import type { EventsEndpoint } from "./endpoint.ts";
import { identify } from "./inspection.ts";
import type { SlackLibrary } from "./library.ts";
import { type Envelope, openLink } from "./link.ts";
import { Receiving } from "./receiving.ts";
import type { SlackTiming } from "./timing.ts";

interface SessionContext {
  api: SlackApi;
  library: SlackLibrary;
  conversations: Conversations;
  timing: SlackTiming;
  endpoint: EventsEndpoint;
  random(): number;
  /** Set when Slack refuses the account while it runs; the session installs it. */
  refusal: Refusal;
}

/** Ends a running account that Slack does not accept any more. */
export class Refusal {
  #end: (error: AccountRefusedError) => void = () => undefined;
  /** Never resolves. */
  readonly refused: Promise<never> = new Promise((_, reject) => {
    this.#end = reject;
  });

  constructor() {
    this.refused.catch(() => undefined);
  }

  /** Blocks the account if the error says that its token is of no use any more. */
  notice(error: unknown): void {
    if (isRefusal(error)) this.end(refusedToken(error));
  }

  end(error: AccountRefusedError): void {
    this.#end(error);
  }
}

/** Runs an account until it is stopped: over links that it opens, or by requests that Slack sends. A refused token ends it. */
export async function runAccount(run: ChannelRun<SlackAccount>, context: SessionContext): Promise<void> {
  const { refusal } = context;
  const onRemoved = () =>
    refusal.end(new AccountRefusedError("the app was removed from the workspace: install it again, and set the new bot token"));
  const receiving = new Receiving({ run, ...context, onRemoved });
  const secrets = secretValues(run.account);
  return keepConnected(run, {
    firstWaitMs: context.timing.reconnectMs,
    random: context.random,
    describe: (reason) => secrets.reduce((text, secret) => text.replaceAll(secret, "…"), reason.message),
    connect: (onReady) => connect(run, { ...context, receiving }, onReady).catch((error: unknown) => faultOfAccount(error)),
  });
}

type Connecting = SessionContext & { receiving: Receiving };

async function connect(run: ChannelRun<SlackAccount>, context: Connecting, onReady: () => void): Promise<Error | undefined> {
  const self = await identify(context.api);
  run.state({ self: { id: self.userId, name: self.name } });
  context.receiving.self = self;
  return run.account.mode === "events" ? serveRequests(run, context, onReady) : keepLinks(run, context, onReady);
}

async function serveRequests(
  run: ChannelRun<SlackAccount>,
  { endpoint, receiving, refusal }: Connecting,
  onReady: () => void,
): Promise<undefined> {
  const close = endpoint.open(run.account.accountId, {
    secret: run.account.signingSecret ?? "",
    now: () => run.clock.now(),
    take: (delivery) => receiving.take(delivery),
  });
  try {
    onReady();
    await Promise.race([ended(run.signal), refusal.refused]);
    return undefined;
  } finally {
    close();
  }
}

/** Keeps one link open; Slack asks for a new one every few hours, which is no failure. */
async function keepLinks(run: ChannelRun<SlackAccount>, context: Connecting, onReady: () => void): Promise<Error | undefined> {
  const { account, signal, logger, clock } = run;
  const { timing, refusal, receiving } = context;
  const onEnvelope = (envelope: Envelope) => {
    const delivery = deliveryIn(envelope);
    const stored = delivery ? receiving.take(delivery) : Promise.resolve();
    stored
      .then(() => envelope.acknowledge())
      .catch((error: unknown) => logger.debug("an envelope was not acknowledged: Slack sends it again", { error: messageOf(error) }));
  };
  for (let isFirst = true; ; isFirst = false) {
    const startedAt = clock.monotonic();
    const link = await openLink({ ...context, account, signal, onEnvelope }).catch((error: unknown) => {
      throw isRefusal(error) ? refusedAppToken(error) : error;
    });
    if (isFirst) onReady();
    if (isFirst && link.count > 1)
      logger.warn(`${link.count} programs are connected as this app: Slack gives each message to one of them`, {
        account: account.accountId,
      });
    try {
      const { reason, error } = await Promise.race([link.ended, refusal.refused]);
      if (signal.aborted) return undefined;
      if (reason === "link_disabled")
        return new AccountRefusedError("socket mode was turned off for the app: turn it on in its settings, or set mode to events");
      const isReplaced = reason !== undefined && clock.monotonic() - startedAt >= timing.steadyMs;
      if (!isReplaced)
        return reason === undefined ? (error ?? new Error("the link was closed")) : new Error(`Slack closed the link: ${reason}`);
      logger.debug("Slack replaces the link", { reason });
    } finally {
      await link.close();
    }
  }
}

/** Reads an envelope; undefined for one that this channel does not take, which is acknowledged all the same. */
function deliveryIn({ type, payload }: Envelope): Delivery | undefined {
  if (type === "events_api") return readEvent(payload);
  return type === "slash_commands" ? readCommand(payload) : undefined;
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function refusedToken({ code }: ApiError): AccountRefusedError {
  return new AccountRefusedError(`Slack refuses the bot token: install the app again, and set the token it shows (${code})`);
}

function refusedAppToken({ code }: ApiError): AccountRefusedError {
  return new AccountRefusedError(
    `Slack refuses the app token: make one with the scope connections:write, and turn socket mode on (${code})`,
  );
}

function faultOfAccount(error: unknown): Error {
  if (isRefusal(error)) return refusedToken(error);
  return error instanceof Error ? error : new Error(messageOf(error));
}
