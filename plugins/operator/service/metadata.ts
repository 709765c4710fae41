import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "svc/sdk";

/** Record of an installation: tells a definition that an operator edited from one that an older svc wrote. */
export interface ServiceMetadata {
  version: string;
  port: number;
  nodePath: string;
  entryPath: string;
  definitionSha256: string;
}

export function metadataPath(stateDir: string): string {
  return join(stateDir, "service", "metadata.json");
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The record of the last installation; undefined when there is none or it is damaged. */
export async function readMetadata(stateDir: string): Promise<ServiceMetadata | undefined> {
  const text = await readFile(metadataPath(stateDir), "utf8").catch(() => "");
  return parseMetadata(text);
}

function parseMetadata(text: string): ServiceMetadata | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return undefined;
    const { version, port, nodePath, entryPath, definitionSha256 } = value;
    if (typeof port !== "number" || [version, nodePath, entryPath, definitionSha256].some((one) => typeof one !== "string"))
      return undefined;
    return value as unknown as ServiceMetadata;
  } catch {
    return undefined;
  }
}
