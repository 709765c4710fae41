/** `ctx.vendor` as the host makes it, for tests of plugins, which cannot import the kernel. */
export { createPluginVendor } from "../../kernel/process/plugin-vendor.ts";
