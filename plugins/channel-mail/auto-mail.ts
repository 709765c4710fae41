import type { ParsedMail } from "./mime.ts";

/**
 * Says why nobody should answer a mail: a program sent it, to many, or about a mail that did not arrive (RFC 3834). Undefined for what a person wrote.
 * @param own address of the account
 */
export function autoMailReason({ from, fields }: Pick<ParsedMail, "from" | "fields">, own: string): string | undefined {
  const value = (name: string) => (fields[name]?.[0] ?? "").trim().toLowerCase();
  const sender = from[0]?.address ?? "";
  if (sender === own) return "own-address";
  if (/^multipart\/report\b/.test(value("content-type")) || fields["x-failed-recipients"]) return "bounce";
  // The last server writes it; where there is none, the mail came by another way.
  if (value("return-path") === "<>") return "bounce";
  if (/^(?:mailer-daemon|postmaster)@/.test(sender)) return "bounce";
  const submitted = value("auto-submitted").split(/[\s;]/)[0] ?? "";
  if (submitted !== "" && submitted !== "no") return "auto-submitted";
  if (fields["x-autoreply"] || fields["x-autorespond"]) return "auto-submitted";
  if (/^(?:bulk|junk|list|auto_reply)$/.test(value("precedence"))) return "bulk";
  if (fields["list-id"] || fields["list-post"] || fields["list-unsubscribe"] || fields["list-help"]) return "list";
  if (/\b(?:all|oof|autoreply)\b/.test(value("x-auto-response-suppress"))) return "auto-response-suppress";
  return undefined;
}
