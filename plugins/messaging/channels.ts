import {
  type Channel,
  type ContributionView,
  mainSessionKey,
  messageOf,
  type PluginContext,
  SendRefusedError,
  type SvcConfig,
} from "svc/sdk";
import type { Carrier } from "./queue/kit.ts";

/** The main session itself: always there, without accounts and recipients. */
export const WEBCHAT = "webchat";

/** Channels there are: `webchat`, and those that plugins bring. */
export interface Channels {
  ids(): string[];
  /** A channel of a plugin. */
  get(id: string): Channel | undefined;
  /** Loads a channel that is loaded on first use. */
  carrierOf(id: string): Promise<Carrier | undefined>;
}

export function createChannels(ctx: PluginContext): Channels {
  const view: ContributionView<Channel> = ctx.contributions<Channel>("channel");
  const webchat = webchatCarrier(ctx);
  return {
    ids: () => [WEBCHAT, ...[...view].map(({ id }) => id)],
    get: (id) => view.get(id)?.value,
    async carrierOf(id) {
      if (id === WEBCHAT) return webchat;
      await view.ready(id);
      const channel = view.get(id)?.value;
      return channel && accountlessCarrier(channel);
    },
  };
}

/** Account that a message goes through when none is named. */
export function defaultAccount(channel: Channel, config: SvcConfig): string | undefined {
  try {
    return config.channels[channel.id]?.defaultAccount ?? channel.config.list(config)[0];
  } catch (error) {
    throw new SendRefusedError(`channel "${channel.id}" cannot list its accounts: ${messageOf(error)}`, {
      isPermanent: true,
      cause: error,
    });
  }
}

/** A message to the main session of an agent is a record of its transcript under the row's own id, so it is there once. */
function webchatCarrier(ctx: PluginContext): Carrier {
  return {
    isIdempotent: true,
    async send({ uid, agentId, sessionKey, text }) {
      // The run has stored its answer in this very session: it is delivered already.
      if (sessionKey === mainSessionKey(agentId)) return { messageId: uid };
      return ctx.service("agents@1").inject({ agentId, text, id: uid });
    },
  };
}

/** No account of a plugin's channel is connected by this version, so nothing can be handed over. */
function accountlessCarrier({ id, capabilities }: Channel): Carrier {
  return {
    isIdempotent: capabilities.idempotentSend === true,
    async send() {
      throw new SendRefusedError(`channel "${id}" is not connected: this version does not start accounts of channels; send to webchat`, {
        isPermanent: true,
      });
    },
  };
}
