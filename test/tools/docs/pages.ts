import { type SchemaNode, type SchemaRow, schemaRows } from "./schema-rows.ts";
import { code, page, table } from "./table.ts";

/** Values of the code that the reference pages are written from. */
export interface ReferenceInput {
  config: SchemaNode;
  /** JSON Schema of each plugin's own config, by plugin id. */
  pluginConfigs: Record<string, SchemaNode>;
  methods: Record<string, { scope: string; about: string; params: SchemaNode }>;
  /** Method → plugin that answers it. */
  methodOwners: Record<string, string>;
  events: Record<string, { scope: string; droppable: boolean; about: string }>;
  hooks: Record<string, { kind: string; timeoutMs: number; permissions: readonly string[]; filters: readonly string[]; about: string }>;
  errors: ReadonlyArray<{
    code: string;
    owner: string;
    message: string;
    http: number;
    rpc: string;
    details?: string;
    exit?: number;
    retryable?: boolean;
  }>;
}

/** File name → content. */
export function referencePages(input: ReferenceInput): Map<string, string> {
  return new Map([
    ["config.md", configPage(input)],
    ["methods.md", methodsPage(input)],
    ["events.md", eventsPage(input)],
    ["hooks.md", hooksPage(input)],
    ["errors.md", errorsPage(input)],
  ]);
}

function configPage({ config, pluginConfigs }: ReferenceInput): string {
  const sections = Object.entries(config.properties ?? {}).map(([section, node]) => {
    const rows = schemaRows({ properties: { [section]: node } });
    return `## ${section}\n\n${configTable(rows)}`;
  });
  const plugins = Object.entries(pluginConfigs)
    .filter(([, schema]) => Object.keys(schema.properties ?? {}).length > 0)
    .map(([id, schema]) => `## plugins.entries.${id}.config\n\n${configTable(schemaRows({ reload: "plugin", ...schema }))}`);
  return page(
    "Config keys",
    "The file is JSON5; unknown keys are errors. A duration is a number of the unit that its key names, or a text such as `30s` or `1h30m`; a size is a number of bytes or a text such as `20mb` (powers of 1000). A SecretRef is `{source, provider, id}` and says where a secret is kept.",
    [
      "**Live change**: what happens when the value is changed in the file of a running gateway.",
      "",
      "- `none`: the next one who reads the value sees it.",
      "- `hot`: the part that uses it takes it over.",
      "- `plugin`, `channel`: that plugin or channel is replaced, the others go on.",
      "- `restart`: the gateway restarts; `gateway.reload.mode` says whether by itself.",
    ].join("\n"),
    ...sections,
    ...plugins,
  );
}

function configTable(rows: SchemaRow[]): string {
  return table(
    ["Key", "Type", "Default", "Live change", "Remark"],
    rows.map((row) => [code(row.path), row.type, code(row.default), row.reload || "restart", row.note]),
  );
}

function methodsPage({ methods, methodOwners }: ReferenceInput): string {
  const names = Object.keys(methods);
  const overview = table(
    ["Method", "Scope", "Answered by", "What it does"],
    names.map((name) => {
      const method = methods[name] as ReferenceInput["methods"][string];
      return [code(name), method.scope, methodOwners[name] ?? "kernel", method.about];
    }),
  );
  const params = names
    .map((name) => ({ name, rows: schemaRows((methods[name] as ReferenceInput["methods"][string]).params) }))
    .filter(({ rows }) => rows.length > 0)
    .map(
      ({ name, rows }) =>
        `## ${name}\n\n${table(
          ["Parameter", "Type", "Needed", "Remark"],
          rows.map((row) => [code(row.path), row.type, row.required ? "yes" : "", row.note]),
        )}`,
    );
  return page(
    "Protocol methods",
    "Requests of the control protocol. Parameters are closed: an unknown one is refused. Results may gain fields at any time.",
    overview,
    ...params,
  );
}

function eventsPage({ events }: ReferenceInput): string {
  return page(
    "Protocol events",
    "A receiver needs the scope named here (`none`: every connection that has shaken hands). A droppable event may be left out for a receiver that reads too slowly; the gap shows in `seq`. Events of plugins are called `plugin.<id>.<name>`.",
    table(
      ["Event", "Scope", "Droppable", "When"],
      Object.entries(events).map(([name, event]) => [code(name), event.scope, event.droppable ? "yes" : "", event.about]),
    ),
  );
}

function hooksPage({ hooks }: ReferenceInput): string {
  return page(
    "Hooks",
    [
      "What a plugin can listen to with `ctx.on(name, handler)`.",
      "",
      "- `gate`: the first `{ block: true, reason }` refuses; a handler that throws, takes too long or answers with something else refuses too.",
      "- `claim`: the first `{ handled: true, … }` wins; a handler that fails is skipped.",
      "- `modify`: each handler may return a new value of the same shape; a handler that fails leaves the value as it was.",
      "- `observe`: results are ignored, all handlers are waited for.",
      "- `collect`: handlers call `report(item)`; a failure reports `{ ok: false }`.",
      "- `sync`: like `modify`, but nothing is waited for.",
      "",
      "A handler that fails three times in a row within ten minutes is not called for five minutes; a gate of it keeps refusing. The time-out is",
      "`timeoutMs` of the options, and `plugins.entries.<id>.hooks` beats it. Options `priority`, `filter` and `id` are described at `HookOptions`.",
    ].join("\n"),
    table(
      ["Hook", "Kind", "Time-out", "Permissions", "Filters", "When"],
      Object.entries(hooks).map(([name, hook]) => [
        code(name),
        hook.kind,
        hook.timeoutMs > 0 ? `${hook.timeoutMs / 1000} s` : "",
        hook.permissions.map(code).join(" "),
        hook.filters.map(code).join(" "),
        hook.about,
      ]),
    ),
  );
}

function errorsPage({ errors }: ReferenceInput): string {
  const sorted = [...errors].sort((a, b) => a.owner.localeCompare(b.owner, "en") || (a.code < b.code ? -1 : 1));
  return page(
    "Error codes",
    "A code means one thing for ever. `details` is what stands in `error.details.code` on the wire; `exit` is the exit code of a command that fails with it.",
    table(
      ["Code", "Defined by", "Message", "HTTP", "Protocol", "details", "Exit", "Retry"],
      sorted.map((e) => [
        code(e.code),
        e.owner,
        e.message.replaceAll("<", "&lt;"),
        String(e.http),
        e.rpc,
        code(e.details ?? ""),
        e.exit === undefined ? "" : String(e.exit),
        e.retryable ? "yes" : "",
      ]),
    ),
  );
}
