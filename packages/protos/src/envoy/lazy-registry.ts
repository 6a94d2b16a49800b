import {
  createFileRegistry,
  type DescExtension,
  type DescFile,
  type FileRegistry,
  fromBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

type DescType = NonNullable<ReturnType<FileRegistry["get"]>>;

/** A registry that has each file which one of its files imports. */
export interface CompleteRegistry extends FileRegistry {
  /** `@xdstp/validate` reads it: a file that `getFile` does not find is not imported by a type of this registry. */
  readonly holdsImports: true;
}

/**
 * Returns the registry of an encoded `FileDescriptorSet` that holds its imports. A file is decoded when one of its types is requested; a loop over the registry decodes all.
 *
 * A lookup throws an Error where a file imports one that the set does not have.
 */
export function lazyRegistry(set: Uint8Array): CompleteRegistry {
  const index = indexOf(set);
  const files = new Map<string, DescFile>();
  const types = new Map<string, DescType>();
  let extensions: readonly DescExtension[] | undefined;

  function fileOf(name: string): DescFile | undefined {
    const bytes = index.files.get(name);
    if (bytes === undefined) return undefined;
    const file = files.get(name) ?? decode(bytes);
    files.set(name, file);
    return file;
  }

  function decode(bytes: Uint8Array): DescFile {
    const proto = fromBinary(FileDescriptorProtoSchema, bytes);
    const imports = new Map(proto.dependency.map((name) => [name, fileOf(name)]));
    const registry = createFileRegistry(proto, (name) => {
      const file = imports.get(name);
      return file && withoutImports(file);
    });
    const file = registry.getFile(proto.name);
    if (file === undefined) throw new Error(`${proto.name} cannot be read`);
    for (const type of nestedTypes(file)) types.set(type.typeName, type);
    return Object.assign(file, { dependencies: [...imports.values()] });
  }

  function typeOf(typeName: string): DescType | undefined {
    const found = types.get(typeName);
    if (found !== undefined) return found;
    const file = index.fileOfType(typeName);
    if (file === undefined || files.has(file)) return undefined;
    fileOf(file);
    return types.get(typeName);
  }

  function typeOfKind<K extends DescType["kind"]>(typeName: string, kind: K) {
    const type = typeOf(typeName);
    return type?.kind === kind ? (type as Extract<DescType, { readonly kind: K }>) : undefined;
  }

  function* allFiles(): Generator<DescFile, undefined> {
    for (const name of index.files.keys()) {
      const file = fileOf(name);
      if (file !== undefined) yield file;
    }
  }

  function* allTypes(): Generator<DescType, undefined> {
    for (const file of allFiles()) yield* nestedTypes(file);
  }

  return {
    kind: "registry",
    holdsImports: true,
    get files() {
      return allFiles();
    },
    [Symbol.iterator]: allTypes,
    getFile: fileOf,
    get: typeOf,
    getMessage: (typeName) => typeOfKind(typeName, "message"),
    getEnum: (typeName) => typeOfKind(typeName, "enum"),
    getExtension: (typeName) => typeOfKind(typeName, "extension"),
    getService: (typeName) => typeOfKind(typeName, "service"),
    getExtensionFor(extendee, number) {
      extensions ??= index.withExtensions.flatMap((name) => fileOf(name)?.extensions ?? []);
      return extensions.find(
        (one) => one.number === number && one.extendee.typeName === extendee.typeName,
      );
    },
  };
}

/** An import whose own imports are left out, unless they are public: else the registry of each file would get the types of all files below it. */
function withoutImports(file: DescFile): DescFile {
  const isPublic = new Set(file.proto.publicDependency);
  return {
    ...file,
    dependencies: file.dependencies
      .filter((_, position) => isPublic.has(position))
      .map(withoutImports),
  };
}

interface SetIndex {
  /** The encoded files by name, in the order of the set. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The names of the files that declare extensions. */
  readonly withExtensions: readonly string[];
  /** Returns the name of the file that has the type, or the message around it. */
  fileOfType(typeName: string): string | undefined;
}

/** The numbers of fields in `descriptor.proto`. */
const filesOfSet = 1;
const nameOfAny = 1;
const packageOfFile = 2;
const messagesOfFile = 4;
const enumsOfFile = 5;
const servicesOfFile = 6;
const extensionsOfFile = 7;

const typesOfFile: ReadonlySet<number> = new Set([
  messagesOfFile,
  enumsOfFile,
  servicesOfFile,
  extensionsOfFile,
]);

function indexOf(set: Uint8Array): SetIndex {
  const files = new Map<string, Uint8Array>();
  const fileOfTop = new Map<string, string>();
  const withExtensions: string[] = [];
  const reader = new BinaryReader(set);
  eachText(reader, set.length, (number, end) => {
    if (number !== filesOfSet) return;
    const bytes = set.subarray(reader.pos, end);
    let name = "";
    let scope = "";
    const fields = new Set<number>();
    const tops: string[] = [];
    eachText(reader, end, (field, endOfField) => {
      if (field === nameOfAny) name = textIn(set, reader.pos, endOfField);
      else if (field === packageOfFile) scope = textIn(set, reader.pos, endOfField);
      else if (typesOfFile.has(field)) tops.push(nameIn(set, reader, endOfField));
      fields.add(field);
    });
    files.set(name, bytes);
    for (const top of tops) fileOfTop.set(scope === "" ? top : `${scope}.${top}`, name);
    if (fields.has(extensionsOfFile)) withExtensions.push(name);
  });
  return {
    files,
    withExtensions,
    fileOfType(typeName) {
      for (
        let name = typeName;
        name !== "";
        name = name.slice(0, Math.max(0, name.lastIndexOf(".")))
      ) {
        const file = fileOfTop.get(name);
        if (file !== undefined) return file;
      }
      return undefined;
    },
  };
}

/** Calls `visit` with each field of a message that has a length: texts and messages. Then the reader is at the beginning of the field, and `end` is behind it. */
function eachText(
  reader: BinaryReader,
  endOfMessage: number,
  visit: (number: number, end: number) => void,
): void {
  while (reader.pos < endOfMessage) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.LengthDelimited) {
      const length = reader.uint32();
      const end = reader.pos + length;
      visit(number, end);
      reader.pos = end;
    } else reader.skip(wireType, number); // only fields with a length hold files and types
  }
}

/** The name of a type, which encoders write first. */
function nameIn(set: Uint8Array, reader: BinaryReader, end: number): string {
  let name = "";
  while (reader.pos < end && name === "") {
    const [number, wireType] = reader.tag();
    if (number === nameOfAny) {
      const length = reader.uint32();
      name = textIn(set, reader.pos, reader.pos + length);
    } else reader.skip(wireType, number); // the name may come after other fields
  }
  return name;
}

const utf8 = new TextDecoder();

function textIn(set: Uint8Array, start: number, end: number): string {
  return utf8.decode(set.subarray(start, end));
}
