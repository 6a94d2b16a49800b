import { readFile } from "node:fs/promises";
import type { Reference } from "@xdstp/core";
import type { NamedResource } from "@xdstp/folder";
import { shortNameOf } from "@xdstp/resource-types";
import { nameKey } from "@xdstp/uri";
import { scalarAt, scalarsIn, type TextScalar, withScalar } from "./text-scalars.ts";

/** A name of one type. */
export type TypedName = Pick<Reference, "typeUrl" | "name">;

/** A value in a file. */
export interface Occurrence {
  readonly file: string;
  readonly text: string;
  /** undefined: the path of the file gives the name. */
  readonly scalar: TextScalar | undefined;
}

/** A name in a file. Which resource it names depends on the file: a bootstrap has its own static resources. */
export interface NameInFile extends TypedName {
  readonly file: string;
}

/** The resources that a document can name, and what refers to them, at one time. */
export interface KnownNames {
  /** All resources that the document can name. */
  readonly all: readonly NamedResource[];
  /** The names that the value at a place of a text refers to. */
  referredAt(file: string, text: string, offset: number): readonly NameInFile[];
  /** The types to whose names a value at this place would refer, and the value that is there. */
  expectedAt(file: string, text: string, offset: number): ExpectedName;
  /** The resources of a name. */
  resourcesOf(name: NameInFile): readonly NamedResource[];
  /** The resources that refer to the resources of a name. */
  referrersOf(name: NameInFile): readonly NamedResource[];
  /** The place of a resource's name. */
  definitionOf(resource: NamedResource): Promise<Occurrence>;
  /** The places at which a file refers to a name; empty if it does so without writing the name, as an EDS cluster that has no service_name. undefined: the file is too long to search. */
  occurrencesIn(file: string, name: TypedName): Promise<readonly Occurrence[] | undefined>;
}

/** The input of {@link knownNames}. */
export interface NameSources {
  /** The resources of the folder; empty for a bootstrap to which no server gives any. */
  readonly folder: readonly NamedResource[];
  /** Those of the open bootstraps that the document shares resources with. */
  readonly bootstraps: readonly NamedResource[];
  /** Returns the resources that a file would have with this text. */
  readonly namesIn: (file: string, text: string) => readonly NamedResource[];
  readonly textOf: TextOf;
}

/** A place for a name. */
export interface ExpectedName {
  /** Empty: a name does not belong there. */
  readonly typeUrls: readonly string[];
  readonly scalar: TextScalar | undefined;
}

/** The reader of texts: the text in the editor, or the file. */
export type TextOf = (file: string) => string | undefined;

/** True if a text is not searched for names: it would be parsed for each of its values that is equal to a name. */
export function isTooLong(text: string): boolean {
  return text.length > 2_000_000;
}

/** No name has this in it: what refers to it was put there for a try. */
const trial = "xdstp-lsp-trial";

/**
 * Makes {@link KnownNames} of what a check has read.
 *
 * Which values of a text are references is found by trying: the value is replaced, and the references of the file are read again. So this holds for all types of the registry, also within extensions.
 */
export function knownNames({ folder, bootstraps, namesIn, textOf }: NameSources): KnownNames {
  const all = [...folder, ...bootstraps];
  const isInBootstrap = new Set(bootstraps.map(({ file }) => file));
  const resources = Map.groupBy(
    all.flatMap((resource) =>
      [resource.name, ...resource.aliases].map((name) => ({
        resource,
        key: keyOf({ typeUrl: resource.typeUrl, name }),
      })),
    ),
    ({ key }) => key,
  );
  const referrers = Map.groupBy(
    all.flatMap((resource) =>
      [...new Set(resource.references.map(keyOf))].map((key) => ({ resource, key })),
    ),
    ({ key }) => key,
  );

  /** A static resource comes before one of the server. What the folder does not have may be static in the bootstraps. */
  function resourcesOf(name: NameInFile): readonly NamedResource[] {
    const found = resources.get(keyOf(name))?.map(({ resource }) => resource) ?? [];
    const own = isInBootstrap.has(name.file) ? found.filter(({ file }) => file === name.file) : [];
    if (own.length > 0) return own;
    const served = found.filter(({ file }) => !isInBootstrap.has(file));
    return served.length > 0 || isInBootstrap.has(name.file) ? served : found;
  }

  return {
    all,
    resourcesOf,
    expectedAt(file, text, offset) {
      const scalar = scalarAt(text, offset);
      const tried =
        scalar === undefined
          ? `${text.slice(0, offset)}${trial}${text.slice(offset)}`
          : withScalar(text, scalar, trialFor(scalar.value));
      return { typeUrls: typesOfTrial(namesIn(file, tried)), scalar };
    },
    referredAt(file, text, offset) {
      const { typeUrls, scalar } = this.expectedAt(file, text, offset);
      const name = scalar?.value ?? "";
      return name === "" ? [] : typeUrls.map((typeUrl) => ({ typeUrl, name, file }));
    },
    referrersOf(name) {
      const named = resourcesOf(name);
      const isSame = (others: readonly NamedResource[]): boolean =>
        named.length === 0 ? others.length === 0 : others.some((one) => named.includes(one));
      const found = referrers.get(keyOf(name))?.map(({ resource }) => resource) ?? [];
      return found.filter(({ file }) => isSame(resourcesOf({ ...name, file })));
    },
    async definitionOf({ file, typeUrl, name }) {
      const text = await read(file);
      if (isTooLong(text)) return { file, text, scalar: undefined };
      const isName = (one: NamedResource): boolean => one.typeUrl === typeUrl && one.name === name;
      const count = namesIn(file, text).filter(isName).length;
      // Another name in this place takes the name from the resource.
      const scalar = scalarsIn(text).find(
        (one) =>
          one.value === name &&
          (count === 0 ||
            namesIn(file, withScalar(text, one, trialFor(name))).filter(isName).length < count),
      );
      return { file, text, scalar };
    },
    async occurrencesIn(file, name) {
      const text = await read(file);
      if (isTooLong(text)) return undefined;
      const before = namesIn(file, text).map(({ name: held }) => held);
      const isReference = (scalar: TextScalar): boolean => {
        const after = namesIn(file, withScalar(text, scalar, trialFor(scalar.value)));
        const isSame = after.every(({ name: held }, index) => held === before[index]);
        return isSame && typesOfTrial(after).includes(name.typeUrl);
      };
      return scalarsIn(text)
        .filter(({ value }) => keyOf({ ...name, name: value }) === keyOf(name))
        .filter(isReference)
        .map((scalar) => ({ file, text, scalar }));
    },
  };

  async function read(file: string): Promise<string> {
    return textOf(file) ?? (await readFile(file, "utf8"));
  }
}

function typesOfTrial(names: readonly NamedResource[]): readonly string[] {
  const tried = names.flatMap(({ references }) =>
    references.filter(({ name }) => name.includes(trial)),
  );
  return [...new Set(tried.map(({ typeUrl }) => typeUrl))];
}

/** An xdstp name stays one of its type. */
function trialFor(value: string): string {
  return value.startsWith("xdstp:") ? value.replace(/^[^?#]*/, `$&${trial}`) : trial;
}

/** A name in one form for all spellings of it. What is behind `#` says where else it may be. */
export function keyOf({ typeUrl, name }: TypedName): string {
  const [bare = ""] = name.split("#");
  return `${typeUrl} ${bare.startsWith("xdstp:") ? nameKey(bare) : name}`;
}

/** A type as people write it. */
export function typeText(typeUrl: string): string {
  return shortNameOf(typeUrl) ?? typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}
