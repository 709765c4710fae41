import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { repositoryRoot } from "./tree.ts";

/** A place in a file of the repository; lines and columns count from 0. */
export interface SourcePlace {
  path: string;
  line: number;
  column: number;
}

/** The compiler as a language server: it knows what every name in the repository means, which TypeScript 7 tells no other way. */
export interface LanguageServer {
  /** Puts a text in place of a file, which need not exist. */
  open(path: string, text: string): void;
  /** Every place where the thing named at this place is used. */
  references(at: SourcePlace): Promise<SourcePlace[]>;
  close(): void;
}

interface Message {
  id?: number;
  method?: string;
  result?: unknown;
  error?: { message: string };
}

/** Starts the compiler of this checkout. Whoever starts it closes it. */
export async function startLanguageServer(): Promise<LanguageServer> {
  const child = spawn(process.execPath, [join(repositoryRoot, "node_modules/typescript/lib/tsc.js"), "--lsp", "--stdio"], {
    cwd: repositoryRoot,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const fail = (error: Error) => {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  child.on("error", fail);
  child.on("exit", (code) => fail(new Error(`the language server ended with ${code}`)));
  child.stdin.on("error", fail);
  const send = (message: object) => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    child.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  };
  readMessages(child.stdout, (message) => {
    if (message.id === undefined) return;
    // It asks for settings; it has to do without.
    if (message.method !== undefined) return send({ id: message.id, result: null });
    const waiting = pending.get(message.id);
    pending.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result);
  });
  let lastId = 0;
  const request = (method: string, params: object) =>
    new Promise<unknown>((resolve, reject) => {
      lastId += 1;
      pending.set(lastId, { resolve, reject });
      send({ id: lastId, method, params });
    });
  const uriOf = (path: string) => pathToFileURL(join(repositoryRoot, path)).href;
  const rootUri = pathToFileURL(repositoryRoot).href;
  await request("initialize", { processId: process.pid, rootUri, workspaceFolders: [{ uri: rootUri, name: "svc" }], capabilities: {} });
  send({ method: "initialized", params: {} });
  return {
    open: (path, text) =>
      send({
        method: "textDocument/didOpen",
        params: { textDocument: { uri: uriOf(path), languageId: "typescript", version: 1, text } },
      }),
    async references({ path, line, column }) {
      const found = await request("textDocument/references", {
        textDocument: { uri: uriOf(path) },
        position: { line, character: column },
        context: { includeDeclaration: true },
      });
      return ((found ?? []) as Array<{ uri: string; range: { start: { line: number; character: number } } }>).map(({ uri, range }) => ({
        path: fileURLToPath(uri).slice(repositoryRoot.length + 1),
        line: range.start.line,
        column: range.start.character,
      }));
    },
    close: () => void child.kill(),
  };
}

/** Messages of the protocol: a head with the length of the body, a blank line, the body. */
function readMessages(stream: NodeJS.ReadableStream, onMessage: (message: Message) => void): void {
  let waiting = Buffer.alloc(0);
  stream.on("data", (bytes: Buffer) => {
    waiting = Buffer.concat([waiting, bytes]);
    for (;;) {
      const head = waiting.indexOf("\r\n\r\n");
      const length = head < 0 ? Number.NaN : Number(/Content-Length: (\d+)/i.exec(waiting.subarray(0, head).toString())?.[1]);
      const end = head + 4 + length;
      if (Number.isNaN(length) || waiting.length < end) return;
      onMessage(JSON.parse(waiting.subarray(head + 4, end).toString()) as Message);
      waiting = waiting.subarray(end);
    }
  });
}
