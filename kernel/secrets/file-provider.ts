import type { Stats } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { messageOf } from "../../sdk/errors.ts";
import { readRegularFile } from "../../sdk/internal/files/read-regular.ts";
import { withLimit } from "../../sdk/time.ts";
import { answerAll, answerOf, type FileProvider, type SecretAnswer, type SecretQuestion } from "./provider.ts";

/** Secrets from a private file, read once for all ids: a regular file of this user, not a link, that nobody else may read or write. */
export async function askFile(provider: FileProvider, question: SecretQuestion): Promise<Map<string, SecretAnswer>> {
  const { ids } = question;
  let text: string;
  try {
    const reading = readRegularFile(secretFilePath(provider, question), {
      maxBytes: provider.maxBytes,
      followLink: false,
      check: isPrivate,
    });
    const bytes = await withLimit(reading, provider.timeoutMs, () => {
      throw new Error(`was not read within ${provider.timeoutMs} ms`);
    });
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "does not exist" : (code ?? messageOf(error));
    return answerAll(ids, `file ${provider.path}: ${reason === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "is not UTF-8 text" : reason}`);
  }
  return provider.mode === "singleValue" ? singleValue(provider, ids, text) : jsonValues(provider, ids, text);
}

/** Absolute path of a provider's file: `~` is the home folder, relative paths start at the config's folder. */
export function secretFilePath({ path }: FileProvider, { env, configDir }: Pick<SecretQuestion, "env" | "configDir">): string {
  const home = env.HOME ?? homedir();
  return resolve(configDir, path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path);
}

/** The reason why others could know or change it; undefined on systems without such modes. */
export function isPrivate(stat: Pick<Stats, "uid" | "mode">): string | undefined {
  if (process.platform === "win32" || !process.getuid) return undefined;
  if (stat.uid !== process.getuid()) return "belongs to another user";
  return (stat.mode & 0o066) === 0 ? undefined : "can be read or written by others; expected mode 0600";
}

function singleValue(provider: FileProvider, ids: readonly string[], text: string): Map<string, SecretAnswer> {
  const answer = answerOf(text.replace(/\r?\n$/, ""));
  const named = "reason" in answer ? { reason: `file ${provider.path}: ${answer.reason}` } : answer;
  const wrongId = { reason: `file ${provider.path}: holds a single value; expected the id "value"` };
  return new Map(ids.map((id) => [id, id === "value" ? named : wrongId]));
}

function jsonValues(provider: FileProvider, ids: readonly string[], text: string): Map<string, SecretAnswer> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    return answerAll(ids, `file ${provider.path}: is not valid JSON`);
  }
  return new Map(
    ids.map((id) => {
      const answer = id === "value" ? { reason: "expected a JSON pointer as id" } : answerOf(atPointer(json, id));
      return [id, "reason" in answer ? { reason: `file ${provider.path}: ${answer.reason} at ${id === "" ? '""' : id}` } : answer];
    }),
  );
}

/** RFC 6901. */
function atPointer(json: unknown, pointer: string): unknown {
  const parts = pointer.split("/").slice(1);
  return parts.reduce<unknown>((at, part) => {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    return typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined;
  }, json);
}
