import {
  type Bedrock,
  type EmbeddingAdapter,
  type EmbeddingContext,
  type HttpRequestFunction,
  isCredentialHeader,
  mergeHeaders,
  type OpenedEmbedding,
  plainHeaders,
  readEnv,
} from "svc/sdk";
import { DEFAULT_MODEL } from "./catalogue.ts";
import { type ClientThreads, createClientThreads } from "./client-threads.ts";
import { createConversations } from "./conversations.ts";
import { type CredentialCheck, createCredentialCheck, noCredentials } from "./credential-check.ts";
import { credentialSource, DMI_VENDOR_FILE } from "./credential-source.ts";
import { type Env, threadEnv } from "./env.ts";
import { chooseModel } from "./model-choice.ts";
import { placeOf, tokenFor } from "./place.ts";
import { type CallLimits, createProvider } from "./provider.ts";

const ID = "bedrock";
const VENDOR = "amazon-bedrock";

export interface AdapterOptions {
  env: Env;
  /** `ctx.request` of the plugin, which owns the connections. */
  request: HttpRequestFunction;
  /** File that names the maker of this machine. */
  dmiVendorFile?: string;
  limits?: CallLimits;
}

const usualLimits: CallLimits = { queryMs: 60_000, batchMs: 120_000 };

/** The adapter of Amazon Bedrock, and conversations for the plugins of models, with the threads of their AWS clients. */
export function createBedrockAdapter(options: AdapterOptions): {
  adapter: EmbeddingAdapter;
  conversations: Bedrock;
  close(): Promise<void>;
} {
  const threads = createClientThreads();
  const check = createCredentialCheck();
  return {
    adapter: {
      id: ID,
      vendor: VENDOR,
      transport: "remote",
      defaultModel: DEFAULT_MODEL,
      autoSelectPriority: 60,
      create: (context) => open(context, { ...options, threads, check }),
    },
    conversations: createConversations({ env: options.env, request: options.request, threads }),
    close: () => threads.close(),
  };
}

interface Parts extends AdapterOptions {
  threads: ClientThreads;
  check: CredentialCheck;
}

async function open(context: EmbeddingContext, parts: Parts): Promise<OpenedEmbedding> {
  const { env, limits = usualLimits, threads, check } = parts;
  const choice = chooseModel(context.model, context.outputDimensionality);
  const vendor = context.config.models.providers[VENDOR]?.baseUrl;
  // Without a name to it the agent's server and key are those of the common protocol, not of this one.
  const remote = context.auto ? undefined : context.remote;
  const place = placeOf(env, { remote: remote?.baseUrl, vendor });
  const apiKey = remote?.apiKey?.trim() || undefined;
  const own = apiKey && (readEnv(env, apiKey) ?? apiKey);
  const token = tokenFor(env, place, { own, vendor });
  const source = await credentialSource(env, { auto: context.auto, token, dmiVendorFile: parts.dmiVendorFile ?? DMI_VENDOR_FILE });
  if (source.kind === "none") throw noCredentials("there is no sign of any on this machine");
  const headers = mergeHeaders(remote?.headers);
  const lease = threads.lease({
    settings: { ...place, headers },
    env: threadEnv(env, { metadata: source.kind === "chain" ? source.metadata : !context.auto, token }),
    request: parts.request,
    logger: context.logger,
  });
  try {
    if (source.kind === "chain") await check(lease, context);
  } catch (error) {
    await lease.release();
    throw error;
  }
  const provider = createProvider(ID, { choice, lease, limits, clock: context.clock, secrets: secretsIn(headers) });
  context.signal.addEventListener("abort", () => void provider.close(), { once: true });
  const { region, endpoint = null } = place;
  const { modelId: model, dims: dimensions = null, family } = choice;
  return {
    provider,
    identity: { adapter: ID, region, baseUrl: endpoint, model, dimensions, shape: family, headers: plainHeaders(headers) },
  };
}

/** Shorter texts would blank ordinary words. */
const MIN_SECRET_CHARS = 6;

/** Secrets in the operator's headers, which no message may show; only the client's thread knows its own credentials. */
function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  const values = Object.entries(headers).filter(([name, value]) => isCredentialHeader(name, value));
  return values.flatMap(([, value]) => [value, value.replace(/^\S+\s+/, "")]).filter((text) => text.length >= MIN_SECRET_CHARS);
}
