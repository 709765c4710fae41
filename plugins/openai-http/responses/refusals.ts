import { isSvcError, messageOf } from "svc/sdk";
import { badRequest } from "../errors.ts";

/** A refusal whose reason may go to the caller; `detail` is for the log. */
export class PublicRefusal extends Error {
  readonly detail: string;
  /** The operator can help it: an optional package is not installed. */
  readonly isMissingPackage: boolean;
  constructor(message: string, { detail = "", isMissingPackage = false } = {}) {
    super(message);
    this.detail = detail;
    this.isMissingPackage = isMissingPackage;
  }
}

interface Refused {
  /** Place in the request. */
  path: string;
  /** Text for the caller where the reason is not for it. */
  invalid: string;
  /** Called with the reason, for the log. */
  refused(reason: string): void;
}

/** The error that the caller gets for media that could not be read. Too much at the same time is no fault of the request. */
export function toRefusal(error: unknown, { path, invalid, refused }: Refused): Error {
  const detail = error instanceof PublicRefusal && error.detail !== "" ? ` (${error.detail})` : "";
  refused(`${path}: ${messageOf(error)}${detail}`);
  if (isSvcError(error, "busy")) return error;
  return badRequest(error instanceof PublicRefusal ? `${path}: ${error.message}` : invalid);
}
