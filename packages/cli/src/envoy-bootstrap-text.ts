import { readFileSync } from "node:fs";
import { load, YAMLException } from "js-yaml";

/** The text of a file that is a bootstrap of Envoy. undefined: it is none, or cannot be read; then who reads bootstraps of gRPC says why. */
export function envoyBootstrapText(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8");
    return isOfEnvoy(load(text)) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Why a file that can be read is not a bootstrap of Envoy; it shows nothing of what is in it. undefined: it is one of gRPC, by its fields. */
export function whyNotOfEnvoy(file: string): string | undefined {
  try {
    const whole = load(readFileSync(file, "utf8"));
    if (typeof whole === "object" && whole !== null && "xds_servers" in whole) return undefined;
    return `as one of Envoy it lacks ${keys.filter((key) => key.includes("_")).join(", ")}`;
  } catch (error) {
    const mark = error instanceof YAMLException ? error.mark : undefined;
    return `as one of Envoy it is not valid YAML${mark === undefined ? "" : ` at line ${mark.line + 1} column ${mark.column + 1}`}`;
  }
}

function isOfEnvoy(whole: unknown): boolean {
  return typeof whole === "object" && whole !== null && keys.some((key) => key in whole);
}

/** One of gRPC has none of these. */
const keys = [
  "dynamic_resources",
  "dynamicResources",
  "static_resources",
  "staticResources",
  "config_sources",
  "configSources",
  "default_config_source",
  "defaultConfigSource",
  "admin",
];
