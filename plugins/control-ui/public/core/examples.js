import { texts } from "../texts/frame.js";

/**
 * Three questions that the notes of this workspace can answer, made from the names of its files. Pure.
 * @param {ReadonlyArray<{ path: string, mtime: number }> | undefined} files
 * @returns {string[]}
 */
export function exampleQuestions(files) {
  const list = files ?? [];
  const topics = list.filter((f) => !isDated(f.path) && topicOf(f.path) !== undefined);
  const daily = list.filter((f) => isDated(f.path)).sort((a, b) => (a.path < b.path ? 1 : -1));
  const questions = spread(topics.map((f) => /** @type {string} */ (topicOf(f.path)))).map((topic, i) => asQuestion(topic, i));
  const newest = daily[0] && /(\d{4}-\d{2}-\d{2})/.exec(daily[0].path)?.[1];
  if (newest) questions.splice(2, 0, texts.whatHappenedOn(newest));
  return [...questions, ...general].slice(0, 3);
}

const general = [texts.doYouKnow, texts.didIDecide, texts.stillOpen];

/** @param {string} topic @param {number} i */
function asQuestion(topic, i) {
  return i % 2 === 0 ? texts.whatNotesSay(topic) : texts.whatIsImportant(topic);
}

/** Two topics from different folders where there are some. @param {string[]} topics */
function spread(topics) {
  const unique = [...new Set(topics)];
  return unique.length < 3 ? unique : [/** @type {string} */ (unique[0]), /** @type {string} */ (unique[Math.floor(unique.length / 2)])];
}

/** @param {string} path */
function isDated(path) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.endsWith(".md") && /\d{4}-\d{2}-\d{2}/.test(name);
}

/** `memory/home/router-and-wifi.md` → "router and wifi". @param {string} path */
function topicOf(path) {
  const name = path.split("/").at(-1)?.replace(/\.md$/i, "") ?? "";
  if (/^(memory|readme|index|dreams|agents|soul|tools|identity|user|heartbeat)$/i.test(name)) return undefined;
  const words = name.replace(/[-_]+/g, " ").trim();
  if (words.length < 3) return undefined;
  const folder = path.split("/").at(-2) ?? "";
  const saysMore = words.split(" ").length < 3 && folder !== "" && !/^(memory|notes|topics|people|projects|.*s)$/i.test(folder);
  return saysMore && !words.includes(folder) ? `${folder.replace(/[-_]+/g, " ")} ${words}` : words;
}
