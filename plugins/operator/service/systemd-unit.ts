import { type InstalledProgram, markerEnv, programOf, type ServiceSpec, STOP_TIMEOUT_MS, toProgram, unitName } from "./definition.ts";
import { errors } from "./errors.ts";

/**
 * Renders the unit of a gateway. With `account` it is the system unit, which runs as that account and cannot use `%h`: there it is the home of root.
 * @throws {SvcError} `service-value-unusable` for a path with a line break
 */
export function renderUnit(spec: ServiceSpec, { account }: { account?: string } = {}): string {
  const at = (path: string) => placeOf(path, account === undefined ? spec.home : undefined);
  const seconds = STOP_TIMEOUT_MS / 1_000;
  return `[Unit]
Description=Svc Gateway${spec.profile === "" ? "" : ` (${spec.profile})`}
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=simple
${account === undefined ? "" : `User=${plain("User", account)}\n`}ExecStart=${programOf(spec).map(word).join(" ")}
WorkingDirectory=${at(spec.stateDir)}
Restart=always
RestartSec=5
RestartPreventExitStatus=78
TimeoutStartSec=${seconds}
TimeoutStopSec=${seconds}
SuccessExitStatus=0 143
KillMode=control-group
UMask=0077
EnvironmentFile=-${at(`${spec.stateDir}/service/gateway.env`)}
Environment=${pairs(markerEnv(unitName(spec.profile)))}
Environment=${pairs({ PATH: spec.searchPath })}

[Install]
WantedBy=default.target
`;
}

/** The program that a unit starts; undefined when it starts no gateway. Continued lines are joined, as systemd does. */
export function parseUnit(text: string): InstalledProgram | undefined {
  const service = unitEntries(text).filter(({ section }) => section === "Service");
  const last = (key: string) => service.findLast((entry) => entry.key === key)?.value;
  const env = service.filter(({ key }) => key === "Environment").flatMap(({ value }) => words(value).map(toPair));
  return toProgram(words(last("ExecStart") ?? ""), Object.fromEntries(env));
}

/** Sections, keys and values of a unit in their order. */
export function unitEntries(text: string): Array<{ section: string; key: string; value: string }> {
  const entries: Array<{ section: string; key: string; value: string }> = [];
  let section = "";
  for (const line of text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const shown = line.trim();
    if (shown === "" || shown.startsWith("#") || shown.startsWith(";")) continue;
    if (shown.startsWith("[") && shown.endsWith("]")) section = shown.slice(1, -1);
    const at = shown.indexOf("=");
    if (at > 0 && !shown.startsWith("[")) entries.push({ section, key: shown.slice(0, at).trim(), value: shown.slice(at + 1).trim() });
  }
  return entries;
}

/** A path with `%h` for the home; specifiers in it are escaped. */
function placeOf(path: string, home: string | undefined): string {
  const inHome = home !== undefined && home !== "/" && (path === home || path.startsWith(`${home}/`));
  return inHome ? `%h${plain("path", path.slice(home.length))}` : plain("path", path);
}

/** Text of a setting that takes the rest of its line. */
function plain(what: string, text: string): string {
  if (/[\r\n]/.test(text)) throw errors.serviceValueUnusable({ what, reason: "a line break" });
  return text.replaceAll("%", "%%");
}

/** One word of a command line: `%` and `$` are not expanded, blanks and quotes kept. */
function word(text: string): string {
  return quoted(plain("argument", text).replaceAll("$", "$$$$"));
}

function pairs(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => quoted(`${name}=${plain(name, value)}`))
    .join(" ");
}

function quoted(text: string): string {
  return /[\s"'\\;]/.test(text) ? `"${text.replaceAll(/["\\]/g, "\\$&")}"` : text;
}

/** Words of a setting, unquoted and unescaped. */
function words(text: string): string[] {
  const found: string[] = [];
  let current: string | undefined;
  let quote = "";
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i] as string;
    if (c === "\\" && i + 1 < text.length) {
      i += 1;
      current = (current ?? "") + text[i];
    } else if (quote !== "") {
      if (c === quote) quote = "";
      else current = (current ?? "") + c;
    } else if (c === '"' || c === "'") {
      quote = c;
      current ??= "";
    } else if (/\s/.test(c)) {
      if (current !== undefined) found.push(current);
      current = undefined;
    } else current = (current ?? "") + c;
  }
  if (current !== undefined) found.push(current);
  return found.map((one) => one.replaceAll("%%", "%").replaceAll("$$", "$"));
}

function toPair(text: string): [string, string] {
  const at = text.indexOf("=");
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
