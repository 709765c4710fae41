/** Texts of charts. */
export const texts = {
  lastMinutes: "Last 30 minutes",
  whilePageSeen: "While this page is seen",
};
