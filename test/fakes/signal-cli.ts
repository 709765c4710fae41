import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type ChannelPeer, type PeerAction, startPacketProxy } from "svc/sdk/testing";

/** Accounts that the daemon serves, by number, with their account ids. */
const ACCOUNTS: Readonly<Record<string, string>> = {
  "+4930111111": "0a0a0a0a-0000-4000-8000-000000000001",
  "+4930222222": "0a0a0a0a-0000-4000-8000-000000000002",
};
const NUMBERS = { default: "+4930111111", second: "+4930222222" } as const;
const STRANGER = "+4930999999";
/** Account that is not served until somebody links the daemon to it. */
export const PHONE = { number: "+4930333333", aci: "0a0a0a0a-0000-4000-8000-000000000003" } as const;

export const ADA = "aaaaaaaa-1111-4111-8111-111111111111";
export const GROUP_ID = "Pmpi+EfPWmsxiomLe9Nx2XF9HOE483p6iKiFj65iMwI=";

type Params = Record<string, unknown>;

/** Answers of the fake that a test sets: an error of the daemon, or nothing at all. */
export interface Behaviour {
  /** Error for the next `send`. */
  failSend?: { code: number; message: string; data?: unknown };
  /** True: nothing is answered any more. */
  isStalled?: boolean;
  /** True: the daemon was started for one account, and lists none. */
  isSingle?: boolean;
  /** True: codes of new devices run out at once, as after a minute at Signal. */
  isLinkLate?: boolean;
  /** True: keys cannot be deleted now, as while another process holds them. */
  isInUse?: boolean;
  /** Attachments by id, in base64. */
  attachments?: Record<string, string>;
}

/** A fake of `signal-cli daemon --tcp`: JSON-RPC in lines, several accounts, messages kept until somebody subscribes. It refuses what the daemon refuses. */
export interface SignalDaemon extends ChannelPeer {
  port: number;
  behaviour: Behaviour;
  /** Every request, oldest first. */
  requests: Array<{ method: string; params: Params }>;
  /** Sends a line as it is to every link. */
  raw(line: string): void;
  /** Scans the QR code of a new device in the app of {@link PHONE}. */
  scan(uri: string): void;
  /** Sends an envelope to the subscribers of an account. */
  receive(envelope: object, account?: string): void;
}

/** Starts a daemon. */
export async function startSignalDaemon(): Promise<SignalDaemon> {
  const seen: PeerAction[] = [];
  const requests: SignalDaemon["requests"] = [];
  const behaviour: Behaviour = {};
  const links = new Map<Socket, Set<string>>();
  const waiting = new Map<string, object[]>();
  let clock = 1_700_000_000_000;
  const accounts: Record<string, string> = { ...ACCOUNTS };
  /** Codes of new devices, with what ends the wait for their scan. */
  const codes = new Map<string, LinkCode>();
  const scans = new Map<string, () => void>();
  /** Accounts that take no messages any more, and whose keys may be deleted. */
  const unregistered = new Set<string>();

  const deliver = (account: string, envelope: object) => {
    const to = [...links].filter(([, subscribed]) => subscribed.has(account)).map(([socket]) => socket);
    if (to.length === 0) waiting.set(account, [...(waiting.get(account) ?? []), envelope]);
    for (const socket of to) {
      const params = { subscription: 0, result: { envelope, account } };
      socket.write(`${JSON.stringify({ jsonrpc: "2.0", method: "receive", params })}\n`);
    }
  };

  const server = createServer((socket) => {
    links.set(socket, new Set());
    socket.on("close", () => links.delete(socket));
    socket.on("error", () => socket.destroy());
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) if (!behaviour.isStalled) answer(socket, JSON.parse(line));
    });
  });

  function answer(socket: Socket, { id, method, params }: { id: string; method: string; params: Params }): void {
    requests.push({ method, params });
    const reply = (body: object) => socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...body, id })}\n`);
    const account = behaviour.isSingle ? NUMBERS.default : String(params.account);
    try {
      if (method === "finishLink" && !behaviour.isSingle) return finishLink(params, reply);
      const isServed = accounts[account] !== undefined && !unregistered.has(account);
      if (!["version", "listAccounts", "startLink", "deleteLocalAccountData"].includes(method) && !isServed)
        throw Object.assign(new Error("Specified account does not exist"), { code: -32_602 });
      reply({ result: run(method, params, account) });
      if (method === "subscribeReceive") {
        links.get(socket)?.add(account);
        for (const envelope of waiting.get(account)?.splice(0) ?? []) deliver(account, envelope);
      }
    } catch (error) {
      refuse(error, reply);
    }
  }

  /** Answers once the code was scanned; meanwhile other requests are answered. */
  function finishLink({ deviceLinkUri, deviceName }: Params, reply: (body: object) => unknown): void {
    const code = codes.get(String(deviceLinkUri));
    if (!code || typeof deviceName !== "string") return refuse(userError("Unknown device link uri."), reply);
    codes.delete(String(deviceLinkUri));
    code.scanned.then(
      () => {
        accounts[PHONE.number] = PHONE.aci;
        unregistered.delete(PHONE.number);
        reply({ result: { number: PHONE.number } });
      },
      (error: unknown) => refuse(error, reply),
    );
    if (behaviour.isLinkLate) code.expire(userError("Link request timed out, please try again."));
  }

  function run(method: string, params: Params, account: string): unknown {
    if (method === "version") return { version: "0.14.1" };
    if (method === "startLink" && !behaviour.isSingle) {
      const uri = `sgnl://linkdevice?uuid=${randomUUID()}&pub_key=${encodeURIComponent(randomBytes(33).toString("base64"))}`;
      const code = createCode();
      codes.set(uri, code);
      scans.set(uri, code.scan);
      return { deviceLinkUri: uri };
    }
    if (method === "unregister") return unregistered.add(account) && {};
    if (method === "deleteLocalAccountData") {
      if (behaviour.isInUse) throw Object.assign(new Error("Method requires valid account parameter"), { code: -32_602 });
      if (accounts[account] !== undefined && !unregistered.has(account))
        throw userError("Not deleting account, it is still registered. Use --ignore-registered to delete it anyway.");
      delete accounts[account];
      return {};
    }
    if (method === "listAccounts" && !behaviour.isSingle)
      return Object.entries(accounts)
        .filter(([number]) => !unregistered.has(number))
        .map(([number, aci]) => ({ number, aci }));
    if (method === "subscribeReceive") return 0;
    if (method === "listGroups") return [{ id: GROUP_ID, name: "Kitchen", isMember: true, isBlocked: false, admins: [{ uuid: ADA }] }];
    if (method === "getAttachment")
      return { data: found(behaviour.attachments?.[String(params.id)], `Could not find attachment with ID: ${params.id}`) };
    if (method === "send") return send(params, account);
    if (method === "remoteDelete") {
      seen.push({ kind: "unsend", messageId: `${account}/${params.targetTimestamp}` });
      return { timestamp: ++clock };
    }
    if (method === "sendReaction") {
      if (typeof params.emoji !== "string" || params.emoji === "") throw userError("Missing required argument: emoji");
      seen.push({ kind: "reaction", messageId: `${params.targetAuthor}/${params.targetTimestamp}`, emoji: params.emoji });
      return { timestamp: ++clock };
    }
    if (method === "sendTyping") {
      seen.push({ kind: "typing", to: targetOf(params), on: params.stop !== true });
      return { timestamp: ++clock };
    }
    throw Object.assign(new Error("Method not implemented"), { code: -32_601 });
  }

  function send(params: Params, account: string): unknown {
    const { failSend } = behaviour;
    if (failSend) {
      delete behaviour.failSend;
      throw Object.assign(new Error(failSend.message), failSend);
    }
    const to = targetOf(params);
    const text = String(params.message ?? "");
    checkStyles(params.textStyle, text);
    if (text === "" && params.attachment === undefined) throw userError("Sending empty message is not allowed");
    if (params.editTimestamp !== undefined) {
      seen.push({ kind: "edit", messageId: `${account}/${params.editTimestamp}`, text });
      return { timestamp: ++clock };
    }
    if (params.quoteTimestamp !== undefined && params.quoteAuthor === undefined) throw userError("Quote author parameter is missing");
    const replyToId = params.quoteTimestamp === undefined ? {} : { replyToId: `${params.quoteAuthor}/${params.quoteTimestamp}` };
    clock += 1;
    seen.push({ kind: "message", to, text, messageId: `${account}/${clock}`, ...replyToId });
    return { timestamp: clock, results: [{ recipientAddress: { uuid: to }, type: "SUCCESS" }] };
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const proxy = await startPacketProxy(port);
  return {
    port,
    behaviour,
    requests,
    raw: (line) => {
      for (const socket of links.keys()) socket.write(line);
    },
    scan: (uri) => found(scans.get(uri), "Signal does not know this code")(),
    signIn: {
      section: { port: proxy.port, account: PHONE.number },
      follow: async (step) => found(step.kind === "qr" ? scans.get(step.text) : undefined, "there is no such code to scan")(),
      isSignedIn: () => accounts[PHONE.number] !== undefined && !unregistered.has(PHONE.number),
    },
    receive: (envelope, account = NUMBERS.default) => deliver(account, envelope),
    config: ({ accounts, credentials }) => ({
      port: proxy.port,
      account: credentials === "good" ? NUMBERS.default : STRANGER,
      ...(accounts === 2 ? { accounts: { second: { account: NUMBERS.second } } } : {}),
    }),
    secrets: [],
    direct: ADA,
    group: `group:${GROUP_ID}`,
    seen,
    async say({ accountId, chatType, text, replyToId }) {
      clock += 1;
      const [author, id] = replyToId?.split("/") ?? [];
      const quote = replyToId === undefined ? {} : { quote: { id: Number(id), authorNumber: author, text: "earlier", attachments: [] } };
      const groupInfo =
        chatType === "direct" ? {} : { groupInfo: { groupId: GROUP_ID, groupName: "Kitchen", revision: 1, type: "DELIVER" } };
      const dataMessage = { timestamp: clock, message: text, expiresInSeconds: 0, viewOnce: false, ...quote, ...groupInfo };
      deliver(NUMBERS[accountId as keyof typeof NUMBERS], { ...from(ADA, "Ada"), timestamp: clock, dataMessage });
      return `${ADA}/${clock}`;
    },
    packets: (shape) => proxy.shape(shape),
    drop() {
      for (const socket of links.keys()) socket.destroy();
    },
    connections: () => links.size,
    async close() {
      await proxy.close();
      for (const socket of links.keys()) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** The part of an envelope that says who wrote. */
export function from(uuid: string, name: string, number: string | null = null): object {
  return { source: number ?? uuid, sourceNumber: number, sourceUuid: uuid, sourceName: name, sourceDevice: 1 };
}

interface LinkCode {
  scanned: Promise<void>;
  scan(): void;
  expire(reason: Error): void;
}

function createCode(): LinkCode {
  let [scan, expire]: [() => void, (reason: Error) => void] = [() => undefined, () => undefined];
  const scanned = new Promise<void>((resolve, reject) => {
    [scan, expire] = [resolve, reject];
  });
  scanned.catch(() => undefined);
  return { scanned, scan, expire };
}

function refuse(error: unknown, reply: (body: object) => unknown): void {
  const { code = -32_603, data } = error as { code?: number; data?: unknown };
  reply({ error: { code, message: (error as Error).message, data: data ?? null } });
}

function targetOf({ recipient, groupId, username }: Params): string {
  const one = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [value]).filter((item) => item !== undefined);
  const targets = [...one(recipient), ...one(groupId).map((id) => `group:${id}`), ...one(username).map((name) => `u:${name}`)];
  if (targets.length !== 1) throw userError("No recipients given");
  return String(targets[0]);
}

function checkStyles(raw: unknown, text: string): void {
  for (const style of (raw ?? []) as unknown[]) {
    const [, start, length] = /^(\d+):(\d+):(?:BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)$/.exec(String(style)) ?? [];
    if (start === undefined || Number(start) + Number(length) > text.length) throw userError(`Invalid textStyle syntax (${style})`);
  }
}

function found<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw userError(message);
  return value;
}

function userError(message: string): Error {
  return Object.assign(new Error(message), { code: -1 });
}
