import { cleanExternalLine, type Disposable, type PluginContext, type Tool } from "svc/sdk";
import { approve, needsApproval } from "./approval.ts";
import { foreignFailure, toToolResult } from "./content.ts";
import { describeTool, toolInput } from "./foreign-tool.ts";
import type { ListedTool, Progress } from "./library.ts";
import { agentNames } from "./names.ts";
import { readingTools, registerReadingTools } from "./reading-tools.ts";
import type { ServerLink } from "./server-link.ts";

/** Time that a call may wait for a person, on top of its own limit. */
const APPROVAL_MS = 130_000;
/** Lists change in bursts; agents get the new tools with their next run. */
const SETTLE_MS = 300;

interface Registered {
  link: ServerLink;
  tool: ListedTool;
  handle: Disposable;
}

/** Tools of all servers, as agents get them. */
export class ToolSet {
  readonly #ctx: PluginContext;
  readonly #links: () => Iterable<ServerLink>;
  readonly #calls: Set<RunningCall>;
  #registered = new Map<string, Registered>();
  #reading: Disposable | undefined;
  #timer: Disposable | undefined;

  constructor(ctx: PluginContext, links: () => Iterable<ServerLink>, calls: Set<RunningCall>) {
    this.#ctx = ctx;
    this.#links = links;
    this.#calls = calls;
  }

  /** Names of the tools of one server, as agents know them. */
  namesOf(link: ServerLink): string[] {
    return [...this.#registered].flatMap(([name, one]) => (one.link === link ? [name] : []));
  }

  /** Registers what came and takes back what went, soon. */
  refresh(): void {
    this.#timer ??= this.#ctx.timers.setTimeout(() => {
      this.#timer = undefined;
      this.apply();
    }, SETTLE_MS);
  }

  /** The same at once. */
  apply(): void {
    const wanted = this.#wanted();
    for (const [name, { handle, link, tool }] of this.#registered) {
      const next = wanted.get(name);
      if (next && next.link === link && sameTool(next.tool, tool)) continue;
      void handle.dispose();
      this.#registered.delete(name);
    }
    for (const [name, { link, tool }] of wanted) {
      if (this.#registered.has(name)) continue;
      const handle = this.#ctx.registerTool(toolOf(this.#ctx, { name, link, tool, calls: this.#calls }));
      this.#registered.set(name, { link, tool, handle });
    }
    const canRead = [...this.#links()].some(({ offers }) => offers.resources || offers.prompts);
    if (canRead) this.#reading ??= registerReadingTools(this.#ctx, this.#links);
    else {
      void this.#reading?.dispose();
      this.#reading = undefined;
    }
  }

  #wanted(): Map<string, { link: ServerLink; tool: ListedTool }> {
    const all = [...this.#links()].flatMap((link) => link.tools.map((tool) => ({ link, tool })));
    const names = agentNames(
      all.map(({ link, tool }) => ({ server: link.settings.name, tool: tool.name })),
      readingTools,
    );
    return new Map(all.flatMap((one, i) => (names[i] === undefined ? [] : [[names[i], one] as const])));
  }
}

/** A call that a server works on: a question that it asks meanwhile belongs to its session. */
export interface RunningCall {
  server: string;
  agentId: string;
  sessionKey: string;
}

interface ToolParts {
  name: string;
  link: ServerLink;
  tool: ListedTool;
  calls: Set<RunningCall>;
}

function toolOf(ctx: PluginContext, { name, link, tool, calls }: ToolParts): Tool<Record<string, unknown>> {
  const { settings } = link;
  const asks = needsApproval(settings, tool);
  return {
    name,
    description: describeTool(settings.name, tool),
    input: toolInput(tool.inputSchema),
    // A call that waits for a person is none that others should wait with.
    readOnly: tool.annotations?.readOnlyHint === true && !asks,
    timeoutMs: settings.timeoutMs + settings.startMs + APPROVAL_MS,
    async run(args, call) {
      if (asks) await approve(ctx, { settings, tool, name, args, call });
      const source = { server: settings.name, of: tool.name, hide: (text: string) => link.hide(text) };
      const running = { server: settings.name, agentId: call.agentId, sessionKey: call.sessionKey };
      calls.add(running);
      try {
        const answer = await link.callTool(tool, args, {
          signal: call.signal,
          onProgress: (progress) => call.update(progressLine(progress)),
        });
        return toToolResult(answer, source);
      } catch (error) {
        return foreignFailure(error, source, call.signal);
      } finally {
        calls.delete(running);
      }
    },
  };
}

/** Progress of a call, as those who watch the run see it. Pure. */
export function progressLine({ progress, total, message }: Progress): string {
  const share = typeof progress === "number" ? `${progress}${typeof total === "number" ? `/${total}` : ""}` : "";
  return [share, typeof message === "string" ? cleanExternalLine(message, 200) : ""].filter((part) => part !== "").join(" ");
}

function sameTool(a: ListedTool, b: ListedTool): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
