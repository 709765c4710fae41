/** User info of an address in a text: everything between `scheme://` and the last `@` before the path. */
const userInfo = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s/?#"'<>]*)@/gi;
/** A parameter whose name speaks of a secret, in a query or a fragment. */
const credential =
  /([?&;#](?:[\w.~%-]*(?:token|password|passwd|secret|api[-_]?key|private[-_]?key|credential|authorization|cookie|signature)s?|key|sig|auth|pwd)=)([^&;#\s"'<>]+)/gi;

/** The text with the secret parts of its addresses replaced. */
export function redactUrl(text: string, placeholder: string): string {
  if (!text.includes("://")) return text;
  return text.replace(userInfo, `$1${placeholder}@`).replace(credential, `$1${placeholder}`);
}

/** The secret parts of the addresses in a text: each user info, the password in it, each credential parameter. */
export function urlSecrets(text: string): string[] {
  if (!text.includes("://")) return [];
  const info = [...text.matchAll(userInfo)].map((m) => m[2] as string);
  const passwords = info.filter((i) => i.includes(":")).map((i) => i.slice(i.indexOf(":") + 1));
  return [...info, ...passwords, ...[...text.matchAll(credential)].map((m) => m[2] as string)].filter((s) => s !== "");
}
