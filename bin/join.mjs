/**
 * Writes the JavaScript of `dist/`: the modules of kernel and SDK joined into a few files in the order in which a start needs them, those of each
 * bundled plugin into one entry and its commands (kernel/adr/0020). Types and declarations are the compiler's.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import JSON5 from "json5";
import { rolldown } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Packages that every start reads, so they are joined too; any other stays a package, imported where it is used. */
const vendors = [
  "@humanwhocodes/momoa",
  "clipanion",
  "croner",
  "h3",
  "json5",
  "picocolors",
  "rou3",
  "semver",
  "srvx",
  "tapable",
  "ws",
  "zod",
];

/** Shared files and the modules they begin with; what those import comes along, unless an earlier line has it. Commands read no file behind `kernel/commands`. */
const layers = [
  { name: "kernel/program", from: ["kernel/bin.ts"] },
  { name: "sdk/connection", from: ["kernel/cli/connect.ts"] },
  { name: "sdk/config-schema", from: ["kernel/config/root-schema.ts", "kernel/config/load.ts"] },
  { name: "sdk/authoring", from: ["sdk/index.ts"] },
  { name: "sdk/shared", from: ["sdk/internal/index.ts"] },
  {
    name: "kernel/commands",
    from: [
      "kernel/cli/config-file.ts",
      "kernel/cli/found-plugins.ts",
      "kernel/cli/installed-plugins.ts",
      "kernel/config/compose-schema.ts",
    ],
  },
  { name: "kernel/listening", from: ["kernel/boot/gateway.ts", "kernel/cli/gateway-maker.ts", "kernel/cli/gateway-run.ts"] },
  { name: "kernel/assembled", from: ["kernel/boot/assemble.ts"] },
];

/** A process that runs from files of an earlier build may still want some of them. */
const KEEP_OLD_MS = 3_600_000;

/**
 * Joins the sources below `root` into `dist`. Files that did not change are not touched; those of an earlier build go, the younger ones of them only
 * with `clean`. With `failpoints` the calls stay in that tests hold, fail or kill a process at.
 */
export async function joinProduct({ sources, dist, clean, failpoints = false }) {
  const built = [];
  const paths = sources.map(toSlashes);
  const published = Object.values(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).exports);
  const entries = ["kernel/bin.ts", ...published.flatMap((entry) => entry["svc:source"]?.slice(2) ?? [])];
  const own = paths.filter((path) => !path.startsWith("plugins/"));
  built.push(...(await bundle(entries, { failpoints, chunkNames: coreChunkName, groups: layers.map(toGroup) })));
  built.push(...(await bundleThreads(own, { failpoints })));
  // The page gets the client in one file, as it gets its libraries: each file is a request of its first load.
  built.push(...(await bundle(["sdk/client/browser.ts"], { failpoints, single: true })));
  for (const id of new Set(paths.flatMap((path) => /^plugins\/([^/]+)\//.exec(path)?.[1] ?? []))) {
    const parts = paths.filter((path) => path.startsWith(`plugins/${id}/`));
    built.push(
      ...(await bundle(pluginEntries(id), { failpoints, chunkNames: () => `plugins/${id}/[name]-[hash].js`, groups: sharedInPlugin })),
    );
    built.push(...(await bundleThreads(parts, { failpoints })));
  }
  const files = new Map(built.flatMap((output) => filesOf(output)));
  files.set("THIRD-PARTY.txt", licencesOf(built));
  write(files, { dist, clean });
}

/** One module and everything it imports, as files below `dir` with the same paths; for measuring a part of the product alone. */
export async function joinPart(entry, dir) {
  const folder = posix.dirname(entry);
  const threads = readdirSync(join(root, folder)).filter((name) => name.endsWith(".worker.ts"));
  const whole = threads.map((name) => bundle([`${folder}/${name}`], { single: true }));
  const built = [...(await bundle([entry], {})), ...(await Promise.all(whole)).flat()];
  for (const [path, text] of built.flatMap((output) => filesOf(output))) put(join(dir, path), text);
}

/** Entry and modules of commands, as the manifest tells of them. */
function pluginEntries(id) {
  const folder = `plugins/${id}`;
  const manifest = JSON5.parse(readFileSync(join(root, folder, "svc.plugin.json"), "utf8"));
  const named = [manifest.entry ?? "index.ts", ...(manifest.cli ?? []).map((command) => command.module)];
  return [...new Set(named.map((path) => posix.join(folder, path)))];
}

/** Bundles code that runs in its own thread or process into one file each: it shares no memory with the rest anyway. */
async function bundleThreads(paths, options) {
  const urls = paths.flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return [...text.matchAll(/workerUrl\(import\.meta\.url, "([^"]+)"\)/g)].map(([, name]) =>
      posix.join(posix.dirname(path), `${name}.ts`),
    );
  });
  const lists = await Promise.all([...new Set(urls)].map((path) => bundle([path], { ...options, single: true })));
  return lists.flat();
}

async function bundle(entries, { failpoints, chunkNames, groups, single }) {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((path) => [path.replace(/\.ts$/, ""), join(root, path)])),
    external: isExternal,
    platform: "node",
    // The same code as native modules, of which only what is used is joined; outside a joiner they do not find each other.
    resolve: { alias: { "clipanion/lib/advanced/index.js": join(root, "node_modules/clipanion/lib/advanced/index.mjs") } },
    transform: { target: "node20.19" },
    preserveEntrySignatures: "allow-extension",
    // Half a change is the compiler's to report.
    shimMissingExports: true,
    plugins: [failpoints ? [] : withoutFailpoints, lazyLocales, lazyBuiltins, moduleUrls],
    onLog: (level, log, report) => {
      // A module may be imported lazily here and statically there; then it simply is loaded already.
      if (!["INEFFECTIVE_DYNAMIC_IMPORT", "SHIMMED_EXPORT"].includes(log.code)) report(level, log);
    },
  });
  try {
    const { output } = await build.generate({
      format: "esm",
      entryFileNames: "[name].js",
      ...(chunkNames ? { chunkFileNames: chunkNames } : {}),
      comments: false,
      sourcemap: true,
      sourcemapExcludeSources: true,
      ...(single ? { codeSplitting: false } : groups ? { codeSplitting: { groups } } : {}),
    });
    return output;
  } finally {
    await build.close();
  }
}

/** Earlier layers win. */
function toGroup({ name, from }, index) {
  return {
    name,
    test: (id) => from.includes(pathOf(id)) || (index === 0 && id.includes("rolldown/runtime")),
    priority: layers.length - index,
  };
}

/** A quick command should not get the SDK along with what it shares with a slow one. */
const sharedInPlugin = [
  { debugName: "plain", name: (id, build) => (isAlone(id, build) ? "plain" : null), minShareCount: 2, priority: 2 },
  { name: "shared", minShareCount: 2, priority: 1 },
];

/** Imports nothing but Node and files that do the same. */
function isAlone(id, build, seen = new Set()) {
  if (isBuiltin(id) || seen.has(id)) return true;
  if (isExternal(id)) return false;
  seen.add(id);
  return build.getModuleInfo(id)?.importedIds.every((next) => isAlone(next, build, seen)) ?? false;
}

function coreChunkName({ name, moduleIds }) {
  if (name.includes("/")) return "[name]-[hash].js";
  return moduleIds.some((id) => pathOf(id).startsWith("kernel/")) ? "kernel/[name]-[hash].js" : "sdk/[name]-[hash].js";
}

function isExternal(id) {
  if (isBuiltin(id)) return true;
  if (/^[./]|^[A-Za-z]:|^\0/.test(id)) return false;
  const name = id.split("/", id.startsWith("@") ? 2 : 1).join("/");
  return !vendors.includes(name);
}

/** `import.meta.url` stays that of the module, wherever its code ends up: workers and folders are found from there. */
const moduleUrls = {
  name: "module-urls",
  transform: {
    filter: { code: "import.meta.url" },
    handler(code, id) {
      if (id.includes("node_modules")) return undefined;
      return sameLines(code.replaceAll("import.meta.url", `__moduleUrl("${pathOf(id).replace(/\.ts$/, ".js")}")`));
    },
  },
  renderChunk(code, chunk) {
    if (!code.includes("__moduleUrl(")) return undefined;
    const text = code.replace(/__moduleUrl\("([^"]+)"\)/g, (_, path) => {
      if (path === chunk.fileName) return "import.meta.url";
      const way = posix.relative(posix.dirname(chunk.fileName), path);
      return `new URL("${way.startsWith(".") ? way : `./${way}`}", import.meta.url).href`;
    });
    return sameLines(text);
  },
};

/** The calls of failpoints, the one that arms them, and their name for plugins. */
const failpointLines =
  /^[ \t]*(?:await reached\((?:"[^"\n]*"|`[^`\n]*`)\);|armFailpoints\(env\);|export \{ reached \} from "\.\.\/failpoint\.ts";)[ \t]*$/gm;

/** A release has no failpoints (`sdk/failpoint.ts`); `built-code.test.ts` looks for what is left of them. */
const withoutFailpoints = {
  name: "without-failpoints",
  transform: {
    filter: { id: { exclude: /node_modules/ }, code: /reached\(|reached \}|armFailpoints/ },
    handler: (code) => sameLines(code.replace(failpointLines, "")),
  },
};

/** zod exports its messages in fifty languages, 340 KB that no start needs; each is read when it is asked for. */
const lazyLocales = {
  name: "lazy-locales",
  load: {
    filter: { id: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ },
    handler(id) {
      const named = [...readFileSync(id, "utf8").matchAll(/^export \{ default as (\w+) \} from "\.\/([\w-]+)\.js";$/gm)];
      if (named.length === 0) return undefined;
      const lines = named.map(([, name, file]) => `export const ${name} = () => load("zod/v4/locales/${file}.cjs").default();`);
      return [`import { createRequire } from "node:module";`, "const load = createRequire(import.meta.url);", ...lines].join("\n");
    },
  },
};

/** ws asks for modules of Node that only `wss:` and compression need; a client on its own machine pays for them with a tenth of its time. */
const lazyBuiltins = {
  name: "lazy-builtins",
  transform: {
    filter: { id: /[\\/]ws[\\/]lib[\\/]/ },
    handler(code) {
      const names = [...code.matchAll(/^const (https|tls|zlib) = require\('\1'\);$/gm)].map(([, name]) => name);
      const text = names.reduce(
        (now, name) =>
          now.replace(`const ${name} = require('${name}');`, "").replace(new RegExp(`(?<![.\\w])${name}\\.`, "g"), `require('${name}').`),
        code,
      );
      return sameLines(text);
    },
  },
};

/** Every line stays where it is, so the map of lines holds. */
function sameLines(code) {
  return { code, map: null };
}

function filesOf(output) {
  if (output.type !== "chunk") return [[output.fileName, output.source]];
  return [[output.fileName, asciiText(output.code)]];
}

/** One character beyond ASCII makes Node keep the whole file at two bytes a character. Applied last: the bundler prints escapes as what they mean. */
function asciiText(code) {
  return code.replace(/(?<!\\)(\\*)([\u0080-\uffff])/g, (_, slashes, c) => {
    const unit = `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
    // An odd one belongs to the character.
    return slashes.slice(slashes.length % 2) + unit;
  });
}

/** The licences of what is inside ask to be handed on. */
function licencesOf(built) {
  const used = new Set(
    built.flatMap(({ moduleIds = [] }) => moduleIds.map((id) => /^.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0])),
  );
  const texts = [...used]
    .filter(Boolean)
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), "utf8").trim() : ""}\n`;
    });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

/** New shared files come first and old ones go last: a process that starts meanwhile finds what its entry names. */
function write(files, { dist, clean }) {
  const isShared = (path) => /-[\w-]{8}\.js(\.map)?$/.test(path);
  for (const [path, text] of [...files].sort(([a], [b]) => Number(isShared(b)) - Number(isShared(a)))) put(join(dist, path), text);
  for (const path of ["kernel", "sdk", "plugins"].flatMap((layer) => scripts(join(dist, layer)))) {
    if (files.has(toSlashes(relative(dist, path)))) continue;
    if (clean || !isShared(path) || Date.now() - statSync(path).mtimeMs > KEEP_OLD_MS) rmSync(path);
  }
}

function put(path, text) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.new`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}

function scripts(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.js(\.map)?$|\.new$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

function pathOf(id) {
  return toSlashes(relative(root, id));
}

function toSlashes(path) {
  return path.split(sep).join("/");
}
