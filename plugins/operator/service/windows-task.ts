import { type InstalledProgram, markerEnv, NODE_FLAGS, programOf, type ServiceSpec, taskName, toProgram, unitName } from "./definition.ts";
import { errors } from "./errors.ts";
import { escapeXml, unescapeXml } from "./xml-text.ts";

/** Renders `gateway.cmd`: what the task and the start-up launcher run. It starts the gateway again when that asks for it. */
export function renderGatewayCmd(spec: ServiceSpec): string {
  const [node = "", ...rest] = programOf(spec);
  const [entry = "", ...args] = rest.slice(NODE_FLAGS.length);
  const env = { ...markerEnv(unitName(spec.profile)), ...spec.pathEnv };
  return lines([
    "@echo off",
    `rem ${taskName(spec.profile)}`,
    `cd /d "${text("state directory", spec.stateDir)}"`,
    ...Object.entries(env).map(([name, value]) => `set "${name}=${text(name, value)}"`),
    ":run",
    `"${text("node", node)}" ${NODE_FLAGS.join(" ")} "${text("entry", entry)}" ${args.join(" ")} < NUL`,
    "if %ERRORLEVEL%==75 goto run",
    "exit /b %ERRORLEVEL%",
  ]);
}

/** Renders the launcher of the start-up folder, for users who may not create tasks. */
export function renderStartupLauncher(cmdPath: string): string {
  return lines(["@echo off", `start "" /min cmd /d /c "${text("path", cmdPath)}"`]);
}

/** The program that `gateway.cmd` starts; undefined when it starts no gateway. */
export function parseGatewayCmd(source: string): InstalledProgram | undefined {
  const rows = source.split(/\r?\n/);
  const literal = (value: string) => value.replaceAll("%%", "%");
  const env = rows.flatMap((row) => {
    const [, name, value] = /^set "([^="]+)=([^"]*)"$/i.exec(row.trim()) ?? [];
    return name === undefined || value === undefined ? [] : [[name, literal(value)] as const];
  });
  const [, node, entry, rest] = /^"([^"]+)" (?:--[^ "]+ )*"([^"]+)" ([^<]*)</.exec(rows.find((row) => row.startsWith('"')) ?? "") ?? [];
  if (node === undefined || entry === undefined || rest === undefined) return undefined;
  return toProgram([literal(node), literal(entry), ...rest.trim().split(/\s+/)], Object.fromEntries(env));
}

/** Renders the scheduled task as XML; it is written as UTF-16 with a byte order mark. */
export function renderTask({ userId, cmdPath, profile }: { userId: string; cmdPath: string; profile: string }): string {
  return `\ufeff<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${escapeXml(taskName(profile))}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>${escapeXml(userId)}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${escapeXml(userId)}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Enabled>true</Enabled>
    <Hidden>true</Hidden>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>3</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${escapeXml(cmdPath)}</Command>
    </Exec>
  </Actions>
</Task>
`.replaceAll("\n", "\r\n");
}

/** A task as `schtasks /Query /XML` prints it: what it runs, and whether it is enabled. */
export function parseTask(xml: string): { command: string; isEnabled: boolean } | undefined {
  const command = /<Command>([^<]*)<\/Command>/.exec(xml)?.[1];
  if (command === undefined) return undefined;
  const settings = xml.slice(Math.max(0, xml.indexOf("<Settings>")));
  return { command: unescapeXml(command), isEnabled: !/<Enabled>\s*false\s*<\/Enabled>/.test(settings) };
}

function lines(rows: readonly string[]): string {
  return rows.map((row) => `${row}\r\n`).join("");
}

/** Text between quotes of a batch file: `%` is no variable there. */
function text(what: string, value: string): string {
  if (/[\r\n]/.test(value)) throw errors.serviceValueUnusable({ what, reason: "a line break" });
  if (value.includes('"')) throw errors.serviceValueUnusable({ what, reason: "a quotation mark" });
  return value.replaceAll("%", "%%");
}
