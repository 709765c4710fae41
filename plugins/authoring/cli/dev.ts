import { access } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { type CliContext, defineCommand } from "svc/sdk";
import { type DevEvent, type DevSession, openSession } from "../dev/session.ts";
import { watchFolder } from "../dev/watch-folder.ts";
import { errors } from "../errors.ts";
import { linkHost } from "../host-link.ts";

const DEBOUNCE_MS = 50;

/** `svc plugins dev [dir]`: the folder runs in the gateway and is reloaded at every edit, until Ctrl-C. */
export default defineCommand({
  path: ["plugins", "dev"],
  summary: "Run a plugin folder in the gateway and reload it at every edit",
  details: [
    "The running gateway loads the folder until it stops; the config file is not changed. Every edit below it (except in node_modules) replaces the",
    "instance: calls in progress finish on the old one, and a version that does not load leaves the old one serving. Ctrl-C ends the watching, and",
    "the plugin stays as it is until the gateway ends.",
  ].join("\n"),
  examples: [["Work on the plugin you are in", "svc plugins dev"]],
  options: { json: { kind: "flag", description: "One JSON document per line and event" } },
  positionals: [{ name: "dir", required: false }],
  rpc: true,
  async run(cli, _values, [dir = "."]) {
    const root = resolve(dir);
    // Later it may come and go; from the start it is a slip of the hand, and nothing is written there.
    await access(join(root, "svc.plugin.json")).catch((error: unknown) => {
      throw errors.notAPluginFolder({ folder: root }, { cause: error });
    });
    await linkHost(root, cli.paths.packageRoot);
    const session = await openSession(cli, root);
    try {
      await follow(cli, root, session);
      return 0;
    } finally {
      await session.close();
    }
  },
});

/** Watches before it loads: an edit during the first load is not lost, it is the next one. */
async function follow(cli: CliContext, root: string, session: DevSession): Promise<void> {
  let first: Promise<void> | undefined;
  const broken = new AbortController();
  const watch = await watchFolder(root, {
    open: cli.watchFolders,
    debounceMs: DEBOUNCE_MS,
    async onChange(files) {
      await first;
      tell(cli, await session.load(files));
    },
    onFault: (error) => broken.abort(error),
  });
  first = session.load([]).then((event) => tell(cli, event));
  try {
    await first;
    if (!cli.json) cli.stdout.line(cli.color.dim(`watching ${basename(root)}; Ctrl-C ends it`));
    const ended = AbortSignal.any([cli.signal, broken.signal]);
    await new Promise<void>((done) => {
      if (ended.aborted) done();
      else ended.addEventListener("abort", () => done(), { once: true });
    });
    broken.signal.throwIfAborted();
  } finally {
    watch.dispose();
  }
}

function tell(cli: CliContext, event: DevEvent): void {
  if (cli.json) return cli.stdout.jsonLine(event);
  const failed = event.error !== undefined;
  const what = event.files.length === 0 ? "" : ` ${cli.color.dim(shorten(event.files))}`;
  const paint = failed ? cli.color.red : event.refused.length > 0 ? cli.color.yellow : cli.color.green;
  const status = paint(event.status);
  cli.stdout.line(`${new Date().toTimeString().slice(0, 8)} ${status} ${event.id || "plugin"}${what} ${event.ms} ms`);
  for (const line of failed ? [event.error] : event.refused) cli.stdout.line(`         ${line}`);
}

function shorten(files: readonly string[]): string {
  const more = files.length - 3;
  return `${files.slice(0, 3).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
