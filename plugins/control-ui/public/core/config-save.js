import { texts } from "../texts/config-more.js";
import { base, config, edits, foreign, isSaving, issues, mine } from "./config.js";
import { patchOf } from "./config-diff.js";
import { takeForeign } from "./config-draft.js";
import { formatPath } from "./config-paths.js";
import { isConflict, issuesOf, patchConfig, readConfig } from "./config-write.js";
import { request } from "./conn.js";

/** Changes whose way into force is asked of the gateway before a save. */
const MOST_LOOKUPS = 24;

/** How each change comes into force, as the gateway says it. @param {import("./config-types.js").Change[]} list @returns {Promise<Map<string, string>>} */
export async function reloadKinds(list) {
  const asked = list.slice(0, MOST_LOOKUPS).map(async ({ path }) => {
    const written = formatPath(path);
    const answer = await request("config.schema.lookup", { path: written }).catch(() => undefined);
    return /** @type {[string, string]} */ ([written, answer?.reloadKind ?? ""]);
  });
  return new Map(await Promise.all(asked));
}

/**
 * Saves what was changed and nothing else.
 * @returns {Promise<import("./config-write.js").Written | "conflict">} `conflict`: the edits lie on top of the other's config now, to be looked at again
 * @throws {import("svc/sdk/client").ClientError}
 */
export async function save() {
  const { patch, replacePaths, hidden } = patchOf(base.value?.parsed ?? {}, mine.value);
  if (hidden.length > 0) {
    issues.value = hidden.map((path) => ({
      path,
      message: texts.hiddenSecretWould,
    }));
    throw new Error(texts.holdsSecretPage(hidden[0]));
  }
  issues.value = [];
  isSaving.value = true;
  try {
    const written = await patchConfig(patch, base.value?.hash ?? "", { replacePaths });
    edits.value = new Map();
    await reread();
    issues.value = written.issues ?? [];
    return written;
  } catch (error) {
    if (!isConflict(error)) {
      issues.value = issuesOf(error);
      throw error;
    }
    foreign.value = await readConfig();
    takeForeign();
    return "conflict";
  } finally {
    isSaving.value = false;
  }
}

/** Reads the config that was just written. */
export async function reread() {
  await config.read();
  foreign.value = undefined;
  if (config.answer.value) base.value = config.answer.value;
}
