import type { CliContext } from "svc/sdk";
import { siblingProfiles } from "../sibling-profiles.ts";

/** Gateway of another profile of this user that runs now. */
export interface SiblingGateway {
  profile: string;
  pid: number;
  port: number;
}

/** Finds running gateways of other profiles that listen, by their locks; what cannot be read is none. */
export async function siblingGateways({ env, paths }: Pick<CliContext, "env" | "paths">): Promise<SiblingGateway[]> {
  const profiles = await siblingProfiles({ env, stateDir: paths.stateDir });
  return profiles.flatMap(({ profile, gateway }) =>
    gateway?.port === undefined ? [] : [{ profile: profile || "default", pid: gateway.pid, port: gateway.port }],
  );
}
