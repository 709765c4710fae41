import { texts } from "../texts/chat-more.js";
import { attach, attachedTo } from "./attached.js";
import { judge } from "./attachment-facts.js";
import { inputOf } from "./chat-models.js";
import { hello } from "./store.js";

/** @typedef {import("./attached.js").Attached} Attached */

/** Takes files to a chat's next message. @param {string} sessionKey @param {Iterable<File>} files @returns {string[]} why some were not taken */
export function takeFiles(sessionKey, files) {
  const { policy } = /** @type {import("./store.js").Hello} */ (hello.value);
  const limits = { ...policy.attachments, maxFrame: policy.maxPayload };
  const input = inputOf(sessionKey);
  /** @type {string[]} */
  const problems = [];
  for (const file of files) {
    const judged = judge(file, { limits, taken: attachedTo(sessionKey), input });
    if ("problem" in judged) problems.push(judged.problem);
    else attach(sessionKey, [{ ...judged.part, file, ...(judged.part.kind === "image" ? { preview: URL.createObjectURL(file) } : {}) }]);
  }
  return problems;
}

/** Files as the protocol has them. @param {readonly Attached[] | undefined} files undefined: those of a message that a reload came before */
export async function encode(files) {
  if (!files) throw new Error(texts.pageReloadedBefore);
  return Promise.all(
    files.map(async ({ kind, name, type, file, content = "" }) => ({
      type: kind === "text" ? "file" : kind,
      mimeType: type,
      ...(kind === "image" && !file ? {} : { fileName: name.slice(0, 255) }),
      content: await base64Of(file ?? (kind === "text" ? new Blob([content]) : content)),
    })),
  );
}

/** @param {Blob | string} data a text is in base64 already @returns {Promise<string>} */
function base64Of(data) {
  if (typeof data === "string") return Promise.resolve(data);
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(new Error(texts.fileCouldNot));
    reader.readAsDataURL(data);
  });
}
