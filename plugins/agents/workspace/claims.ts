import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile, realpath, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { writeFileAtomic } from "svc/sdk";
import { isAlive, type LockOwner, processStartTime } from "svc/sdk/internal";

/** Another gateway that works in a workspace now. */
export interface OtherGateway {
  pid: number;
  stateDir: string;
}

interface Claim extends LockOwner {
  stateDir: string;
  host: string;
  /** Id of one instance of this plugin: a replaced one does not remove the claim of the next. */
  instance: string;
}

const claimName = /^\.svc-gateway\.[0-9a-f]{8}\.lock$/;

/** Whether a file of a workspace is a gateway's claim and not content. */
export function isClaim(name: string): boolean {
  return claimName.test(name);
}

/**
 * Claims of this gateway on the workspaces of its agents: a hidden file in each, there while the gateway runs, by which gateways with different state
 * directories notice each other. A claim keeps nobody out; claims of another machine are not judged, because its processes cannot be seen from here.
 */
export class WorkspaceClaims {
  readonly #stateDir: string;
  readonly #name: string;
  readonly #instance = randomUUID();
  readonly #claimed = new Set<string>();

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
    this.#name = `.svc-gateway.${createHash("sha1").update(stateDir).digest("hex").slice(0, 8)}.lock`;
  }

  /** Claims exactly these workspaces from now on. One that takes no files is left unclaimed: nothing of ours is written there either. */
  async hold(workspaces: readonly string[]): Promise<void> {
    for (const workspace of [...this.#claimed]) if (!workspaces.includes(workspace)) await this.#release(workspace);
    for (const workspace of workspaces) {
      if (this.#claimed.has(workspace)) continue;
      const owner = { pid: process.pid, startTime: processStartTime(process.pid), createdAt: Date.now() };
      const claim: Claim = { ...owner, stateDir: this.#stateDir, host: hostname(), instance: this.#instance };
      const failed = await writeFileAtomic(join(workspace, this.#name), JSON.stringify(claim)).then(
        () => false,
        () => true,
      );
      if (!failed) this.#claimed.add(workspace);
    }
  }

  /** Gateways that run on this machine and claim the same workspace. What a crash left behind is removed. */
  async others(workspace: string): Promise<OtherGateway[]> {
    const names = (await readdir(workspace).catch(() => [])).filter((name) => isClaim(name) && name !== this.#name);
    const found: OtherGateway[] = [];
    for (const name of names) {
      const claim = await readClaim(join(workspace, name));
      if (!claim || claim.host !== hostname()) continue;
      if (isAlive(claim)) found.push({ pid: claim.pid, stateDir: claim.stateDir });
      else await rm(join(workspace, name), { force: true });
    }
    return found;
  }

  async #release(workspace: string): Promise<void> {
    this.#claimed.delete(workspace);
    const path = join(await realpath(workspace).catch(() => workspace), this.#name);
    const claim = await readClaim(path);
    if (claim?.instance === this.#instance) await rm(path, { force: true }).catch(() => undefined); // its folder may be gone
  }
}

async function readClaim(path: string): Promise<Claim | undefined> {
  try {
    const claim = JSON.parse(await readFile(path, "utf8")) as Claim | null;
    return claim && Number.isInteger(claim.pid) && claim.pid > 0 && typeof claim.stateDir === "string" ? claim : undefined;
  } catch {
    return undefined; // gone meanwhile, or damaged: nobody's
  }
}
