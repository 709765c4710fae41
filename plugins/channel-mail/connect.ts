import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { AccountRefusedError, messageOf, type PluginVendor, withLimit } from "svc/sdk";
import type { MailAccount, ServerSettings } from "./accounts.ts";
import { domainOf } from "./address.ts";
import { type ImapClient, type ImapError, loadSmtp, openImap, type SmtpAuth, type SmtpClient, type SmtpError } from "./client.ts";
import { wordsOf } from "./refusals.ts";
import type { MailTiming } from "./timing.ts";
import type { AccessTokens } from "./tokens.ts";

/** Everything that reaching the servers of an account takes. */
export interface Reach {
  account: MailAccount;
  vendor: PluginVendor;
  timing: MailTiming;
  /** For an account with OAuth. */
  tokens: AccessTokens | undefined;
}

/** A line, apart from what it announces in bytes. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Links to the IMAP server and logs in.
 * @throws {AccountRefusedError} when it does not take the credentials
 */
export async function connectImap(reach: Reach, signal: AbortSignal): Promise<ImapClient> {
  try {
    return await loginImap(reach, signal, false);
  } catch (error) {
    if (!(error instanceof AccountRefusedError) || reach.tokens?.canRenew !== true) throw error;
    return loginImap(reach, signal, true);
  }
}

async function loginImap(reach: Reach, signal: AbortSignal, renew: boolean): Promise<ImapClient> {
  const { account, vendor, timing, tokens } = reach;
  const { imap, pollIntervalMs, maxMessageBytes } = account;
  const secret = tokens ? { accessToken: await tokenOf(tokens, renew, reach, signal) } : { pass: imap.password ?? "" };
  const client = await openImap(vendor, {
    host: imap.host,
    port: imap.port,
    secure: imap.security === "tls",
    ...(imap.security === "tls" ? {} : { doSTARTTLS: imap.security === "starttls" }),
    auth: { user: imap.user, ...secret },
    ...(await tlsOf(imap)),
    logger: false,
    disableAutoIdle: true,
    disableCompression: true,
    clientInfo: { name: "svc" },
    connectionTimeout: timing.connectMs,
    greetingTimeout: timing.connectMs,
    socketTimeout: pollIntervalMs + timing.commandMs,
    maxLineLength: MAX_LINE_BYTES,
    maxLiteralSize: maxMessageBytes + MAX_LINE_BYTES,
    maxResponseSize: maxMessageBytes + 4 * MAX_LINE_BYTES,
  });
  // Its own listener comes later; an error without one ends the process.
  client.on("error", () => undefined);
  const onAbort = () => client.close();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const late = () => new Error(`the IMAP server did not answer within ${timing.connectMs / 1_000} s`);
    const failed = await withLimit(
      client.connect().then(() => undefined),
      2 * timing.connectMs,
      late,
      signal,
    );
    if (failed) throw failed;
    return client;
  } catch (error) {
    client.close();
    throw signal.aborted ? signal.reason : faultOfImap(error);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The provider's answer is not waited for by an account that ends. */
function tokenOf(tokens: AccessTokens, renew: boolean, { timing }: Reach, signal: AbortSignal): Promise<string> {
  const late = () => {
    throw new Error(`the OAuth provider did not answer within ${timing.connectMs / 1_000} s`);
  };
  return withLimit(tokens.get(renew), timing.connectMs, late, signal);
}

/** Answers to a login that pass: the server is busy, or lost its own directory. */
const passing = new Set(["UNAVAILABLE", "INUSE", "LIMIT", "SERVERBUG", "OVERQUOTA", "CONTACTADMIN"]);

function faultOfImap(error: unknown): Error {
  const { authenticationFailed, serverResponseCode = "", responseText } = (error ?? {}) as ImapError;
  const said = wordsOf(responseText ?? messageOf(error));
  if (authenticationFailed !== true) return new Error(`no link to the IMAP server: ${said}`, { cause: error });
  if (passing.has(serverResponseCode)) return new Error(`the IMAP server cannot log the account in now: ${said}`);
  return new AccountRefusedError(`the IMAP server refused the login: ${said}`);
}

/** A connection to the SMTP server that is ready for a mail. */
export interface OpenSmtp {
  client: SmtpClient;
  /** Rejects when the connection breaks. */
  broken: Promise<never>;
  compose: Awaited<ReturnType<typeof loadSmtp>>["compose"];
}

/**
 * Connects and logs in.
 * @throws {SmtpError} `code` is `EAUTH` when the server does not take the credentials
 */
export async function connectSmtp(reach: Reach, signal: AbortSignal): Promise<OpenSmtp> {
  try {
    return await loginSmtp(reach, signal);
  } catch (error) {
    if ((error as SmtpError).code !== "EAUTH" || reach.tokens?.canRenew !== true) throw error;
    await tokenOf(reach.tokens, true, reach, signal);
    return loginSmtp(reach, signal);
  }
}

async function loginSmtp({ account, vendor, timing, tokens }: Reach, signal: AbortSignal): Promise<OpenSmtp> {
  const { smtp, address } = account;
  const { connect, compose } = await loadSmtp(vendor);
  const client = connect({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.security === "tls",
    ...(smtp.security === "starttls" ? { requireTLS: true } : smtp.security === "none" ? { ignoreTLS: true } : {}),
    name: domainOf(address),
    ...(await tlsOf(smtp)),
    connectionTimeout: timing.connectMs,
    greetingTimeout: timing.connectMs,
    socketTimeout: timing.sendMs,
    maxResponseSize: 64 * 1024,
  });
  const broken = new Promise<never>((_, reject) => {
    client.on("error", reject);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  broken.catch(() => undefined);
  const step = (call: (done: (error?: SmtpError | null) => void) => void) =>
    Promise.race([broken, new Promise<void>((resolve, reject) => call((error) => (error ? reject(error) : resolve())))]);
  try {
    signal.throwIfAborted();
    await step((done) => client.connect(done));
    const auth = authOf(smtp, tokens);
    if (auth && client.allowsAuth) await step((done) => client.login(auth, done));
    else if (auth && smtp.security !== "none") throw Object.assign(new Error("the SMTP server offers no login"), { code: "EAUTH" });
    return { client, broken, compose };
  } catch (error) {
    client.close();
    throw error;
  }
}

function authOf({ user, password }: ServerSettings, tokens: AccessTokens | undefined): SmtpAuth | undefined {
  if (!tokens) return password === undefined ? undefined : { user, pass: password };
  return {
    user,
    oauth2: {
      getToken: (renew, done) =>
        void tokens.get(renew).then(
          (token) => done(null, token),
          (error: unknown) => done(error instanceof Error ? error : new Error(messageOf(error))),
        ),
      buildXOAuth2Token: (token) => Buffer.from(`user=${user}\u0001auth=Bearer ${token}\u0001\u0001`).toString("base64"),
    },
  };
}

async function tlsOf({ security, caPath, serverName }: ServerSettings): Promise<{ tls?: { ca?: string; servername?: string } }> {
  if (security === "none") return {};
  const path = caPath?.startsWith("~/") ? join(homedir(), caPath.slice(2)) : caPath;
  return {
    tls: {
      ...(path === undefined ? {} : { ca: await readFile(path, "utf8") }),
      ...(serverName === undefined ? {} : { servername: serverName }),
    },
  };
}
