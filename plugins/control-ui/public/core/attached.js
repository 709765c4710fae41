import { signal } from "@preact/signals";

/**
 * Files that go with the next message of each chat. They live as long as the tab: a browser does not let a page read them again after a reload.
 *
 * @typedef {import("./turns.js").Part & { size: number, file?: Blob, preview?: string }} Attached
 *   `file` holds its bytes where `content` does not; `preview`: address of a picture, taken back when it is removed
 */

const lists = signal(/** @type {Readonly<Record<string, Attached[]>>} */ ({}));

/** @param {string} sessionKey @returns {Attached[]} */
export function attachedTo(sessionKey) {
  return lists.value[sessionKey] ?? [];
}

/** @param {string} sessionKey @param {Attached[]} files */
export function attach(sessionKey, files) {
  lists.value = { ...lists.value, [sessionKey]: [...attachedTo(sessionKey), ...files] };
}

/** @param {string} sessionKey @param {Attached} file */
export function detach(sessionKey, file) {
  if (file.preview) URL.revokeObjectURL(file.preview);
  lists.value = { ...lists.value, [sessionKey]: attachedTo(sessionKey).filter((other) => other !== file) };
}

/** Takes all files of a chat, for a message that leaves now. @param {string} sessionKey @returns {Attached[]} */
export function takeAttached(sessionKey) {
  const files = attachedTo(sessionKey);
  for (const { preview } of files) if (preview) URL.revokeObjectURL(preview);
  const { [sessionKey]: _, ...others } = lists.value;
  lists.value = others;
  return files.map(({ preview: __, ...file }) => file);
}
