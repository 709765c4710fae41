import { SendRefusedError } from "svc/sdk";
import { MatrixFault } from "./homeserver.ts";

/** Refusals of the homeserver as the host understands them; anything else stays: it is not known then whether it has the message. */
export function asRefusal(error: unknown): unknown {
  if (!(error instanceof MatrixFault)) return error;
  const { code, status, message, retryAfterMs } = error;
  // A session that is over may be replaced; the account says so itself.
  if (status === 429 || status === 401)
    return new SendRefusedError(message, { isPermanent: false, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  return code !== "" && status >= 400 && status < 500 ? new SendRefusedError(message, { isPermanent: true }) : new Error(message);
}

export function refused(message: string): SendRefusedError {
  return new SendRefusedError(message, { isPermanent: true });
}
