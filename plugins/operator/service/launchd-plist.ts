import { type InstalledProgram, launchdLabel, markerEnv, programOf, type ServiceSpec, STOP_TIMEOUT_MS, toProgram } from "./definition.ts";
import { escapeXml, unescapeXml } from "./xml-text.ts";

/** Value in a property list, as far as definitions of svc use it. */
export type PlistValue = string | number | boolean | PlistValue[] | { [key: string]: PlistValue };

/** Seconds between two starts. */
const THROTTLE_SECONDS = 10;
/** Files are for their owner only: 0077, which a property list has to write in decimal. */
const UMASK = 63;

/** Renders the launch agent of a gateway. */
export function renderPlist(spec: ServiceSpec): string {
  const label = launchdLabel(spec.profile);
  return plistText({
    Label: label,
    ProgramArguments: programOf(spec),
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: THROTTLE_SECONDS,
    ExitTimeOut: STOP_TIMEOUT_MS / 1_000,
    ProcessType: "Interactive",
    Umask: UMASK,
    WorkingDirectory: spec.stateDir,
    StandardOutPath: `${spec.stateDir}/logs/service.out.log`,
    StandardErrorPath: `${spec.stateDir}/logs/service.err.log`,
    EnvironmentVariables: { PATH: spec.searchPath, ...markerEnv(label), ...spec.pathEnv },
  });
}

/** The program that a launch agent starts; undefined when it starts no gateway or is no property list. */
export function parsePlist(text: string): InstalledProgram | undefined {
  const root = readPlist(text);
  if (typeof root !== "object" || Array.isArray(root)) return undefined;
  const { ProgramArguments: args, EnvironmentVariables: env } = root;
  if (!Array.isArray(args)) return undefined;
  const isTable = typeof env === "object" && !Array.isArray(env);
  return toProgram(args.map(String), isTable ? Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)])) : {});
}

function plistText(root: PlistValue): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${valueText(root, "")}
</plist>
`;
}

function valueText(value: PlistValue, indent: string): string {
  if (typeof value === "string") return `${indent}<string>${escapeXml(value)}</string>`;
  if (typeof value === "number") return `${indent}<integer>${value}</integer>`;
  if (typeof value === "boolean") return `${indent}<${value}/>`;
  const inner = `${indent}  `;
  if (Array.isArray(value)) return `${indent}<array>\n${value.map((one) => valueText(one, inner)).join("\n")}\n${indent}</array>`;
  const entries = Object.entries(value).map(([key, one]) => `${inner}<key>${escapeXml(key)}</key>\n${valueText(one, inner)}`);
  return `${indent}<dict>\n${entries.join("\n")}\n${indent}</dict>`;
}

/** Container that is being read; `key` is the last one of a dictionary. */
interface Open {
  value: PlistValue[] | { [key: string]: PlistValue };
  key?: string;
}

/** Reads a property list in its XML form; undefined for anything else. Dates and data are read as text. */
export function readPlist(text: string): PlistValue | undefined {
  const stack: Open[] = [];
  let root: PlistValue | undefined;
  const add = (value: PlistValue) => {
    const top = stack.at(-1);
    if (!top) root ??= value;
    else if (Array.isArray(top.value)) top.value.push(value);
    else if (top.key !== undefined) top.value[top.key] = value;
  };
  for (const [, close, tag, empty, content = ""] of text.matchAll(/<(\/?)([a-z]+)(?:\s[^<>]*?)?(\/?)>([^<]*)/g)) {
    const top = stack.at(-1);
    if (tag === "dict" || tag === "array") {
      if (close === "/") stack.pop();
      else {
        const value = tag === "dict" ? {} : [];
        add(value);
        if (empty !== "/") stack.push({ value });
      }
    } else if (close === "/" || tag === "plist") continue;
    else if (tag === "key" && top) top.key = unescapeXml(content);
    else if (tag === "true" || tag === "false") add(tag === "true");
    else if (tag === "integer" || tag === "real") add(Number(content));
    else add(empty === "/" ? "" : unescapeXml(content));
  }
  return root;
}
