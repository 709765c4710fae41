import { commonErrors, EmbeddingError } from "svc/sdk";
import type { HostHandlers } from "./host-calls.ts";

const noStore = async (): Promise<never> => {
  throw commonErrors.serviceUnavailable({ service: "store@2" });
};

/** An index of which nobody knows sessions. To list none would take those out that are in it. */
export const noSessions: Pick<HostHandlers, "listSessions" | "readSession"> = { listSessions: noStore, readSession: noStore };

const nobody = async (): Promise<never> => {
  throw new EmbeddingError("no-credentials", "there is no embedding provider");
};

/** An index that is used without a gateway: words are searched. */
export const noHostHandlers: HostHandlers = {
  embedQuery: nobody,
  embed: nobody,
  embedMedia: nobody,
  batchSubmit: nobody,
  batchPoll: nobody,
  batchResults: nobody,
  batchEnd: nobody,
  ...noSessions,
};
