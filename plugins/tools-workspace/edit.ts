import { isUtf8 } from "node:buffer";
import { type Tool, z } from "svc/sdk";
import { type FoundFile, replaceContained } from "svc/sdk/internal";
import type { Places } from "./place.ts";
import { replaceText } from "./replace-text.ts";
import { orRefused, Refusal, refused, texts } from "./result.ts";
import { MAX_WRITTEN_BYTES } from "./write.ts";

const input = z.strictObject({
  path: z.string().min(1).max(4_096).describe("Path below the workspace."),
  oldText: z.string().describe("Text to replace, exactly as it is in the file; it must occur once."),
  newText: z.string().describe("Text to put in its place."),
  all: z.boolean().optional().describe("Replace every occurrence."),
});
type Input = z.output<typeof input>;

const BOM = "\ufeff";

/** `edit`: replaces a piece of a file. */
export function editTool(places: Places): Tool<Input> {
  return {
    name: "edit",
    description:
      "Replaces a piece of a text file of the workspace. oldText must match exactly and occur once, unless all is set. Returns the difference.",
    input,
    run: (args, call) =>
      orRefused(async () => {
        const place = await places.toWrite(call.agentId, args.path);
        let diff = "";
        let count = 0;
        try {
          const hash = await replaceContained(place.root, place.parts, (before) => {
            call.signal.throwIfAborted();
            const changed = edited(before, args);
            ({ diff, count } = changed);
            return changed.text;
          });
          const times = count === 1 ? "" : `, ${count} places`;
          return texts([`Edited ${place.shown}${times}, sha256 ${hash}`, diff], { path: place.shown, count, hash });
        } catch (error) {
          if (error instanceof Refusal) return refused(`${place.shown}: ${error.message}`);
          throw error;
        }
      }),
  };
}

function edited(before: FoundFile | undefined, { oldText, newText, all }: Input): { text: string; diff: string; count: number } {
  if (!before) throw new Refusal("there is no such file; use write to make it");
  if (before.bytes.length > MAX_WRITTEN_BYTES) throw new Refusal(`has ${before.bytes.length} bytes; expected at most ${MAX_WRITTEN_BYTES}`);
  if (before.bytes.includes(0) || !isUtf8(before.bytes)) throw new Refusal("is no UTF-8 text, so it is left as it is");
  const whole = before.bytes.toString("utf8");
  const bom = whole.startsWith(BOM) ? BOM : "";
  const replaced = replaceText(whole.slice(bom.length), { oldText, newText, ...(all === undefined ? {} : { all }) });
  if ("problem" in replaced) throw new Refusal(replaced.problem);
  const text = bom + replaced.text;
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_WRITTEN_BYTES) throw new Refusal(`would have ${bytes} bytes; expected at most ${MAX_WRITTEN_BYTES}`);
  return { text, diff: replaced.diff, count: replaced.count };
}
