import type { JsonValue } from "@bufbuild/protobuf";
import type { PathStep } from "@xdstp/validate";
import { type JsonPath, shownKey } from "./folder-problem.ts";

/** Returns the way to a value in JSON, whose keys have either spelling, as far as it exists. */
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

/** Returns a path as text, as in `metadata.filter_metadata["envoy.lb"]`, with the keys of maps as far as they may be shown. */
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
