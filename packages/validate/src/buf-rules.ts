import type { DescFile, DescMessage, Message, Registry } from "@bufbuild/protobuf";
import type { Path } from "@bufbuild/protobuf/reflect";
import type { PathStep, Place, Violation } from "./violation.ts";
import { violationAt } from "./violation.ts";

/** Checks the rules of `buf/validate/validate.proto`, with protovalidate. */
export interface BufRules {
  /** Returns true if messages of the type, or messages in them, may have such rules. */
  apply(desc: DescMessage): boolean;
  /** Returns the violations in a message, without those in the messages that an Any contains. */
  check(desc: DescMessage, message: Message, place: Place | undefined): readonly Violation[];
}

/**
 * Loads protovalidate if a type of the registry has rules of this kind. Loading takes 75 ms, and
 * the first message takes a further 80 ms.
 */
export async function loadBufRules(registry: Registry): Promise<BufRules | undefined> {
  if (isWithout(rulesFile, registry)) return undefined;
  const isAbove = createImportSearch(rulesFile);
  if (![...registry].some((type) => isAbove(type.file))) return undefined;
  const { createValidator } = await import("@bufbuild/protovalidate");
  const validator = createValidator({ registry });
  return {
    apply: (desc) => isAbove(desc.file),
    check(desc, message, place) {
      const result = validator.validate(desc, message);
      switch (result.kind) {
        case "valid":
          return [];
        case "invalid":
          return result.violations.map(({ field, ruleId, message: text, forKey }) =>
            violationAt(placeIn(place, field), ruleId, forKey ? `as a key ${text}` : text),
          );
        case "error": {
          const text = `cannot be checked: ${result.error.message}; see the rules of ${desc.typeName}`;
          return [violationAt(place, "buf.validate", text)];
        }
      }
    },
  };
}

const rulesFile = "buf/validate/validate.proto";

/** The part of a registry that says it has every file that its files import. */
interface CompleteRegistry {
  readonly holdsImports: true;
  getFile(name: string): DescFile | undefined;
}

/**
 * Returns true if the registry states that it does not have a file, so that no type imports it.
 * This avoids a search, which would decode all files of `envoyRegistry()`.
 */
function isWithout(file: string, registry: Registry & Partial<CompleteRegistry>): boolean {
  return registry.holdsImports === true && registry.getFile?.(file) === undefined;
}

/**
 * Creates a function that returns true if a file imports the named file, directly or through other
 * files.
 */
export function createImportSearch(name: string): (file: DescFile) => boolean {
  const known = new Map<DescFile, boolean>();
  const search = (file: DescFile): boolean => {
    const found = known.get(file);
    if (found !== undefined) return found;
    const isAbove = file.dependencies.some(
      (dependency) => dependency.proto.name === name || search(dependency),
    );
    known.set(file, isAbove);
    return isAbove;
  };
  return search;
}

function placeIn(above: Place | undefined, path: Path): Place | undefined {
  let place = above;
  for (const part of path) place = { above: place, step: stepOf(part) };
  return place;
}

function stepOf(part: Path[number]): PathStep {
  switch (part.kind) {
    case "list_sub":
      return { kind: "index", index: part.index };
    case "map_sub":
      return { kind: "key", key: String(part.key) };
    case "oneof":
      return { kind: "oneof", name: part.name };
    case "field":
      return { kind: "field", name: part.name, jsonName: part.jsonName };
    case "extension":
      return { kind: "field", name: `[${part.typeName}]`, jsonName: `[${part.typeName}]` };
  }
}
