import type {
  BedrockRuntimeClient,
  BedrockRuntimeClientConfig,
  ConverseStreamCommandInput,
  InvokeModelCommand,
} from "@aws-sdk/client-bedrock-runtime";
import type { JsonObject } from "svc/sdk";
import { type ClientSettings, type EmbedCall, type EmbedReply, MAX_ANSWER_BYTES } from "./client-protocol.ts";
import { bodyOf, tokensOf, vectorsOf } from "./families.ts";
import type { MainThreadHandler } from "./main-thread-handler.ts";
import { BAD_ANSWER, isRefusal, type RawFailure, rawFailureOf } from "./raw-failure.ts";

/** The AWS client of one thread: made on first use, recreated after it was refused, so that credentials renewed meanwhile are seen. */
export interface AwsClient {
  /** Asks the credential chain. @throws {CallFailed} */
  resolveCredentials(): Promise<void>;
  /** @throws {CallFailed} */
  embed(call: EmbedCall, signal: AbortSignal): Promise<EmbedReply>;
  /** One turn; resolves after its last event. @throws {CallFailed} */
  converse(input: JsonObject, options: ConverseOptions): Promise<void>;
}

export interface ConverseOptions {
  signal: AbortSignal;
  onEvent(event: JsonObject): void;
}

/** A call that failed, with what is told of it. */
export class CallFailed extends Error {
  readonly failure: RawFailure;
  constructor(failure: RawFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

class BadAnswer extends Error {
  override readonly name = BAD_ANSWER;
}

/** Options of the credential chain; the client hands its own to it. Metadata is asked once and for a second; files are read anew by each client. */
const chainOptions = { timeout: 1_000, maxRetries: 0, ignoreCache: true };

/** Ways of a client to the outside. */
export interface ClientDeps {
  /** Sends the requests. */
  handler: MainThreadHandler;
  /** Called with what the vendor's package wants people to know. */
  warn(message: string): void;
}

export function createAwsClient(settings: ClientSettings, deps: ClientDeps): AwsClient {
  let client: Promise<BedrockRuntimeClient> | undefined;
  const connect = () => {
    client ??= openClient(settings, deps);
    return client;
  };
  const attempt = async <T>(sent: string[], work: (client: BedrockRuntimeClient) => Promise<T>): Promise<T> => {
    const used = connect();
    try {
      return await work(await used);
    } catch (error) {
      const failure = rawFailureOf(error, sent);
      if (client === used && isRefusal(failure)) client = undefined;
      throw new CallFailed(failure);
    }
  };
  return {
    resolveCredentials: () => attempt([], async (own) => void (await own.config.credentials())),
    embed(call, signal) {
      const sent: string[] = [];
      return attempt(sent, (own) => invoke(own, { call, signal, sent }));
    },
    converse(input, options) {
      const sent: string[] = [];
      return attempt(sent, (own) => converse(own, { ...options, input, sent }));
    },
  };
}

async function openClient(settings: ClientSettings, { handler, warn }: ClientDeps): Promise<BedrockRuntimeClient> {
  const { BedrockRuntimeClient } = await import("@aws-sdk/client-bedrock-runtime");
  const mute = () => undefined;
  // The clients that the chain makes for itself (SSO, web identity) take these settings.
  const chain = { ...chainOptions, clientConfig: { requestHandler: handler } };
  const own = new BedrockRuntimeClient({
    ...chain,
    region: settings.region,
    ...(settings.endpoint === undefined ? {} : { endpoint: settings.endpoint }),
    // The index decides about repeats; two layers of them would multiply.
    maxAttempts: 1,
    requestHandler: handler as unknown as NonNullable<BedrockRuntimeClientConfig["requestHandler"]>,
    streamCollector: collect,
    logger: { trace: mute, debug: mute, info: mute, error: mute, warn: (text: unknown) => warn(String(text)) },
  });
  own.middlewareStack.add(
    (next) => (args) => {
      Object.assign((args.request as { headers: Record<string, string> }).headers, settings.headers);
      return next(args);
    },
    { step: "build", name: "svcHeaders" },
  );
  return own;
}

async function invoke(
  client: BedrockRuntimeClient,
  { call, signal, sent }: { call: EmbedCall; signal: AbortSignal; sent: string[] },
): Promise<EmbedReply> {
  const { InvokeModelCommand } = await import("@aws-sdk/client-bedrock-runtime");
  const json = "application/json";
  const body = JSON.stringify(bodyOf(call.texts, call));
  const command = new InvokeModelCommand({ modelId: call.modelId, body, contentType: json, accept: json });
  const counted = watch(command, sent);
  const { body: bytes } = await client.send(command, { abortSignal: signal });
  const answer = parse(new TextDecoder().decode(bytes));
  const vectors = vectorsOf(answer, call.family);
  if (!vectors) throw new BadAnswer(`the answer of ${call.modelId} has no vectors where they belong`);
  const tokens = counted() ?? tokensOf(answer);
  return { vectors: vectors.map((vector) => Float32Array.from(vector)), ...(tokens === undefined ? {} : { tokens }) };
}

async function converse(
  client: BedrockRuntimeClient,
  { input, signal, sent, onEvent }: ConverseOptions & { input: JsonObject; sent: string[] },
): Promise<void> {
  const { ConverseStreamCommand } = await import("@aws-sdk/client-bedrock-runtime");
  const command = new ConverseStreamCommand(input as unknown as ConverseStreamCommandInput);
  watch(command as unknown as InvokeModelCommand, sent);
  const { stream } = await client.send(command, { abortSignal: signal });
  if (!stream) throw new BadAnswer(`the answer of ${String(input.modelId)} is no stream`);
  for await (const event of stream) onEvent(event as unknown as JsonObject);
  signal.throwIfAborted();
}

/**
 * Notes the credentials that a request shows and the tokens that its answer was counted with.
 * @returns the tokens, once there is an answer
 */
function watch(command: Pick<InvokeModelCommand, "middlewareStack">, sent: string[]): () => number | undefined {
  let tokens: string | undefined;
  command.middlewareStack.add(
    (next) => async (args) => {
      for (const [name, value] of Object.entries((args.request as { headers: Record<string, string> }).headers)) {
        if (/^x-amz-security-token$/i.test(name)) sent.push(value);
        if (/^authorization$/i.test(name)) sent.push(/Credential=([^/\s]+)/.exec(value)?.[1] ?? value.replace(/^\S+\s+/, ""));
      }
      const result = await next(args);
      tokens = (result.response as { headers?: Record<string, string> }).headers?.["x-amzn-bedrock-input-token-count"];
      return result;
    },
    { step: "deserialize", name: "svcWatch", priority: "low" },
  );
  return () => (tokens === undefined || !/^\d+$/.test(tokens) ? undefined : Number(tokens));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadAnswer("the answer is no JSON");
  }
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stream) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new BadAnswer(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
