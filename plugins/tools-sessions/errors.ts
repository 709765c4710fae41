import { defineErrors } from "svc/sdk";

/** Refusals of the session tools, in words for the model. */
export const sessionToolErrors = defineErrors({
  "session-not-visible": {
    message: "there is no session {key} that you may see; sessions_list has those that you may",
    http: 404,
    rpc: "INVALID_REQUEST",
  },
  "send-refused": { message: "nothing was sent: {reason}", http: 409, rpc: "INVALID_REQUEST" },
  "spawn-refused": { message: "no helper was started: {reason}", http: 409, rpc: "INVALID_REQUEST" },
});
