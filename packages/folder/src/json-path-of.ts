import type { JsonValue } from "@bufbuild/protobuf";
import type { PathStep } from "@xdstp/validate";
import { type JsonPath, shownKey } from "./folder-problem.ts";

/** Returns the path of a value in JSON, as far as it exists. The keys of the JSON may be in snake case or camel case. */
export function jsonPathOf(json: JsonValue, steps: readonly PathStep[]): JsonPath {
  const path: (string | number)[] = [];
  let at: JsonValue | undefined = json;
  for (const step of steps) {
    const key: string | number | undefined = keysOf(step).find((one) => hasKey(at, one));
    if (key === undefined) break;
    path.push(key);
    at = (at as Readonly<Record<string | number, JsonValue>>)[key];
  }
  return path;
}

/** Returns a path as text, such as `metadata.filter_metadata["envoy.lb"]`. The keys of maps are cut as {@link shownKey} does. */
export function shownField(steps: readonly PathStep[]): string {
  return steps.map(shownStep).join("").replace(/^\./, "");
}

function shownStep(step: PathStep): string {
  switch (step.kind) {
    case "field":
    case "oneof":
      return `.${step.name}`;
    case "index":
      return `[${step.index}]`;
    case "key":
      return `[${JSON.stringify(shownKey(step.key))}]`;
  }
}

function keysOf(step: PathStep): readonly (string | number)[] {
  switch (step.kind) {
    case "field":
      return [step.name, step.jsonName];
    case "index":
      return [step.index];
    case "key":
      return [step.key];
    case "oneof":
      return [];
  }
}

function hasKey(json: JsonValue | undefined, key: string | number): boolean {
  return typeof json === "object" && json !== null && Object.hasOwn(json, key);
}
