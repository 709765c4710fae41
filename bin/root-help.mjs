import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const valued = new Set(["--profile", "--log-level"]);

const shells = new Set(["bash", "zsh", "fish"]);

/** Text for `--version`, root help, `completion` and nothing at all; undefined when a command has to run. */
export async function quickAnswer(argv) {
  const words = [];
  const flags = [];
  for (let i = 0; i < argv.length; i++) {
    if (valued.has(argv[i])) i += 1;
    else if (argv[i].startsWith("-")) flags.push(argv[i]);
    else words.push(argv[i]);
  }
  if (words.length === 2 && words[0] === "completion" && shells.has(words[1]) && flags.length === 0) {
    return readFileSync(join(root, "bin/completion", `svc.${words[1]}`), "utf8");
  }
  if (words.length > 0 && words.join(" ") !== "help") return undefined;
  const { version, description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const json = flags.includes("--json");
  if (words.length === 0 && (flags.includes("--version") || flags.includes("-V"))) {
    return json ? `${JSON.stringify({ version })}\n` : `${version}\n`;
  }
  const isHelp = words.length > 0 || flags.includes("--help") || flags.includes("-h") || argv.length === 0;
  if (!isHelp) return undefined;
  const commands = await listCommands(stateDir(argv));
  return json ? `${JSON.stringify({ version, commands }, null, 2)}\n` : helpText({ version, description, commands });
}

/** The kernel's own command, those of the bundled plugins' manifests and of the installed ones' records; no plugin code is touched. */
async function listCommands(state) {
  const own = [{ name: "gateway", description: "Run the gateway in the foreground" }];
  const lists = await Promise.all(readdirSync(join(root, "plugins")).map(readManifestCommands));
  const all = new Map(
    [...readInstalledCommands(state), ...lists.flat(), ...own].map(({ name, description }) => [name, { name, description }]),
  );
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readInstalledCommands(state) {
  try {
    const { plugins } = JSON.parse(readFileSync(join(state, "plugins/index.json"), "utf8"));
    const commands = Object.values(plugins).flatMap((record) => (record.cli ?? []).filter((c) => typeof c.name === "string"));
    return commands.map(({ name, description }) => ({ name: printable(name), description: printable(String(description ?? "")) }));
  } catch {
    return []; // nothing installed, or a record that `svc plugins doctor` complains about
  }
}

/** As `printableLine` of `sdk/text/printable.ts`, which is not loaded for help: a plugin's words do not drive the terminal. */
function printable(text) {
  return text.replace(
    /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The state directory by the rules of `kernel/process/paths.ts`, as far as help needs them. */
function stateDir(argv) {
  const set = (name) => (["", "undefined", "null"].includes(process.env[name]?.trim() ?? "") ? undefined : process.env[name].trim());
  const home = set("SVC_HOME") ?? set("HOME") ?? set("USERPROFILE") ?? homedir();
  const own = set("SVC_STATE_DIR");
  if (own) return resolve(own.replace(/^~(?=\/|$)/, home));
  const at = argv.indexOf("--profile");
  const profile = argv.includes("--dev") ? "dev" : at === -1 ? (set("SVC_PROFILE") ?? "default") : argv[at + 1];
  return join(home, profile === "default" ? ".svc" : `.svc-${profile}`);
}

async function readManifestCommands(folder) {
  let text;
  try {
    text = readFileSync(join(root, "plugins", folder, "svc.plugin.json"), "utf8");
  } catch {
    return []; // not a plugin
  }
  try {
    return JSON.parse(text).cli ?? [];
  } catch {
    return readLoosely(text);
  }
}

/** A manifest with comments; the reader for those is loaded only then. A broken one is reported by `svc plugins list`. */
async function readLoosely(text) {
  const { default: JSON5 } = await import("json5");
  try {
    return JSON5.parse(text).cli ?? [];
  } catch {
    return [];
  }
}

function helpText({ version, description, commands }) {
  const width = Math.max(...commands.map((c) => c.name.length));
  return `svc ${version}
${description}

Usage: svc [flags] <command> [flags of the command]

Commands:
${commands.map((c) => `  ${c.name.padEnd(width)}  ${c.description}`).join("\n")}

Flags:
  --profile <name>     Use the state of this profile (~/.svc-<name>)
  --dev                The same as --profile dev; its port is 19001
  --log-level <level>  trace, debug, info, warn, error or silent
  --no-color           Plain text
  --json               One JSON document on stdout, also for failures
  -h, --help           This text; svc <command> --help for one command
  -V, --version        Print the version
`;
}
