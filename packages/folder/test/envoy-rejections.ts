import { fromBinary, type JsonObject } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { checkEnvoy } from "../src/envoy-checks/check-envoy.ts";
import type { EnvoyFiles } from "../src/envoy-checks/envoy-check.ts";
import { shownField } from "../src/json-path-of.ts";

const registry = envoyRegistry();

/** Returns the rejections of Envoy for a message, each as `code field: message`. */
export function envoyRejections(
  type: string,
  json: JsonObject,
  files?: EnvoyFiles,
): readonly string[] {
  const { value } = anyFromJson({ "@type": `type.googleapis.com/${type}`, ...json }, registry);
  const desc = registry.getMessage(type);
  if (desc === undefined) throw new Error(`no type ${type}`);
  return checkEnvoy(reflect(desc, fromBinary(desc, value)), { registry, files }).map(
    ({ code, path, message }) => `${code} ${shownField(path)}: ${message}`,
  );
}
