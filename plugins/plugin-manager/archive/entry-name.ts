const MAX_NAME_BYTES = 1_024;
const MAX_PART_BYTES = 255;
const MAX_DEPTH = 64;

/**
 * Name of an archive's entry as a path below the target, parts joined by `/`; `""` is the target itself.
 * @returns the reason instead when the name could mean anything else on any system
 */
export function entryName(raw: string): { name: string } | { reason: string } {
  const shown = JSON.stringify(raw.length > 120 ? `${raw.slice(0, 117)}...` : raw);
  const refused = (why: string) => ({ reason: `entry ${shown} ${why}` });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are refused
  if (/[\u0000-\u001f\u007f]/.test(raw)) return refused("has control characters in its name");
  if (raw.includes("\\")) return refused("has a backslash in its name");
  if (raw.startsWith("/")) return refused("has an absolute name");
  if (raw.includes(":")) return refused("has a drive or a stream in its name");
  if (Buffer.byteLength(raw) > MAX_NAME_BYTES) return refused(`has a name of more than ${MAX_NAME_BYTES} bytes`);
  const parts = raw.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return refused("leads upwards");
  if (parts.length > MAX_DEPTH) return refused(`is more than ${MAX_DEPTH} folders deep`);
  if (parts.some((part) => Buffer.byteLength(part) > MAX_PART_BYTES)) return refused(`has a part of more than ${MAX_PART_BYTES} bytes`);
  return { name: parts.join("/") };
}
