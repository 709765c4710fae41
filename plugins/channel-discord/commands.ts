import { type Logger, messageOf } from "svc/sdk";
import { ApiError } from "./api-error.ts";
import { BoundedMap } from "./bounded-map.ts";
import type { RestApi } from "./rest.ts";
import type { Interaction } from "./wire.ts";

/** Slash commands that are registered: those that messaging knows. */
const COMMANDS: ReadonlyArray<{ name: string; description: string }> = [
  { name: "new", description: "Begin a new conversation" },
  { name: "reset", description: "Forget this conversation and begin again" },
  { name: "stop", description: "Stop what the agent is doing" },
  { name: "status", description: "Show the state of this conversation" },
  { name: "queue", description: "Show how messages are queued" },
  { name: "help", description: "List the commands" },
];
/** Commands that wait for their answer. */
const MAX_OPEN = 200;
/** Time within which Discord takes the answer (discord.com/developers/docs/interactions/receiving-and-responding). */
const OPEN_MS = 14 * 60_000;
/** An answer that comes later, and one that only its sender sees. */
const [DEFERRED, EPHEMERAL] = [5, 64];

interface CommandsOptions {
  api: RestApi;
  callMs: number;
  signal: AbortSignal;
  logger: Logger;
  now(): number;
}

interface Open {
  channelId: string;
  route: string;
  expiresAt: number;
  /** Whether Discord waits for the answer. */
  isWaiting: Promise<boolean>;
}

/** Slash commands: registers them, tells Discord in time that an answer comes, and answers. */
export class Commands {
  readonly #options: CommandsOptions;
  readonly #open = new BoundedMap<Open>(MAX_OPEN);

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  /** Registers those that are missing or differ; others of the application stay. */
  async register(applicationId: string): Promise<void> {
    const { api, callMs, signal, logger } = this.#options;
    const route = `/applications/${applicationId}/commands` as const;
    try {
      const known = await api.call<Array<{ name?: string; description?: string; type?: number }>>("GET", route, {
        limitMs: callMs,
        signal,
      });
      const isKnown = (one: (typeof COMMANDS)[number]) =>
        known.some(({ name, description, type = 1 }) => type === 1 && name === one.name && description === one.description);
      for (const command of COMMANDS.filter((one) => !isKnown(one)))
        await api.call("POST", route, { body: { ...command, type: 1 }, limitMs: callMs, signal });
    } catch (error) {
      if (!signal.aborted) logger.warn(`the slash commands are not registered: ${messageOf(error)}`);
    }
  }

  /** Tells Discord at once that the answer comes: after 3 s it shows a failure. */
  defer(eventId: string, { id, token, application_id: applicationId, channel_id: channelId = "" }: Interaction): void {
    const { api, callMs, signal, logger, now } = this.#options;
    const body = { type: DEFERRED, data: { flags: EPHEMERAL } };
    const isWaiting = api.call("POST", `/interactions/${id}/${token}/callback`, { body, limitMs: callMs, signal, auth: false }).then(
      () => true,
      (error: unknown) => {
        logger.debug(`a slash command was not acknowledged: ${messageOf(error)}`);
        // It is over, or was acknowledged before a cut: then the answer still finds its place.
        return error instanceof ApiError && error.code === 40_060;
      },
    );
    this.#open.set(eventId, {
      channelId,
      route: `/webhooks/${applicationId}/${token}/messages/@original`,
      expiresAt: now() + OPEN_MS,
      isWaiting,
    });
  }

  /**
   * Answers a command.
   * @returns the message; undefined when Discord does not wait for an answer to this event
   * @throws as `RestApi.call`
   */
  async answer(eventId: string, body: object): Promise<{ id: string; channel_id: string } | undefined> {
    const { api, callMs, signal, now } = this.#options;
    const open = this.#open.get(eventId);
    if (!open || open.expiresAt < now() || !(await open.isWaiting)) return undefined;
    try {
      const sent = await api.call<{ id: string; channel_id: string }>("PATCH", open.route, { body, limitMs: callMs, signal, auth: false });
      this.#open.delete(eventId);
      return sent;
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 401)) throw error;
      this.#open.delete(eventId);
      return undefined;
    }
  }

  /** The answer went to the channel as a message: commands that wait there are not shown as being worked on any more. */
  dismiss(channelId: string): void {
    const { api, callMs, signal } = this.#options;
    for (const [eventId, open] of this.#open.entries()) {
      if (open.channelId !== channelId) continue;
      this.#open.delete(eventId);
      void open.isWaiting
        .then((isWaiting) => (isWaiting ? api.call("DELETE", open.route, { limitMs: callMs, signal, auth: false }) : undefined))
        .catch(() => undefined);
    }
  }

  /** Says that a command was not taken; nobody waits for it. */
  decline(eventId: string): void {
    void this.answer(eventId, { content: "The command was not taken: you may not give it here." }).catch(() => undefined);
  }
}
