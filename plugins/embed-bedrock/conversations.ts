import type { Bedrock, BedrockConnection, BedrockOptions, HttpRequestFunction } from "svc/sdk";
import type { ClientThreads } from "./client-threads.ts";
import { type Env, threadEnv } from "./env.ts";
import { placeOf, tokenFor } from "./place.ts";

export interface ConversationDeps {
  env: Env;
  /** `ctx.request` of the plugin, which owns the connections. */
  request: HttpRequestFunction;
  threads: ClientThreads;
}

/** Service `bedrock@1` over the threads of the AWS client. */
export function createConversations(deps: ConversationDeps): Bedrock {
  return { open: async (options) => connect(options, deps) };
}

/**
 * An operator who configures a model of Bedrock has credentials somewhere, so the metadata address may be asked. The environment's API key goes to
 * addresses of the vendor; for another one whoever opens the connection knows whose entry it is, and brings the key.
 */
function connect(options: BedrockOptions, { env, request, threads }: ConversationDeps): BedrockConnection {
  const { baseUrl: vendor, apiKey: own, headers, silenceMs, logger } = options;
  const place = placeOf(env, { vendor });
  const token = tokenFor(env, place, { own });
  const lease = threads.lease({
    settings: { ...place, headers: { ...headers } },
    env: threadEnv(env, { metadata: true, token }),
    request,
    silenceMs,
    logger,
  });
  return { converse: (input, signal) => lease.converse(input, signal), close: () => lease.release() };
}
