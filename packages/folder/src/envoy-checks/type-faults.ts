import type { JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { isObject } from "../documents-of.ts";
import { Fault, type JsonPath, quote } from "../folder-problem.ts";
import { fieldOf } from "../json-reason.ts";
import { typeHint } from "../key-hint.ts";
import { isForeignType } from "./extension-checks.ts";

/**
 * Throws a fault for a `@type` that Envoy does not read: one without a slash, which the JSON form of protobuf wants.
 */
export function rejectBareTypes(json: JsonValue, path: JsonPath = []): void {
  if (Array.isArray(json)) {
    for (const [index, item] of json.entries()) rejectBareTypes(item, [...path, index]);
    return;
  }
  if (!isObject(json)) return;
  const type = json["@type"];
  if (typeof type === "string" && !type.includes("/"))
    throw new Fault({
      code: "wrong-extension",
      message: `${fieldOf([...path, "@type"])}: ${quote(type)} is not a type URL`,
      hint: `write ${quote(`type.googleapis.com/${type}`)}`,
      path: [...path, "@type"],
    });
  for (const [key, value] of Object.entries(json)) rejectBareTypes(value, [...path, key]);
}

/** Returns the path of the `@type` of another kind of extension on a path, which explains why its content cannot be read. undefined: there is none. */
export function foreignTypeOn(
  json: JsonObject,
  path: JsonPath,
  registry: Registry,
): { readonly path: JsonPath; readonly message: string; readonly hint?: string } | undefined {
  let at: JsonValue | undefined = json;
  for (let length = 0; length <= path.length; length++) {
    const type = isObject(at) ? at["@type"] : undefined;
    const holder = path.slice(0, length);
    const [field, above] = fieldsAbove(holder);
    if (typeof type === "string" && field !== undefined) {
      const name = type.slice(type.lastIndexOf("/") + 1);
      if (isForeignType(name, field, above)) {
        const hint = registry.getMessage(name) === undefined ? typeHint(name, registry) : undefined;
        return {
          path: [...holder, "@type"],
          message: `${fieldOf([...holder, "@type"])}: ${name} is not a type for ${field}`,
          ...(hint !== undefined && { hint }),
        };
      }
    }
    const step = path[length];
    if (step === undefined || typeof at !== "object" || at === null) break;
    at = (at as Readonly<Record<string | number, JsonValue>>)[step];
  }
  return undefined;
}

/** The field of the extension that holds a configuration, and the field around it: `http_filters` of `http_filters[1].typed_config`, the map of `typed_per_filter_config["a"]`. */
function fieldsAbove(path: JsonPath): readonly (string | undefined)[] {
  const steps = path.filter((step) => typeof step === "string").map(snakeCase);
  return [steps.at(-2), steps.at(-3)];
}

function snakeCase(step: string): string {
  return step.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
