import type { CliContext } from "svc/sdk";
import type { OwnFinding } from "./checks.ts";

/** Holders of the port that a gateway of this profile would take. */
export interface PortEvidence {
  port: number;
  /** Holders that are not the gateway of this profile. */
  holders: Array<{ pid: number; command: string; isGateway: boolean }>;
}

/** Looks at the port of the next start. */
export async function gatherPort(cli: CliContext): Promise<PortEvidence> {
  const { port } = await cli.ports.ofNextStart().catch(() => ({ port: 0 }));
  if (port === 0) return { port, holders: [] }; // the system chooses
  const owner = await cli.lockOwner();
  const others = (await cli.ports.holders(port).catch(() => [])).filter(({ pid }) => pid !== owner?.pid);
  const isGateway = others.length > 0 && (await cli.ports.isGateway(port));
  return { port, holders: others.map((holder) => ({ ...holder, isGateway })) };
}

/** Findings about the port. Pure. */
export function portFindings({ port, holders }: PortEvidence): OwnFinding[] {
  return holders.map(({ pid, command, isGateway }): OwnFinding => {
    const who = isGateway ? `another gateway (${command}, pid ${pid})` : `${command} (pid ${pid})`;
    const fix = isGateway
      ? "svc gateway probe tells which; give each gateway a gateway.port of its own"
      : "end that program, or change gateway.port";
    return {
      id: "port/conflict",
      severity: "error",
      path: "gateway.port",
      message: `port ${port} is held by ${who}, so no gateway of this profile can start`,
      fix,
    };
  });
}
