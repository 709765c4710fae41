import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { Certificate } from "./certificate.ts";

/** A mail that the server took, as it came. */
export interface TakenMail {
  from: string;
  to: string[];
  raw: Buffer;
}

/** A real SMTP server that keeps what it is given. */
export interface SmtpInbox {
  port: number;
  readonly mails: readonly TakenMail[];
  /** Answers to the next mails, one each; `stage` says when. */
  refuse(...answers: Array<{ stage: "rcpt" | "data"; code: number; text: string }>): void;
  close(): Promise<void>;
}

interface SmtpInboxOptions {
  password?: string;
  /** Good access tokens, for XOAUTH2. */
  tokens?: ReadonlySet<string>;
  /** STARTTLS is offered with it, or TLS from the first byte. */
  tls?: { certificate: Certificate; isImplicit: boolean };
  onMail?(mail: TakenMail): void | Promise<void>;
  port?: number;
}

export async function startSmtpInbox({ password, tokens, tls, onMail, port = 0 }: SmtpInboxOptions = {}): Promise<SmtpInbox> {
  const mails: TakenMail[] = [];
  const answers: Array<{ stage: "rcpt" | "data"; code: number; text: string }> = [];
  const refusal = (stage: "rcpt" | "data") => {
    const [next] = answers;
    if (next?.stage !== stage) return undefined;
    answers.shift();
    return Object.assign(new Error(next.text), { responseCode: next.code });
  };
  const files = tls ? { cert: await readFile(tls.certificate.cert), key: await readFile(tls.certificate.key) } : {};
  const options: SMTPServerOptions = {
    name: "mx.example.org",
    banner: "a server for tests",
    secure: tls?.isImplicit === true,
    ...files,
    disabledCommands: tls ? [] : ["STARTTLS"],
    allowInsecureAuth: true,
    authOptional: password === undefined && tokens === undefined,
    authMethods: tokens ? ["XOAUTH2"] : ["PLAIN", "LOGIN"],
    disableReverseLookup: true,
    logger: false,
    onAuth(auth, _session, done) {
      const isGood = auth.method === "XOAUTH2" ? tokens?.has(auth.accessToken ?? "") : auth.password === password;
      if (isGood) done(null, { user: auth.username });
      else done(Object.assign(new Error("Authentication credentials invalid"), { responseCode: 535 }));
    },
    onRcptTo: (_address, _session, done) => done(refusal("rcpt")),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const refused = refusal("data");
        if (refused) return done(refused);
        const { mailFrom, rcptTo } = session.envelope;
        const mail = { from: mailFrom ? mailFrom.address : "", to: rcptTo.map(({ address }) => address), raw: Buffer.concat(chunks) };
        mails.push(mail);
        await onMail?.(mail);
        done(null);
      });
    },
  };
  const server = new SMTPServer(options);
  // A client that goes away in the middle of a mail is no fault of the server.
  server.on("error", () => undefined);
  const listening = server.listen(port, "127.0.0.1");
  await once(listening, "listening");
  return {
    port: (listening.address() as AddressInfo).port,
    mails,
    refuse: (...more) => void answers.push(...more),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
