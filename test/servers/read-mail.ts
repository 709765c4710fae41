import { join } from "node:path";
import { vendorIn } from "svc/sdk/testing";

const vendor = vendorIn(join(import.meta.dirname, "../../plugins/channel-mail"));

/** A mail as a person's program reads it. */
export interface ReadMail {
  from?: { address?: string; name?: string };
  subject?: string;
  messageId?: string;
  inReplyTo?: string;
  references?: string;
  text?: string;
  html?: string;
  headers: Array<{ key: string; value: string }>;
  attachments: Array<{ filename: string | null; mimeType: string; content: ArrayBuffer }>;
}

/** Reads a mail by the library that the plugin reads mails with. */
export async function readMail(raw: Uint8Array): Promise<ReadMail> {
  const { default: postal } = await vendor.load<{ default: { parse(raw: Uint8Array): Promise<ReadMail> } }>("postal-mime");
  return postal.parse(raw);
}
