import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Deed of one command of the fake instead of its work, or before it. */
export interface EngineDeed {
  /** Never ends, and starts a program that never ends either. */
  hang?: boolean;
  delayMs?: number;
  /** Ends with this code. */
  exit?: number;
  stdout?: string;
  stderr?: string;
  /** Prints without end. */
  flood?: boolean;
  /** Writes beside its index until the disk is full, and goes on. */
  fill?: boolean;
  /** Ends itself by SIGKILL, in the middle of its work. */
  killed?: boolean;
  /** Only the first so many calls. */
  times?: number;
}

/** Behaviour of the fake engine. Deeds stand by command: `search`, `update`, `embed`, `status`, `collection add` … */
export interface EngineBehaviour {
  deeds?: Record<string, EngineDeed>;
  /** Vectors that `status` tells; default 0. */
  vectors?: number;
  /** Name of the flag for patterns; others are ignored, as unknown flags are. Default both. */
  patternFlag?: "--mask" | "--glob";
  /** Takes one collection a search, as older releases. */
  oneCollection?: boolean;
  /** Hits carry an id and no file. */
  idsOnly?: boolean;
}

/** One call of the engine. */
export interface EngineCall {
  argv: string[];
  cwd: string;
  pid: number;
  env: Record<string, string>;
  /** Names of the gateway's own variables that it was given. */
  leaked: string[];
}

/** A stand-in for the engine with its command line and its outputs (recorded with 2.8.3), for tests of who runs it. */
export interface FakeEngine {
  /** Path of its program. */
  command: string;
  behave(behaviour: EngineBehaviour): Promise<void>;
  /** Calls in order, of one command where it is named: `search`, `collection add`. */
  calls(command?: string): Promise<EngineCall[]>;
}

/** Puts the program into a folder. Several may share one. */
export async function fakeSidecarEngine(folder: string, behaviour: EngineBehaviour = {}): Promise<FakeEngine> {
  await mkdir(folder, { recursive: true });
  const command = join(folder, "qmd");
  const [log, state] = [join(folder, "calls.jsonl"), join(folder, "behaviour.json")];
  const places = `const LOG = ${JSON.stringify(log)}, STATE = ${JSON.stringify(state)};`;
  await writeFile(command, `#!${process.execPath}\n${places}\n${program}`);
  await chmod(command, 0o700);
  const behave = async (next: EngineBehaviour) => {
    await writeFile(`${state}.new`, JSON.stringify(next));
    await rename(`${state}.new`, state);
  };
  await behave(behaviour);
  return {
    command,
    behave,
    async calls(name) {
      const text = await readFile(log, "utf8").catch(() => "");
      const all = text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as EngineCall);
      return name === undefined ? all : all.filter(({ argv }) => `${argv.join(" ")} `.startsWith(`${name} `));
    },
  };
}

const program = String.raw`
const fs = require("node:fs");
const path = require("node:path");
const { spawn } = require("node:child_process");
const { createHash } = require("node:crypto");
const argv = process.argv.slice(2);
const behaviour = JSON.parse(fs.readFileSync(STATE, "utf8"));
const shown = ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "QMD_CONFIG_DIR", "NO_COLOR", "QMD_EMBED_MODEL", "QMD_RERANK_MODEL", "QMD_GENERATE_MODEL", "OWN_VARIABLE"];
const env = Object.fromEntries(shown.filter((name) => name in process.env).map((name) => [name, process.env[name]]));
const leaked = Object.keys(process.env).filter((name) => name.startsWith("SVC_"));
fs.appendFileSync(LOG, JSON.stringify({ argv, cwd: process.cwd(), pid: process.pid, env, leaked }) + "\n");

const name = argv[0] === "collection" ? "collection " + argv[1] : argv[0];
const deed = deedOf(name);

function deedOf(name) {
  const deed = (behaviour.deeds || {})[name];
  if (!deed || deed.times === undefined) return deed || {};
  const calls = fs.readFileSync(LOG, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line).argv.join(" ") + " ");
  return calls.filter((call) => call.startsWith(name + " ")).length <= deed.times ? deed : {};
}

const cache = path.join(process.env.XDG_CACHE_HOME, "qmd");
const file = path.join(cache, "index.sqlite");
const yml = path.join(process.env.QMD_CONFIG_DIR, "index.yml");
const read = () => (fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : { collections: [], docs: [] });
function write(index) {
  const temp = file + "." + process.pid;
  fs.writeFileSync(temp, JSON.stringify(index));
  if (deed.killed) process.kill(process.pid, "SIGKILL");
  fs.renameSync(temp, file);
}

/** Writes beside the index until the disk takes no more. */
function fillDisk() {
  try {
    for (;;) fs.appendFileSync(path.join(cache, "log"), Buffer.alloc(64 * 1024, 1));
  } catch (error) {
    if (error.code !== "ENOSPC") throw error;
  }
}

/** On first use the models in force are written down, and hold from then on. */
function rememberModels() {
  if (fs.existsSync(yml)) return;
  const of = (use, or) => "  " + use + ": " + (process.env["QMD_" + use.toUpperCase() + "_MODEL"] || or) + "\n";
  fs.writeFileSync(yml, "collections: {}\nmodels:\n" + of("embed", "hf:default-embed") + of("generate", "hf:default-generate") + of("rerank", "hf:default-rerank"));
}

function end(code, out = "", err = "") {
  process.stdout.write(out, () => process.stderr.write(err, () => process.exit(code)));
}

const flag = (flagName) => (argv.includes(flagName) ? argv[argv.indexOf(flagName) + 1] : undefined);

function globRegex(glob) {
  const text = glob.replace(/[.+^{}()|[\]\\]/g, "\\$&").replace(/\*\*\//g, "\u0001").replace(/\*/g, "[^/]*").replace(/\u0001/g, "(?:.*/)?");
  return new RegExp("^" + text + "$");
}

function filesOf({ root, pattern }) {
  const regex = globRegex(pattern);
  return fs.readdirSync(root, { recursive: true }).map(String).filter((name) => regex.test(name) && fs.statSync(path.join(root, name)).isFile());
}

function indexed(index) {
  const docs = index.collections.flatMap((one) =>
    filesOf(one).map((name) => {
      const text = fs.readFileSync(path.join(one.root, name), "utf8");
      return { collection: one.name, path: name.replace(/[^A-Za-z0-9./_-]+/g, "-"), text, hash: createHash("sha256").update(text).digest("hex") };
    }),
  );
  return { ...index, docs };
}

const commands = {
  "collection list"() {
    const { collections } = read();
    const blocks = collections.map((c) => c.name + " (qmd://" + c.name + "/)\n  Pattern:  " + c.pattern + "\n  Files:    1\n  Updated:  1s ago\n");
    end(0, "Collections (" + collections.length + "):\n\n" + blocks.join("\n"));
  },
  "collection show"() {
    const found = read().collections.find((c) => c.name === argv[2]);
    if (!found) return end(1, "", "Collection not found: " + argv[2] + "\n");
    end(0, "Collection: " + found.name + "\n  Path:     " + found.root + "\n  Pattern:  " + found.pattern + "\n  Include:  yes (default)\n");
  },
  "collection add"() {
    const index = read();
    const root = argv[2];
    const wanted = flag("--name");
    const names = behaviour.patternFlag ? [behaviour.patternFlag] : ["--mask", "--glob"];
    const pattern = names.map(flag).find((value) => value !== undefined) || "**/*.md";
    if (!fs.existsSync(root)) return end(1, "", "Path does not exist: " + root + "\n");
    if (index.collections.some((c) => c.name === wanted)) return end(1, "", "Collection '" + wanted + "' already exists.\n");
    const twin = index.collections.find((c) => c.root === root && c.pattern === pattern);
    if (twin) return end(1, "", "A collection already exists for this path and pattern:\n  Name: " + twin.name + " (qmd://" + twin.name + "/)\n");
    index.collections.push({ name: wanted, root, pattern });
    write(indexed(index));
    end(0, "Creating collection '" + wanted + "'...\nIndexed: 1 new, 0 updated, 0 unchanged, 0 removed\n✓ Collection '" + wanted + "' created successfully\n");
  },
  "collection remove"() {
    const index = read();
    if (!index.collections.some((c) => c.name === argv[2])) return end(1, "", "Collection not found: " + argv[2] + "\n");
    index.collections = index.collections.filter((c) => c.name !== argv[2]);
    write(indexed(index));
    end(0, "✓ Removed collection\n");
  },
  update() {
    const index = read();
    write(indexed(index));
    end(0, index.collections.map((c, i) => "[" + (i + 1) + "/" + index.collections.length + "] " + c.name + " (" + c.pattern + ")\nIndexed: 0 new\n").join("") + "✓ All collections updated.\n");
  },
  embed: () => end(0, "✓ Done\n"),
  status() {
    const { docs } = read();
    end(0, "QMD Status\n\nDocuments\n  Total:    " + docs.length + " files indexed\n  Vectors:  " + (behaviour.vectors || 0) + " embedded\n  Pending:  " + docs.length + " need embedding\n");
  },
};

function search() {
  const { collections, docs } = read();
  const asked = argv.flatMap((arg, i) => (argv[i - 1] === "-c" ? [arg] : []));
  if (behaviour.oneCollection && asked.length > 1) return end(1, "", "Only a single collection can be searched at once\n");
  const unknown = asked.find((name) => !collections.some((c) => c.name === name));
  if (unknown) return end(1, "", "Collection not found: " + unknown + "\n");
  if (argv[0] === "vsearch" && !behaviour.vectors) return end(0, "[]\n", "Warning: 3 documents (100%) need embeddings.\n");
  const words = argv[1].toLowerCase().split(/\s+/).filter(Boolean);
  const hits = docs
    .filter((doc) => asked.includes(doc.collection) && words.every((word) => doc.text.toLowerCase().includes(word)))
    .map((doc) => hitOf(doc, words))
    .sort((a, b) => b.score - a.score)
    .slice(0, Number(flag("-n")));
  end(0, hits.length === 0 ? "[]\n" : JSON.stringify(hits, null, 2) + "\n");
}

function hitOf(doc, words) {
  const lines = doc.text.replace(/\n$/, "").split("\n");
  const at = lines.findIndex((line) => words.some((word) => line.toLowerCase().includes(word)));
  const from = Math.max(0, at - 1);
  const shown = lines.slice(from, from + 4);
  const header = "@@ -" + (from + 1) + "," + shown.length + " @@ (" + from + " before, " + (lines.length - from - shown.length) + " after)\n";
  const place = behaviour.idsOnly ? {} : { file: "qmd://" + doc.collection + "/" + doc.path };
  return { docid: "#" + doc.hash.slice(0, 6), score: Math.round(10000 / (1 + doc.text.length / 200)) / 10000, ...place, line: at + 1, title: doc.path, snippet: header + shown.join("\n") };
}

async function run() {
  if (argv.length === 0) return end(1, "Usage: qmd <command>\n");
  rememberModels();
  if (deed.hang) {
    spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], { stdio: "inherit" });
    setInterval(() => undefined, 1000);
    return;
  }
  if (deed.fill) fillDisk();
  if (deed.delayMs) await new Promise((resolve) => setTimeout(resolve, deed.delayMs));
  if (deed.flood) {
    const more = () => {
      while (process.stdout.write("[info] noise ".repeat(5000) + "\n"));
    };
    process.stdout.on("drain", more);
    return more();
  }
  if (deed.exit !== undefined || deed.stdout !== undefined) return end(deed.exit || 0, deed.stdout, deed.stderr);
  if (deed.killed && name !== "update") process.kill(process.pid, "SIGKILL");
  const command = commands[name] || (["search", "vsearch", "query"].includes(argv[0]) ? search : undefined);
  if (!command) return end(1, "", "Unknown command: " + argv[0] + "\n");
  command();
}
run();
`;
