import { type ModelDelta, type ModelProvider, type ModelRequest, stripFrames } from "svc/sdk";

type Call = [tool: string, args: object];
type Step = string | Call[];

/** A model that does what a good one would with the plain sentences of a person: it notes, looks up, keeps lists, plans and reads. */
export interface AssistantModel {
  provider: ModelProvider;
  /** Matters that it wrote to notes, and the day of the note. */
  noted: Map<string, string>;
  compactions: number;
}

/** Tokens that it reads at once: little, so that a day needs several summaries. */
const WINDOW = 32_000;

export function assistantModel(): AssistantModel {
  const noted = new Map<string, string>();
  let calls = 0;
  const made: AssistantModel = {
    noted,
    compactions: 0,
    provider: {
      id: "assistant",
      name: "Assistant",
      defaultModel: "one",
      models: () => [{ id: "one", name: "One", input: ["text"], contextWindow: WINDOW }],
      available: () => ({ ok: true }),
      async *stream(request) {
        if (request.system.startsWith("You shorten a conversation")) made.compactions += 1;
        const step = nextStep(request, noted);
        yield* typeof step === "string" ? said(step) : called(step, `c${++calls}`);
      },
    },
  };
  return made;
}

function* said(text: string): Generator<ModelDelta> {
  yield { type: "text", delta: text };
  yield { type: "finish", reason: "stop" };
}

function* called(calls: Call[], id: string): Generator<ModelDelta> {
  for (const [i, [name, args]] of calls.entries()) {
    yield { type: "toolCall", id: `${id}-${i}`, name, argsDelta: JSON.stringify(args) };
    yield { type: "toolCallEnd", id: `${id}-${i}` };
  }
  yield { type: "finish", reason: "tool_calls" };
}

function nextStep({ system, messages }: ModelRequest, noted: Map<string, string>): Step {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const texts = messages.map((message) =>
    message.role === "user" ? stripFrames(message.content.map((part) => ("text" in part ? part.text : "")).join("\n")) : "",
  );
  const asked = texts[at] ?? "";
  if (system.startsWith("You shorten a conversation")) return summaryOf(asked);
  const results = messages.slice(at + 1).flatMap((message) => (message.role === "tool" ? [message.text] : []));
  if (asked.includes("is about to be replaced by a summary")) return flushed(texts, asked, noted);
  for (const [pattern, answer] of replies) {
    const match = pattern.exec(asked);
    if (match) return answer(match.slice(1), results, { texts, noted });
  }
  return "I am here if you need me.";
}

interface Known {
  /** Texts of the person, as far as they are in the prompt. */
  texts: readonly string[];
  noted: Map<string, string>;
}

type Reply = (parts: string[], results: readonly string[], known: Known) => Step;

/** The last sentence of a message that fits decides. */
const replies: Array<[RegExp, Reply]> = [
  [
    /Remember that (.+) is (.+)\.$/,
    ([about = "", value = ""], [result], { noted }) => {
      if (result === undefined) return [["memory_append", { text: `${about} is ${value}.` }]];
      const path = /^Noted in (memory\/(\S+)\.md)/.exec(result);
      if (path) noted.set(about, path[2] ?? "");
      return path ? `I have noted it in ${path[1]}.` : `I could not note it: ${result}`;
    },
  ],
  [/By the way, .+\.$/, () => "Good to know."],
  [
    /Remind me in (\d+) minutes to (.+)\.$/,
    ([minutes = "", what = ""], [result]) => {
      if (result === undefined) return [["cron", { action: "add", in: `${minutes}m`, text: `Tell Ada that it is time to ${what}.` }]];
      const { next } = JSON.parse(result) as { next: { local: string; weekday: string } };
      return `I will remind you on ${next.weekday} at ${/\d\d:\d\d/.exec(next.local)?.[0]}.`;
    },
  ],
  [/Tell Ada that (it is time to .+\.)$/, ([text = ""]) => text.replace("it", "It")],
  [/Put (.+) on my list "(.+)"\.$/, ([thing = "", list = ""], results) => putOnList(list, thing, results)],
  [
    /What is on my list "(.+)"\?$/,
    ([list = ""], [result]) => (result === undefined ? [["read", { path: `lists/${list}.md` }]] : `${thingsOn(result).join(", ")}.`),
  ],
  [/What is (.+)\?$/, ([about = ""], results, known) => lookedUp(about, results, known)],
  [
    /Read (http\S+) and tell me what it is about\.$/,
    ([url = ""], [result]) =>
      result === undefined ? [["web_fetch", { url }]] : `It is about the ${/Subject: All about the (.+)/.exec(result)?.[1]}.`,
  ],
];

const thingsOn = (text: string) => [...text.matchAll(/^- (.+)$/gm)].map(([, thing = ""]) => thing);

/** A list that is there is read first and written anew with one line more; another one is begun. */
function putOnList(list: string, thing: string, [files, second, third]: readonly string[]): Step {
  const path = `lists/${list}.md`;
  if (files === undefined) return [["list", { depth: 2 }]];
  if (second === undefined) return files.includes(`${path} (`) ? [["read", { path }]] : [["write", { path, content: `- ${thing}\n` }]];
  if (second.startsWith("Wrote ")) return "It is on the list, which has 1 now.";
  const things = [...thingsOn(second), thing];
  if (third === undefined) return [["write", { path, content: `${things.map((one) => `- ${one}`).join("\n")}\n` }]];
  return third.startsWith("Wrote ") ? `It is on the list, which has ${things.length} now.` : `The list could not be written: ${third}`;
}

/** Looks in what was said, then in the notes; a passage that was cut is read as a whole. */
function lookedUp(about: string, [found, ...read]: readonly string[], { texts }: Known): Step {
  const fits = new RegExp(`${about} is ([^.\\n]+)\\.`);
  const inPassing = texts.findLast((text) => text.startsWith("By the way") && fits.test(text));
  if (inPassing !== undefined) return `${about} is ${fits.exec(inPassing)?.[1]}. You told me today.`;
  if (found === undefined) return [["memory_search", { query: about }]];
  const { results } = JSON.parse(found) as { results: Array<{ path: string; startLine: number; endLine: number; snippet: string }> };
  const hit = results.find(({ snippet }) => fits.test(snippet));
  if (hit) return `${about} is ${fits.exec(hit.snippet)?.[1]}. Source: ${hit.path}#L${hit.startLine}-L${hit.endLine}`;
  if (read.length === 0 && results.length > 0) return results.map(({ path }): Call => ["memory_get", { path }]);
  const at = read.findIndex((text) => fits.test(text));
  return at < 0 ? `I do not know ${about}.` : `${about} is ${fits.exec(read[at] ?? "")?.[1]}. Source: ${results[at]?.path}`;
}

/** Writes down what was said in passing and is not noted yet. */
function flushed(texts: readonly string[], order: string, noted: Map<string, string>): Step {
  const day = /memory\/(\d{4}-\d\d-\d\d)\.md/.exec(order)?.[1] ?? "";
  const open = texts.flatMap((text) => [...text.matchAll(/By the way, (.+) is (.+)\./g)]).filter(([, about = ""]) => !noted.has(about));
  if (open.length === 0) return "NO_REPLY";
  for (const [, about = ""] of open) noted.set(about, day);
  return open.map(([, about, value]): Call => ["memory_append", { text: `${about} is ${value}.` }]);
}

/** The newest requests of the person, and what an earlier summary had. */
function summaryOf(text: string): string {
  const asked = [...text.matchAll(/^\[User\]: (.+)$/gm)].map(([, line = ""]) => line).slice(-8);
  return `## Goal\nHelp Ada through her day: notes, lists, reminders, pages.\n## Critical context\n${asked.map((line) => `- Ada said: ${line}`).join("\n")}`;
}
