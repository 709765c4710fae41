import type { Readable } from "node:stream";
import type { PluginVendor } from "svc/sdk";

export interface ImapOptions {
  host: string;
  port: number;
  secure: boolean;
  doSTARTTLS?: boolean;
  auth: { user: string; pass?: string; accessToken?: string };
  tls?: { ca?: string; servername?: string };
  logger: false;
  disableAutoIdle: true;
  disableCompression: true;
  clientInfo: Record<string, string>;
  connectionTimeout: number;
  greetingTimeout: number;
  socketTimeout: number;
  maxLineLength: number;
  maxLiteralSize: number;
  maxResponseSize: number;
}

/** An opened mailbox. */
export interface OpenMailbox {
  uidValidity: bigint;
  uidNext: number;
  exists: number;
  permanentFlags?: Set<string>;
}

export interface FetchedMail {
  uid: number;
  size?: number;
  source?: Buffer;
}

/** The part of `imapflow` 2.1.2 that is used here. */
export interface ImapClient {
  readonly capabilities: Map<string, boolean | number>;
  connect(): Promise<void>;
  mailboxOpen(path: string, options?: { readOnly?: boolean }): Promise<OpenMailbox>;
  search(query: Record<string, unknown>, options: { uid: true }): Promise<number[] | false | undefined>;
  fetchOne(
    uid: string,
    query: { uid: true; size?: true; source?: { start: number; maxLength: number } },
    options: { uid: true },
  ): Promise<FetchedMail | false | undefined>;
  messageFlagsAdd(uid: string, flags: string[], options: { uid: true }): Promise<boolean>;
  idle(): Promise<unknown>;
  noop(): Promise<void>;
  logout(): Promise<void>;
  close(): void;
  on(event: "error", listener: (error: Error) => void): this;
  on(event: "close" | "exists", listener: () => void): this;
}

/** Error of `imapflow`. */
export interface ImapError extends Error {
  authenticationFailed?: boolean;
  /** Code in brackets of the server's answer, as `AUTHENTICATIONFAILED`. */
  serverResponseCode?: string;
  responseText?: string;
}

export async function openImap(vendor: PluginVendor, options: ImapOptions): Promise<ImapClient> {
  const { ImapFlow } = await vendor.load<{ ImapFlow: new (options: ImapOptions) => ImapClient }>("imapflow");
  return new ImapFlow(options);
}

export interface SmtpOptions {
  host: string;
  port: number;
  secure: boolean;
  requireTLS?: boolean;
  ignoreTLS?: boolean;
  name: string;
  tls?: { ca?: string; servername?: string };
  connectionTimeout: number;
  greetingTimeout: number;
  socketTimeout: number;
  maxResponseSize: number;
}

export type SmtpAuth =
  | { user: string; pass: string }
  | {
      user: string;
      oauth2: {
        getToken(renew: boolean, done: (error: Error | null, token?: string) => void): void;
        buildXOAuth2Token(token: string): string;
      };
    };

/** Error of `nodemailer`; `responseCode` is the server's answer, when there was one. */
export interface SmtpError extends Error {
  code?: string;
  command?: string;
  responseCode?: number;
  response?: string;
}

/** Connection of `nodemailer` 10.6.0, below its transports: they do not say whether a message had left when the link broke. */
export interface SmtpClient {
  connect(done: (error?: SmtpError) => void): void;
  login(auth: SmtpAuth, done: (error: SmtpError | null) => void): void;
  send(
    envelope: { from: string; to: string[]; size?: number },
    message: Readable,
    done: (error: SmtpError | null, info?: { response: string }) => void,
  ): void;
  quit(): void;
  close(): void;
  on(event: "error", listener: (error: SmtpError) => void): this;
  readonly allowsAuth: boolean;
}

export interface MailAttachment {
  filename: string;
  contentType: string;
  content: Readable | Uint8Array;
}

/** A mail for the composer of `nodemailer`. */
export interface ComposedMail {
  from: { name: string; address: string };
  to: string;
  subject: string;
  messageId: string;
  inReplyTo?: string;
  references?: string[];
  headers: Record<string, string>;
  text: string;
  html?: string;
  attachments: MailAttachment[];
  disableFileAccess: true;
  disableUrlAccess: true;
}

interface Smtp {
  connect(options: SmtpOptions): SmtpClient;
  compose(mail: ComposedMail): Readable;
}

/** Parts of `nodemailer` that its main entry does not offer; the version is pinned, so their places are known. */
export async function loadSmtp(vendor: PluginVendor): Promise<Smtp> {
  const entry = await vendor.resolve("nodemailer");
  const part = async <T>(path: string) => ((await import(new URL(path, entry).href)) as { default: T }).default;
  const Connection = await part<new (options: SmtpOptions) => SmtpClient>("./smtp-connection/index.js");
  const Composer = await part<new (mail: ComposedMail) => { compile(): { createReadStream(): Readable } }>("./mail-composer/index.js");
  return {
    connect: (options) => new Connection(options),
    compose: (mail) => new Composer(mail).compile().createReadStream(),
  };
}
