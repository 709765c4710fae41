import { connect } from "node:net";
import { AccountRefusedError, NotDispatchedError } from "svc/sdk";
import { type Line, readLines, sendLine } from "./protocol.ts";

const CONNECT_MS = 5_000;
const ANSWER_MS = 10_000;

/** One link of one account. */
export interface Link {
  /** Sends a request and waits for its `done`; rejects when the server says `failed` or the link ends. */
  request(line: Extract<Line, { uid: string }>): Promise<string>;
  send(line: Line): void;
  /** Resolves when the link is gone, with the error that ended it, if there was one. */
  readonly ended: Promise<Error | undefined>;
  close(): void;
}

interface Options {
  host: string;
  port: number;
  account: string;
  token: string;
  signal: AbortSignal;
  /** Called when the server has accepted the link, before the first `onSaid`: both can come in one packet. */
  onOpen?(link: Link): void;
  onSaid?(said: Extract<Line, { type: "said" }>, link: Link): void;
}

/**
 * Dials and says hello.
 * @throws {AccountRefusedError} when the server does not take the token; any other error: worth another try
 */
export function openLink(options: Options): Promise<Link> {
  const socket = connect({ host: options.host, port: options.port });
  const waiting = new Map<string, { resolve(id: string): void; reject(error: Error): void }>();
  const ended = new Promise<Error | undefined>((resolve) => socket.once("close", () => resolve(socket.errored ?? undefined)));
  const close = () => socket.destroy();
  if (options.signal.aborted) close();
  options.signal.addEventListener("abort", close, { once: true });
  void ended.then(() => {
    options.signal.removeEventListener("abort", close);
    for (const { reject } of waiting.values()) reject(new Error("the link broke before the server answered"));
    waiting.clear();
  });
  const link: Link = {
    ended,
    close,
    send: (line) => sendLine(socket, line),
    request: (line) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new NotDispatchedError("there is no link to the server"));
        const late = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS / 1000} s`)), ANSWER_MS);
        const settle =
          <T>(then: (value: T) => void) =>
          (value: T) => {
            clearTimeout(late);
            waiting.delete(line.uid);
            then(value);
          };
        waiting.set(line.uid, { resolve: settle(resolve), reject: settle(reject) });
        sendLine(socket, line);
      }),
  };
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => socket.destroy(new Error(`no welcome within ${CONNECT_MS / 1000} s`)), CONNECT_MS);
    socket.on("error", reject);
    void ended.then(() => {
      clearTimeout(late);
      reject(new Error("the server closed the link"));
    });
    readLines(socket, (line) => {
      if (line.type === "welcome") {
        clearTimeout(late);
        options.onOpen?.(link);
        resolve(link);
      } else if (line.type === "refused") {
        reject(new AccountRefusedError(line.reason));
        close();
      } else if (line.type === "said") options.onSaid?.(line, link);
      else if (line.type === "done") waiting.get(line.uid)?.resolve(line.id);
      else if (line.type === "failed") waiting.get(line.uid)?.reject(new Error(line.reason));
    });
    socket.once("connect", () => sendLine(socket, { type: "hello", account: options.account, token: options.token }));
  });
}
