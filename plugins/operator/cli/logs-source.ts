import { type CliClient, type CliContext, type LogTail, messageOf } from "svc/sdk";

/** Source of log lines: the gateway, or the file beside it. */
export interface LogSource {
  /** @throws {SvcError} `gateway-unreachable` for a gateway elsewhere, `client-unauthorized`, what the gateway refuses */
  read(question: { cursor?: number }): Promise<LogTail>;
  close(): Promise<void>;
}

export interface LogSourceOptions {
  /** The gateway was named by its address: there is no file to read in its place. */
  isNamed: boolean;
  limits: { limit: number; maxBytes: number };
  notice(message: string): void;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const lostCodes: ReadonlySet<unknown> = new Set(["gateway-unreachable", "connection-closed", "request-timed-out", "UNAVAILABLE"]);

/** One connection, made again when it is lost after a pause of 1 s that doubles up to 30 s; meanwhile a gateway on this machine is read by its file. */
export function createLogSource(cli: CliContext, { isNamed, limits, notice }: LogSourceOptions): LogSource {
  const isElsewhere = isNamed || (cli.env.SVC_GATEWAY_URL ?? "") !== "";
  let client: CliClient | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let retryAt = 0;
  let isTold = false;

  const ask = async (question: { cursor?: number }): Promise<LogTail> => {
    client ??= await cli.connect({ scopes: ["operator.read"] });
    const tail = await client.request("logs.tail", { ...limits, ...question });
    if (isTold) notice("connected to the gateway again");
    isTold = false;
    pauseMs = FIRST_PAUSE_MS;
    return tail;
  };
  const drop = async () => {
    await client?.close();
    client = undefined;
  };
  const lost = (error: unknown) => {
    if (!isTold) notice(`${messageOf(error)}; reading the log file`);
    isTold = true;
    retryAt = performance.now() + pauseMs;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  };
  const readFile = async (question: { cursor?: number }) => {
    const { config } = await cli.config();
    const { file } = (config?.logging ?? {}) as { file?: string };
    return cli.logs.tail(file, { ...limits, ...question });
  };
  return {
    async read(question) {
      if (performance.now() < retryAt) return readFile(question);
      try {
        return await ask(question);
      } catch (error) {
        await drop();
        if (isElsewhere || !isLost(error)) throw error;
        lost(error);
        return readFile(question);
      }
    },
    close: drop,
  };
}

/** The gateway is not there, went away, or is about to come or go; everything else is an answer of it. */
export function isLost(error: unknown): boolean {
  const codes = [error, (error as { cause?: unknown } | undefined)?.cause].map((one) => (one as { code?: unknown } | undefined)?.code);
  return codes.some((code) => lostCodes.has(code));
}
