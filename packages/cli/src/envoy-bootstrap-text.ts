import { readFileSync } from "node:fs";
import { load } from "js-yaml";

/** The text of a file that is a bootstrap of Envoy. undefined: it is none, or cannot be read; then who reads bootstraps of gRPC says why. */
export function envoyBootstrapText(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8");
    const whole = load(text);
    return typeof whole === "object" && whole !== null && keys.some((key) => key in whole) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** One of gRPC has none of these. */
const keys = ["dynamic_resources", "dynamicResources", "static_resources", "staticResources", "config_sources", "configSources", "default_config_source", "defaultConfigSource", "admin"];
