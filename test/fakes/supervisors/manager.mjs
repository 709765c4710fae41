/**
 * Supervisors of three systems, as far as svc speaks to them: `systemctl`, `loginctl`, `launchctl`, `schtasks` and `cmd`. Each call is appended to `$FAKE_LOG`;
 * what is loaded, enabled and running stands in `$FAKE_STATE`. A started definition really runs: its program is read from the definition itself.
 */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";

const [name, ...args] = process.argv.slice(2);
const { FAKE_LOG = "", FAKE_STATE = "", HOME = homedir() } = process.env;
const known = existsSync(FAKE_STATE) ? readFileSync(FAKE_STATE, "utf8") : "{}";
const state = { jobs: {}, ...JSON.parse(known) };
appendFileSync(FAKE_LOG, `${JSON.stringify([name, ...args])}\n`);

/** Ends the call; the state of the manager is kept whole, because calls that only look come two at a time. */
function answer(code, { stdout = "", stderr = "" } = {}) {
  const now = JSON.stringify(state);
  if (now !== known) {
    writeFileSync(`${FAKE_STATE}.${process.pid}`, now);
    renameSync(`${FAKE_STATE}.${process.pid}`, FAKE_STATE);
  }
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exit(code);
}

/** A job as it is known; one that is not is remembered once something is done with it. */
function job(id) {
  const looksOnly = /^(?:show|show-environment|print|print-disabled|\/Query)$/.test(args.find((arg) => !arg.startsWith("--")) ?? "");
  const fresh = { enabled: false, disabled: false, loaded: null, pid: 0, exit: 0 };
  if (looksOnly) return state.jobs[id] ?? fresh;
  state.jobs[id] ??= fresh;
  return state.jobs[id];
}

function isRunning({ pid }) {
  try {
    process.kill(pid, 0);
    return pid > 0 && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Starts a program that outlives this call, with nothing of this environment but what finds it. */
function launch(one, [command, ...rest], env, cwd) {
  const child = spawn(command, rest, { env: { HOME, ...env }, cwd: existsSync(cwd) ? cwd : HOME, detached: true, stdio: "ignore" });
  child.unref();
  one.pid = child.pid ?? 0;
}

async function end(one) {
  if (isRunning(one)) process.kill(one.pid, "SIGTERM");
  while (isRunning(one)) await new Promise((resolve) => setTimeout(resolve, 20));
  one.pid = 0;
}

function unquoted(text) {
  return text.replaceAll(/\\(.)/g, "$1").replaceAll("%%", "%").replaceAll("%h", HOME);
}

function words(text) {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain]) => unquoted(quoted ?? plain));
}

function readUnit(path) {
  const text = readFileSync(path, "utf8");
  const all = (key) => [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map((m) => m[1]);
  const pairs = all("Environment").flatMap(words);
  const file = unquoted(all("EnvironmentFile")[0] ?? "").replace(/^-/, "");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  const env = Object.fromEntries(
    [...lines, ...pairs].map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1).replaceAll(/^'|'$/g, "")]),
  );
  return { text, env, argv: words(all("ExecStart")[0] ?? ""), cwd: unquoted(all("WorkingDirectory")[0] ?? "") };
}

async function systemctl() {
  if (state.noBus) answer(1, { stderr: "Failed to connect to bus: No medium found\n" });
  const [verb, ...rest] = args.filter((arg) => arg !== "--user" && arg !== "--no-block");
  const unit = rest.find((arg) => arg.endsWith(".service")) ?? "";
  const path = join(HOME, ".config/systemd/user", unit);
  const one = job(unit);
  if (verb === "show-environment") answer(0, { stdout: `HOME=${HOME}\n` });
  if (verb === "daemon-reload") {
    for (const [id, known] of Object.entries(state.jobs)) {
      const at = join(HOME, ".config/systemd/user", id);
      known.loaded = id !== "" && existsSync(at) ? readFileSync(at, "utf8") : null;
    }
    answer(0);
  }
  if (verb === "reset-failed")
    answer(
      one.loaded === null ? 1 : 0,
      one.loaded === null ? { stderr: `Failed to reset failed state of unit ${unit}: Unit ${unit} not loaded.\n` } : {},
    );
  if (verb === "enable") one.enabled = true;
  if (verb === "disable") {
    one.enabled = false;
    if (rest.includes("--now")) await end(one);
  }
  if (verb === "stop" || verb === "restart") await end(one);
  if ((verb === "start" && !isRunning(one)) || verb === "restart") {
    if (!existsSync(path)) answer(5, { stderr: `Failed to ${verb} ${unit}: Unit ${unit} not found.\n` });
    const { text, env, argv, cwd } = readUnit(path);
    one.loaded ??= text;
    launch(one, argv, env, cwd);
  }
  if (verb === "show") {
    const active = isRunning(one) ? "active" : one.pid > 0 ? "failed" : "inactive";
    const isOld = one.loaded !== null && existsSync(path) && readFileSync(path, "utf8") !== one.loaded;
    const lines = [
      `ActiveState=${active}`,
      `MainPID=${active === "active" ? one.pid : 0}`,
      `UnitFileState=${one.enabled ? "enabled" : "disabled"}`,
      `NeedDaemonReload=${isOld ? "yes" : "no"}`,
      `ExecMainStatus=${one.exit}`,
    ];
    answer(0, { stdout: `${lines.join("\n")}\n` });
  }
  answer(0);
}

function loginctl() {
  answer(0, { stdout: `Linger=${state.linger === false ? "no" : "yes"}\n` });
}

function xmlText(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&apos;", "'").replaceAll("&amp;", "&");
}

function readAgent(path) {
  const text = readFileSync(path, "utf8");
  const inside = (key, tag) => text.slice(text.indexOf(`<key>${key}</key>`)).split(`</${tag}>`)[0] ?? "";
  const strings = (part) => [...part.matchAll(/<string>([^<]*)<\/string>/g)].map((m) => xmlText(m[1]));
  const env = [...inside("EnvironmentVariables", "dict").matchAll(/<key>([^<]*)<\/key>\s*<string>([^<]*)<\/string>/g)];
  return {
    argv: strings(inside("ProgramArguments", "array")),
    env: Object.fromEntries(env.map(([, key, value]) => [key, xmlText(value)])),
    cwd: strings(inside("WorkingDirectory", "string").concat("</string>"))[0] ?? "",
  };
}

async function launchctl() {
  const [verb, ...rest] = args;
  const target = rest.find((arg) => arg.startsWith("gui/") && arg.split("/").length === 3) ?? "";
  const label = verb === "bootstrap" ? basename(rest[1] ?? "").replace(/\.plist$/, "") : (target.split("/")[2] ?? "");
  const one = job(label);
  const path = join(HOME, "Library/LaunchAgents", `${label}.plist`);
  const missing = { stderr: "Could not find service in domain\n" };
  if (verb === "enable") one.disabled = false;
  if (verb === "disable") one.disabled = true;
  if (verb === "bootout") {
    if (one.loaded === null) answer(3, { stderr: "Boot-out failed: 3: No such process\n" });
    await end(one);
    one.loaded = null;
  }
  if (verb === "bootstrap") {
    if (one.disabled || one.loaded !== null) answer(5, { stderr: "Bootstrap failed: 5: Input/output error\n" });
    const { argv, env, cwd } = readAgent(path);
    one.loaded = readFileSync(path, "utf8");
    launch(one, argv, env, cwd);
  }
  if (verb === "kickstart") {
    if (one.loaded === null) answer(113, missing);
    if (rest.includes("-k")) await end(one);
    const { argv, env, cwd } = readAgent(path);
    if (!isRunning(one)) launch(one, argv, env, cwd);
  }
  if (verb === "print") {
    if (one.loaded === null) answer(113, missing);
    const running = isRunning(one);
    answer(0, {
      stdout: `${target} = {\n\tstate = ${running ? `running\n\tpid = ${one.pid}` : `not running\n\tlast exit code = ${one.exit}`}\n}\n`,
    });
  }
  if (verb === "print-disabled") {
    const rows = Object.entries(state.jobs).map(([id, { disabled }]) => `\t\t"${id}" => ${disabled ? "disabled" : "enabled"}`);
    answer(0, { stdout: `\tdisabled services = {\n${rows.join("\n")}\n\t}\n` });
  }
  answer(0);
}

/** Runs what `gateway.cmd` says, as the command interpreter would. */
function runBatch(one, path) {
  const rows = readFileSync(path, "utf8").split("\r\n");
  const literal = (text) => text.replaceAll("%%", "%");
  const env = Object.fromEntries(rows.flatMap((row) => (/^set "/.test(row) ? [literal(row.slice(5, -1)).split(/=(.*)/s)] : [])));
  const [, node, flags, entry, rest] =
    /^"([^"]+)" ((?:--[^ "]+ )*)"([^"]+)" (.*) < NUL$/.exec(rows.find((row) => row.startsWith('"')) ?? "") ?? [];
  const cwd = literal(/^cd \/d "(.*)"$/m.exec(rows.join("\n"))?.[1] ?? "");
  const again = rows.includes("if %ERRORLEVEL%==75 goto run") ? "[ $? -eq 75 ] || exit" : "exit";
  launch(
    one,
    [
      "/bin/sh",
      "-c",
      `while :; do "$@"; ${again}; done`,
      "cmd",
      literal(node),
      ...flags.split(" ").filter(Boolean),
      literal(entry),
      ...rest.split(" "),
    ],
    env,
    cwd,
  );
}

function schtasks() {
  const after = (flag) => args[args.indexOf(flag) + 1] ?? "";
  const id = args.includes("/TN") ? after("/TN") : "";
  const [verb] = args;
  if (verb === "/Create") {
    // Its words are in the language of the system.
    if (state.denied) answer(1, { stderr: "FEHLER: Zugriff verweigert\r\n" });
    const bytes = readFileSync(after("/XML"));
    if (bytes[0] !== 0xff || bytes[1] !== 0xfe) answer(1, { stderr: "FEHLER: (1,40)::Codierung\r\n" });
    Object.assign(job(id), { loaded: bytes.toString("utf16le").slice(1), enabled: true });
    answer(0);
  }
  if (verb === "/Query" && id === "") {
    const all = Object.entries(state.jobs).filter(([, { loaded }]) => loaded);
    answer(0, { stdout: all.map(([key, { loaded }]) => `<!-- \\${key} -->\r\n${loaded}`).join("\r\n") });
  }
  const one = job(id);
  if (one.loaded === null) answer(1, { stderr: "FEHLER: Das System kann die angegebene Datei nicht finden.\r\n" });
  if (verb === "/Query") answer(0, { stdout: one.loaded });
  if (verb === "/Run" && !isRunning(one)) runBatch(one, xmlText(/<Command>([^<]*)</.exec(one.loaded)?.[1] ?? ""));
  // The interpreter ends; what it started does not.
  if (verb === "/End") {
    if (isRunning(one)) process.kill(one.pid, "SIGKILL");
    one.pid = 0;
  }
  if (verb === "/Delete") delete state.jobs[id];
  answer(0);
}

function cmd() {
  const launcher = readFileSync(args.at(-1), "utf8");
  runBatch(job("startup"), /cmd \/d \/c "([^"]+)"/.exec(launcher)?.[1] ?? "");
  answer(0);
}

await { systemctl, loginctl, launchctl, schtasks, cmd }[name]();
