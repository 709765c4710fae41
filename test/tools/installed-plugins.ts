/** Records of installed plugins and the packages of plugins, as commands get them with their context. */
export { installedPlugins, vendorPackages } from "../../kernel/cli/installed-plugins.ts";
