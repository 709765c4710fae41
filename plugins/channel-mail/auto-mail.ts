import type { ParsedMail } from "./mime.ts";

const MAX_SUBJECT_CHARS = 100;
/** Subjects of programs that say in no header field what they are. A person's answer to one begins with `Re:`, and other words may follow the same beginning. */
const absence =
  /^(?:auto(?:matic)?[- ]?reply|out of (?:the )?office|automatische antwort|abwesenheits(?:notiz|nachricht|meldung|benachrichtigung|assistent)|abwesenheit|r[eé]ponse automatique|respuesta autom[aá]tica|risposta automatica|automatisch antwoord)(?:$|\s*[:([|–—-]|\s+(?:re:|aw:|auto))/i;

/**
 * Says why nobody should answer a mail: a program sent it, to many, or about a mail that did not arrive (RFC 3834). Undefined for what a person wrote.
 * @param own address of the account
 */
export function autoMailReason(
  { from, subject, fields }: Pick<ParsedMail, "from" | "subject" | "fields">,
  own: string,
): string | undefined {
  const value = (name: string) => (fields[name]?.[0] ?? "").trim().toLowerCase();
  const sender = from[0]?.address ?? "";
  if (sender === own) return "own-address";
  if (/^multipart\/report\b/.test(value("content-type")) || fields["x-failed-recipients"]) return "bounce";
  // The last server writes it; where there is none, the mail came by another way.
  if (value("return-path") === "<>") return "bounce";
  if (/^(?:mailer-daemon|postmaster)@/.test(sender)) return "bounce";
  const submitted = value("auto-submitted").split(/[\s;]/)[0] ?? "";
  if (submitted !== "" && submitted !== "no") return "auto-submitted";
  if (absence.test(subject.trim().slice(0, MAX_SUBJECT_CHARS))) return "auto-reply-subject";
  if (fields["x-autoreply"] || fields["x-autorespond"]) return "auto-submitted";
  if (/^(?:bulk|junk|list|auto_reply)$/.test(value("precedence"))) return "bulk";
  if (fields["list-id"] || fields["list-post"] || fields["list-unsubscribe"] || fields["list-help"]) return "list";
  if (/\b(?:all|oof|autoreply)\b/.test(value("x-auto-response-suppress"))) return "auto-response-suppress";
  return undefined;
}
