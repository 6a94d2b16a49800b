import type { JsonValue, Registry } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { PathStep } from "@xdstp/validate";
import { visitMessages } from "../envoy-checks/visit-messages.ts";
import type { JsonPath } from "../folder-problem.ts";
import { jsonPathOf } from "../json-path-of.ts";
import type { EnvoyReason, ReasonPath } from "./envoy-reason.ts";

/** A configuration, or a part of it, that is searched for a place. */
export interface Searched {
  readonly json: JsonValue;
  /** The same configuration, decoded. */
  readonly message: ReflectMessage;
  readonly registry: Registry;
}

/** Returns the places that Envoy may mean. A position in a text is not converted to a place. */
export function placesOf(
  { where }: EnvoyReason,
  { json, message, registry }: Searched,
): readonly JsonPath[] {
  switch (where.kind) {
    case "position":
      return [];
    case "path":
      return [followIn(json, where.path)];
    case "message": {
      const found = messagesCalled(where.type, message, registry);
      return found.map((path) => {
        const at = jsonPathOf(json, path);
        return [...at, ...followIn(valueAt(json, at), where.path)];
      });
    }
    case "words":
      return placesOfWords(json, where.words);
  }
}

/** Returns the paths of all messages of a type. `name` is the last part of the type's name. */
function messagesCalled(name: string, message: ReflectMessage, registry: Registry) {
  return Array.from(visitMessages({ message, path: [], above: undefined }, registry))
    .filter((one) => one.message.desc.name === name)
    .map(({ path }) => path);
}

/** Returns the longest beginning of a path that exists. Keys may be in snake case or camel case. Envoy numbers the entries of a map in an order of its own, so a number is followed only into a map with one entry. */
export function followIn(json: JsonValue | undefined, steps: ReasonPath): JsonPath {
  const path: (string | number)[] = [];
  let at = json;
  for (const step of steps) {
    const key = keyFor(at, step);
    if (key === undefined) break;
    path.push(key);
    at = (at as Readonly<Record<string | number, JsonValue>>)[key];
  }
  return path;
}

function keyFor(json: JsonValue | undefined, step: string | number): string | number | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  if (Array.isArray(json)) return typeof step === "number" && step in json ? step : undefined;
  if (typeof step === "number") {
    const [only, ...others] = Object.keys(json);
    return others.length === 0 ? only : undefined;
  }
  const camel = step.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return [step, camel].find((key) => Object.hasOwn(json, key));
}

/** Converts a path to the steps that problems show. */
export function stepsOf(path: JsonPath): readonly PathStep[] {
  return path.map((step) => {
    if (typeof step === "number") return { kind: "index", index: step };
    if (/[^a-z0-9_]/.test(step)) return { kind: "key", key: step };
    const jsonName = step.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    return { kind: "field", name: step, jsonName };
  });
}

/** Returns the value at a path, or `undefined` if it does not exist. */
export function valueAt(json: JsonValue, path: JsonPath): JsonValue | undefined {
  let at: JsonValue | undefined = json;
  for (const step of path)
    at =
      typeof at === "object" && at !== null
        ? (at as Readonly<Record<string | number, JsonValue>>)[step]
        : undefined;
  return at;
}

/** The shortest word that is searched for inside of values. Shorter words occur in too many of them. */
const leastInside = 4;

/** Returns the places of the first word that is equal to a value, else of the first word that is a part of a value. */
function placesOfWords(json: JsonValue, words: readonly string[]): readonly JsonPath[] {
  const leaves = leavesOf(json, []);
  const tests = [
    (value: string, word: string) => value === word,
    (value: string, word: string) => word.length >= leastInside && value.includes(word),
  ];
  for (const isMeant of tests)
    for (const word of words) {
      const found = leaves.filter(({ value }) => isMeant(value, word));
      if (found.length > 0) return found.map(({ path }) => path);
    }
  return [];
}

interface Leaf {
  readonly path: JsonPath;
  readonly value: string;
}

function leavesOf(json: JsonValue, path: JsonPath): readonly Leaf[] {
  if (typeof json === "string" || typeof json === "number") return [{ path, value: String(json) }];
  if (typeof json !== "object" || json === null) return [];
  return Object.entries(json).flatMap(([key, value]) =>
    leavesOf(value, [...path, Array.isArray(json) ? Number(key) : key]),
  );
}
