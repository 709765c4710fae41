import { isSvcError, messageOf } from "../../sdk/errors.ts";
import { formatIssues } from "../../sdk/json-schema.ts";
import type { UiPanel, UiSubject } from "../../sdk/types/ui-panel.ts";
import { kernelErrors } from "../errors.ts";
import { type PanelContent, panelContent } from "./ui-blocks.ts";

const LOAD_MS = 10_000;
const MAX_BYTES = 262_144;
/** Weight of a value beside its texts: with it also empty lists without end come to an end. */
const NODE_BYTES = 8;

interface PanelOf {
  plugin: string;
  panel: string;
  load: NonNullable<UiPanel["load"]>;
  /** Does the plugin serve this method? Forms and commands call nobody else's. */
  serves(method: string): boolean;
}

/**
 * Loads a data panel within its limits of time and size, and checks that the page can draw what came.
 * @param limits for tests
 * @throws {SvcError} `panel-timeout`, `panel-too-large`, `panel-invalid`, `panel-failed`, and whatever its plugin throws by name
 */
export async function loadPanel(
  of: PanelOf,
  call: { signal: AbortSignal; subject: UiSubject },
  { ms = LOAD_MS, bytes = MAX_BYTES } = {},
): Promise<PanelContent> {
  const { plugin, panel } = of;
  const answer = await withinTime(of, call, ms);
  const content = checkContent(answer, of, bytes);
  for (const [i, block] of content.blocks.entries()) {
    const isForeign = (block.kind === "form" || block.kind === "command") && !of.serves(block.method);
    if (isForeign) {
      const issues = `at blocks.${i}.method: "${block.method}" is no method of this plugin; register it with ctx.registerRpc`;
      throw kernelErrors.panelInvalid({ plugin, panel, issues });
    }
  }
  return content;
}

async function withinTime({ plugin, panel, load }: PanelOf, { signal, subject }: Parameters<PanelOf["load"]>[0], ms: number) {
  const limit = AbortSignal.timeout(ms);
  const either = AbortSignal.any([signal, limit]);
  let end = () => undefined as void;
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(either.reason);
  });
  either.addEventListener("abort", end, { once: true });
  try {
    either.throwIfAborted();
    const loading = Promise.resolve(load({ signal: either, subject }));
    loading.catch(() => undefined); // it may fail after nobody waits any more
    return await Promise.race([loading, ended]);
  } catch (error) {
    if (limit.aborted) throw kernelErrors.panelTimeout({ plugin, panel, seconds: ms / 1_000 });
    if (isSvcError(error) || signal.aborted) throw error;
    throw kernelErrors.panelFailed({ plugin, panel, reason: messageOf(error) }, { cause: error });
  } finally {
    either.removeEventListener("abort", end);
  }
}

function checkContent(answer: unknown, { plugin, panel }: PanelOf, bytes: number): PanelContent {
  const tooLarge = () => kernelErrors.panelTooLarge({ plugin, panel, limit: bytes });
  let issues: string;
  try {
    if (isHeavier(answer, bytes)) throw tooLarge();
    const parsed = panelContent.safeParse(answer);
    if (parsed.success) {
      if (Buffer.byteLength(JSON.stringify(parsed.data)) > bytes) throw tooLarge();
      return parsed.data;
    }
    issues = formatIssues(parsed.error.issues);
  } catch (error) {
    if (isSvcError(error)) throw error;
    issues = messageOf(error); // a value that throws when it is read
  }
  throw kernelErrors.panelInvalid({ plugin, panel, issues });
}

/** True as soon as a value is known to weigh more; a value that contains itself does. */
function isHeavier(value: unknown, bytes: number): boolean {
  let left = bytes;
  const open: unknown[] = [value];
  while (open.length > 0 && left >= 0) {
    const one = open.pop();
    left -= typeof one === "string" ? one.length : NODE_BYTES;
    if (typeof one !== "object" || one === null) continue;
    const members = Array.isArray(one) ? one : Object.values(one);
    if (members.length > left) return true;
    for (const member of members) open.push(member);
  }
  return left < 0;
}
