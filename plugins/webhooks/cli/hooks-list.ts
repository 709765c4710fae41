import { type CliContext, type CliValues, defineCommand, type ResultOf } from "svc/sdk";
import { isServed } from "./is-served.ts";
import { openOffline } from "./offline.ts";
import { credentialWords, type Delivery, localTime, type Mapping, reasonOf, stateWords } from "./text.ts";

const states = ["accepted", "running", "done", "failed", "expired"] as const;
const LIMIT = 20;

type List = Omit<ResultOf<"webhooks.list">, "counts"> & Partial<Pick<ResultOf<"webhooks.list">, "counts">>;
type Listed = List & { deliveries?: Delivery[] };

/** `svc hooks list`: mappings and presets as configured, and what came in. */
export default defineCommand({
  path: ["hooks", "list"],
  summary: "List what each path does, and the last deliveries",
  details: "Without a running gateway the config is shown; deliveries need one.",
  examples: [
    ["What went wrong", "svc hooks list --deliveries --state failed"],
    ["As JSON", "svc hooks list --deliveries --json"],
  ],
  options: {
    deliveries: { kind: "flag", description: "Include the last deliveries" },
    state: { kind: "string", description: "Only deliveries in this state", choices: states },
    limit: { kind: "integer", description: `At most this many deliveries (default ${LIMIT})`, min: 1, max: 200, placeholder: "n" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  rpc: true,
  run: async (cli, values) => {
    const wantsDeliveries = values.deliveries === true || values.state !== undefined || values.limit !== undefined;
    const isLive = wantsDeliveries || (await isServed(cli, values));
    const listed = isLive ? await readLive(cli, values, wantsDeliveries) : await readConfig(cli);
    if (cli.json) cli.stdout.json({ ok: true, source: isLive ? "gateway" : "config", ...listed });
    else await print(cli, listed, isLive);
    return 0;
  },
});

async function readLive(cli: CliContext, values: CliValues, wantsDeliveries: boolean): Promise<Listed> {
  const chosen = states.find((state) => state === values.state);
  const query = { limit: typeof values.limit === "number" ? values.limit : LIMIT, ...(chosen ? { states: [chosen] } : {}) };
  return cli.withClient(async (client) => {
    const list = await client.request("webhooks.list", {});
    return wantsDeliveries ? { ...list, deliveries: (await client.request("webhooks.recent", query)).deliveries } : list;
  });
}

async function readConfig(cli: CliContext): Promise<Listed> {
  const offline = await openOffline(cli);
  try {
    const { hooks, known } = offline;
    const found = await offline.views(cli.signal);
    return {
      enabled: hooks.enabled,
      path: hooks.path,
      presets: hooks.presets.map((id) => ({ id, isKnown: known(id) })),
      ...found,
      isolation: hooks.transforms.isolation,
    };
  } finally {
    await offline.close();
  }
}

async function print(
  cli: CliContext,
  { enabled, path, presets, mappings, problems, counts, deliveries }: Listed,
  isLive: boolean,
): Promise<void> {
  const { stdout, stderr, color } = cli;
  if (!isLive) stderr.line("Gateway not reachable — showing config only.");
  if (enabled) stdout.line(`Hooks are on, at ${await addressOf(cli, path ?? "/hooks")}`);
  else {
    stdout.line("Hooks are off. To switch them on:");
    stdout.line("  svc hooks token --rotate");
    stdout.line("  svc config set hooks.enabled true");
  }
  if (mappings.length > 0) {
    stdout.line();
    cli.stdout.table(["MAPPING", "PATH", "DOES", "OPENED BY", "TRANSFORM", "FROM"], mappings.map(mappingRow));
  } else if (enabled) stdout.line("No mappings: only wake and agent are answered.");
  for (const { id } of presets.filter(({ isKnown }) => !isKnown && enabled)) {
    stderr.line(color.yellow(`preset "${id}": no plugin brings it`));
  }
  for (const problem of problems) stderr.line(color.yellow(problem));
  if (counts) {
    const { accepted, running, failed, expired } = counts;
    stdout.line();
    stdout.line(`Deliveries: ${accepted} waiting, ${running} running, ${failed} failed, ${expired} expired`);
  }
  if (!deliveries) return;
  if (deliveries.length === 0) stdout.line("None to show.");
  else cli.stdout.table(["ACCEPTED", "STATE", "PATH", "AGENT", "TRIES", "UID", "WHY"], deliveries.map(deliveryRow));
}

async function addressOf(cli: CliContext, path: string): Promise<string> {
  const { url } = await cli.target();
  return `${url.replace(/^ws/, "http").replace(/(?<!\/)\/+$/, "")}${path}`;
}

function mappingRow({ id, path, source, action, verify, transform, preset, broken }: Mapping): string[] {
  const where = `${path ?? "any"}${source === undefined ? "" : ` (source ${source})`}`;
  const from = preset === undefined ? "config" : `preset ${preset}`;
  return [id, where, action, credentialWords(verify), transform ?? "–", broken === undefined ? from : `${from}, broken: ${broken}`];
}

function deliveryRow(delivery: Delivery): string[] {
  const { createdAt, path, name, agentId, attempt, uid } = delivery;
  const where = name === undefined ? path : `${path} (${name})`;
  return [localTime(createdAt), stateWords(delivery), where, agentId, String(attempt), uid, reasonOf(delivery) ?? ""];
}
