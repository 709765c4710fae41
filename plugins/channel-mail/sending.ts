import { messageOf, NotDispatchedError, type OutboundMessage, type Receipt, SendRefusedError } from "svc/sdk";
import { secretValues } from "./accounts.ts";
import { toAddress } from "./address.ts";
import type { SmtpError } from "./client.ts";
import { connectSmtp, type Reach } from "./connect.ts";
import { toMail } from "./outgoing.ts";
import { messageWithout } from "./refusals.ts";
import type { Threads } from "./threads.ts";

interface SendOptions {
  reach: Reach;
  threads: Threads;
  signal: AbortSignal;
  now(): number;
}

/**
 * Sends one mail over a connection of its own.
 * @throws `SendRefusedError` with the server's words; `NotDispatchedError` while the server cannot have the whole mail; any other error when it may have it
 */
export async function sendMail(message: OutboundMessage, { reach, threads, signal, now }: SendOptions): Promise<Receipt> {
  const to = toAddress(message.to);
  if (to === undefined) throw new SendRefusedError(`"${message.to}" is no mail address`, { isPermanent: true });
  const { account } = reach;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(reach.timing.sendMs)]);
  let hasLeft = false;
  try {
    const { client, broken, compose } = await connectSmtp(reach, limit);
    try {
      const { mail, messageId, root } = toMail(message, to, { account, threads });
      const content = compose(mail);
      // Read to its end: the dot that completes the mail is on its way, or was.
      content.once("end", () => {
        hasLeft = true;
      });
      const sent = new Promise<void>((resolve, reject) =>
        client.send({ from: account.address, to: [to] }, content, (error) => (error ? reject(error) : resolve())),
      );
      await Promise.race([sent, broken]);
      client.quit();
      await threads.add(root, { messageId, subject: mail.subject, at: now() });
      return { messageId, at: now() };
    } catch (error) {
      client.close();
      throw error;
    }
  } catch (error) {
    throw verdictOf(error, hasLeft, [...secretValues(account), ...(reach.tokens?.secrets ?? [])]);
  }
}

/** Answers about this account, not about the mail: it goes out once the account is in order. */
const aboutAccount = new Set([530, 534, 535, 538]);

function verdictOf(error: unknown, hasLeft: boolean, secrets: readonly string[]): Error {
  const { code, responseCode, response } = (error ?? {}) as SmtpError;
  const said = messageWithout(response ?? messageOf(error), secrets);
  if (code === "EAUTH" || (responseCode !== undefined && aboutAccount.has(responseCode)))
    return new NotDispatchedError(`the SMTP server did not log the account in: ${said}`);
  if (responseCode !== undefined && responseCode >= 400)
    return new SendRefusedError(`the SMTP server refused the mail: ${said}`, { isPermanent: responseCode >= 500 });
  if (code === "EMESSAGE" || code === "EENVELOPE") return new SendRefusedError(`the mail cannot be sent: ${said}`, { isPermanent: true });
  if (!hasLeft) return new NotDispatchedError(`no link to the SMTP server: ${said}`);
  return new Error(`the SMTP server did not say whether it has the mail: ${said}`);
}
