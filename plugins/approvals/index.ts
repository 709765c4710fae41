import { definePlugin } from "svc/sdk";
import { approveCommand } from "./approve-command.ts";
import { createDesk } from "./desk.ts";
import { registerApprovalMethods } from "./rpc.ts";
import { createApprovals } from "./service.ts";

/** Questions to a person before something is done: put to every connected approver, decided by the first answer, denied when none comes. */
export default definePlugin({
  id: "approvals",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    const desk = createDesk(ctx);
    ctx.registerService("approvals@1", createApprovals(desk));
    registerApprovalMethods(ctx, desk);
    ctx.contribute("chatCommand", "approve", approveCommand(desk.board));
    // At a stop the work that waits for an answer must not be waited for; a replaced instance ends what nobody could answer any more.
    ctx.on("gateway.stopping", () => desk.board.closeAll("stopping"));
    return { stop: () => desk.board.closeAll("stopping") };
  },
});
