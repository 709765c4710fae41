/** Takes secrets out of what was said, before anything of it is stored, searched or sent to a vendor. */
export function redactSecrets(text: string): string {
  let clean = text.replace(privateKey, "$1…$2");
  for (const rule of valueRules) clean = clean.replace(rule, maskValue);
  for (const rule of tokenRules) clean = clean.replace(rule, maskToken);
  return clean;
}

/** A long value keeps enough of both ends to be recognised by its owner. */
const LONG_CHARS = 18;
const HEAD_CHARS = 6;
const TAIL_CHARS = 4;

/** One that lost its end, as in a message that was cut off, is masked to the end of the text. */
const privateKey = /(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----)[\s\S]*?(-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g;

const quoted = String.raw`"(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+'`;
/** Quoted, or up to the next blank, quote or separator. */
const value = String.raw`(${quoted}|[^\s"',;&<>(){}\[\]\\]+)`;
const names = "(?:key|token|secret|password|passwd)";
const fields = "(?:api[-_]?key|(?:access|refresh|auth|id|bot)?[-_]?token|(?:client[-_]?)?secret|password|passwd)";

/** Group 1 stays, group 2 is the secret. */
const valueRules = [
  /(\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:[A-Za-z]+\s+)?)([^\s"',;\\]+)/gi,
  /(\bbearer\s+)([A-Za-z0-9._~+/=-]{16,})/gi,
  new RegExp(String.raw`(["']${fields}["']\s*[:=]\s*)("(?:[^"\\]|\\.)+|'(?:[^'\\]|\\.)+)`, "gi"),
  new RegExp(String.raw`(\\["']${fields}\\["']\s*[:=]\s*\\)("[^"\\]+|'[^'\\]+)`, "gi"), // JSON inside a JSON text
  new RegExp(String.raw`(--(?:[a-z0-9]+[-_])*${names}(?:=|\s+))${value}`, "gi"),
  new RegExp(String.raw`(\b[A-Za-z0-9_]*${names}\s*=\s*)${value}`, "gi"),
  new RegExp(String.raw`(\b[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\s*:\s*)${value}`, "g"),
  new RegExp(String.raw`(\b(?:api[-_ ]?key|(?:access|refresh|auth|bot)[-_ ]?token|token|secret|password|passwd)\s*:\s*)${value}`, "gi"),
];

/** Forms that are a secret wherever they stand. */
const tokenRules = [
  /\bsk-[A-Za-z0-9_-]{8,}/g,
  /\bghp_[A-Za-z0-9]{10,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{10,}/g,
  /\bxox[a-z]-[A-Za-z0-9-]{8,}/g,
  /\bxapp-[A-Za-z0-9-]{8,}/g,
  /\bgsk_[A-Za-z0-9_-]{8,}/g,
  /\bAIza[A-Za-z0-9_-]{16,}/g,
  /\bpplx-[A-Za-z0-9_-]{8,}/g,
  /\bnpm_[A-Za-z0-9]{10,}/g,
  /\b\d{6,12}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
];

function maskValue(_match: string, before: string, secret: string): string {
  const quote = /^["']/.exec(secret)?.[0] ?? "";
  const closing = quote !== "" && secret.length > 1 && secret.endsWith(quote) ? quote : "";
  const bare = secret.slice(quote.length, secret.length - closing.length);
  return `${before}${quote}${maskToken(bare)}${closing}`;
}

function maskToken(secret: string): string {
  if (secret === "***" || secret.includes("…")) return secret; // a rule before has been here
  return secret.length >= LONG_CHARS ? `${secret.slice(0, HEAD_CHARS)}…${secret.slice(-TAIL_CHARS)}` : "***";
}
