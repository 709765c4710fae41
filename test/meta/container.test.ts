import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { needs } from "../servers/needs.ts";
import { readRepositoryFile, repositoryRoot } from "../tools/source/tree.ts";

/** One instruction of a Dockerfile, its continued lines joined. */
interface Instruction {
  name: string;
  text: string;
}

function instructionsOf(dockerfile: string): Instruction[] {
  const lines = dockerfile.replace(/^#.*\n/gm, "").replace(/\\\n/g, " ");
  return lines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => ({
      name: (line.split(" ")[0] ?? "").toUpperCase(),
      text: line
        .slice(line.indexOf(" ") + 1)
        .replace(/\s+/g, " ")
        .trim(),
    }));
}

/** Rules for an image that runs unattended, by what breaks them. */
function faultsOf(dockerfile: string): string[] {
  const all = instructionsOf(dockerfile);
  const last = all.slice(all.findLastIndex(({ name }) => name === "FROM"));
  const of = (name: string) => last.filter((one) => one.name === name).map(({ text }) => text);
  const user = of("USER").at(-1);
  const rules: Array<[isBroken: boolean, fault: string]> = [
    [all.some(({ name, text }) => name === "FROM" && !/^\S+:\S*\d/.test(text)), "a base image has no version"],
    [all.some(({ name, text }) => name === "FROM" && /:latest\b/.test(text)), "a base image is the latest one"],
    [all.some(({ name }) => name === "ADD" || name === "MAINTAINER"), "ADD or MAINTAINER"],
    [
      all.some(({ name, text }) => name === "RUN" && /\bsudo\b|apt-get upgrade|curl[^|]*\|\s*(ba)?sh/.test(text)),
      "RUN does what it should not",
    ],
    [all.some(({ name, text }) => /^(ENV|ARG)$/.test(name) && /TOKEN|PASSWORD|SECRET|_KEY/i.test(text)), "a secret is baked in"],
    [user === undefined || /^(root|0)\b/.test(user), "it runs as root"],
    [of("HEALTHCHECK").length !== 1, "no health check"],
    [[...of("ENTRYPOINT"), ...of("CMD")].some((text) => !text.startsWith("[")), "a shell stands between signals and the program"],
    [of("VOLUME").length === 0, "no volume for the state"],
    [last.some(({ name, text }) => name === "RUN" && /\b(gcc|g\+\+|make|build-essential|python3)\b/.test(text)), "a compiler is left in"],
    [last.some(({ name, text }) => name === "COPY" && !text.includes("--from=")), "sources are copied into the last stage"],
  ];
  return rules.flatMap(([isBroken, fault]) => (isBroken ? [fault] : []));
}

describe("the Dockerfile", () => {
  const text = readRepositoryFile("Dockerfile");

  test("keeps the rules of an image that runs unattended", () => expect(faultsOf(text)).toEqual([]));

  test.each([
    ["it runs as root", (t: string) => t.replace("USER node", "USER root")],
    ["no health check", (t: string) => t.replace("HEALTHCHECK", "LABEL")],
    ["a base image has no version", (t: string) => t.replace("FROM node:22-bookworm-slim AS", "FROM node AS")],
    ["a shell stands between signals and the program", (t: string) => t.replace(/ENTRYPOINT .*/, "ENTRYPOINT svc gateway")],
    ["a secret is baked in", (t: string) => t.replace("NODE_ENV=production", "SVC_GATEWAY_TOKEN=x")],
  ])("would be told: %s", (fault, spoil) => expect(faultsOf(spoil(text))).toEqual([fault]));

  test("builds from what .dockerignore lets through, and that is there", () => {
    const [first, ...lines] = readRepositoryFile(".dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(first).toBe("*");
    const kept = lines.flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
    expect(kept.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
    const { files } = JSON.parse(readRepositoryFile("package.json")) as { files: string[] };
    const packed = new Set(files.filter((path) => !path.startsWith("!") && path !== "dist").map((path) => path.split("/")[0] ?? ""));
    expect([...packed].filter((path) => !kept.includes(path))).toEqual([]);
  });

  needs("hadolint").test("has nothing that hadolint finds", async () => {
    const { stdout } = await promisify(execFile)("hadolint", [join(repositoryRoot, "Dockerfile")]);
    expect(stdout).toBe("");
  });
});

describe("compose.yaml", () => {
  const text = readRepositoryFile("compose.yaml");

  test.each([
    "read_only: true",
    "user: node",
    "cap_drop: [ALL]",
    'security_opt: ["no-new-privileges:true"]',
    '- "127.0.0.1:18789:18789"',
    "- state:/var/lib/svc",
    "stop_grace_period: 30s",
  ])("says %s", (line) => expect(text.split("\n").map((one) => one.trim())).toContain(line));

  test("asks for the secret and contains none; nothing of it makes the container more than a guest", () => {
    expect(text).toMatch(/SVC_GATEWAY_TOKEN: \$\{SVC_GATEWAY_TOKEN:\?/);
    expect(text).not.toMatch(/privileged: true|network_mode: host|pid: host|docker\.sock|cap_add/);
    const [, seconds] = /stop_grace_period: (\d+)s/.exec(text) ?? [];
    expect(Number(seconds), "a stop may take gateway.shutdown.drainMs").toBeGreaterThan(20);
  });
});
