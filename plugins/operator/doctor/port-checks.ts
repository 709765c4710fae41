import type { CliContext } from "svc/sdk";
import type { OwnFinding } from "./checks.ts";

/** Holders of the port that a gateway of this profile would take. */
export interface PortEvidence {
  port: number;
  /** Holders that are not the gateway of this profile. */
  holders: Array<{ pid: number; command: string; isGateway: boolean }>;
  /** Another port that nobody holds; undefined while this one is fine. */
  free?: number | undefined;
}

/** Looks at the port of the next start. */
export async function gatherPort(cli: CliContext): Promise<PortEvidence> {
  const { port } = await cli.ports.ofNextStart().catch(() => ({ port: 0 }));
  if (port === 0) return { port, holders: [] }; // the system chooses
  const owner = await cli.lockOwner();
  const others = (await cli.ports.holders(port).catch(() => [])).filter(({ pid }) => pid !== owner?.pid);
  const isGateway = others.length > 0 && (await cli.ports.isGateway(port));
  const free = others.length > 0 ? await freePortAfter(cli, port) : undefined;
  return { port, holders: others.map((holder) => ({ ...holder, isGateway })), free };
}

/** Gateways of one host keep a distance, as the guide says. */
const PORT_STEP = 20;
const PORTS_TRIED = 5;

async function freePortAfter(cli: CliContext, port: number): Promise<number | undefined> {
  for (let i = 1; i <= PORTS_TRIED; i++) {
    const candidate = port + i * PORT_STEP;
    if (candidate <= 65_535 && (await cli.ports.holders(candidate).catch(() => [])).length === 0) return candidate;
  }
  return undefined;
}

/** Findings about the port. Pure. */
export function portFindings({ port, holders, free }: PortEvidence): OwnFinding[] {
  const elsewhere = `svc config set gateway.port ${free ?? "<another port>"}`;
  return holders.map(({ pid, command, isGateway }): OwnFinding => {
    const who = isGateway ? `another gateway (${command}, pid ${pid})` : `${command} (pid ${pid})`;
    const fix = isGateway
      ? `${elsewhere}, which gives this gateway a port of its own; svc gateway probe tells whose the other one is`
      : `${elsewhere}; or end that program`;
    return {
      id: "port/conflict",
      severity: "error",
      path: "gateway.port",
      message: `port ${port} is held by ${who}, so no gateway of this profile can start`,
      fix,
    };
  });
}
