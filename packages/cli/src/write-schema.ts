import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Registry } from "@bufbuild/protobuf";
import { shortTypes, typeUrlOf } from "@xdstp/resource-types";
import { bootstrapSchema, folderSchemas, type FolderSchemas, messageSchema } from "@xdstp/schema";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { closest } from "./command-line.ts";
import { loadRegistry } from "./load-registry.ts";

/** The options of `xdstp schema`. */
export interface SchemaOptions {
  /** `bootstrap`, `folder`, or the name of a message. */
  readonly root: string;
  /** The folder of `--root folder`, as the settings of an editor name it. */
  readonly folder: string;
  /** The paths of descriptor sets. */
  readonly descriptors: readonly string[];
  /** True if the schemas have descriptions. */
  readonly comments: boolean;
  /** The path to write to: as it was typed, and absolute. `undefined`: the standard output. */
  readonly out: { readonly shown: string; readonly path: string } | undefined;
}

/** Writes schemas. Returns the exit code. Throws a CliError for an unknown message, and for a file that cannot be written. */
export async function writeSchema(options: SchemaOptions, { stdout }: CliIo): Promise<number> {
  const { root, folder, descriptors, comments, out } = options;
  const registry = await loadRegistry(descriptors);
  if (root === "folder" && out !== undefined) {
    const schemas = folderSchemas(registry, { comments });
    const settings = settingsFor(schemas, folder, out.shown);
    const files = { ...schemas.files, "settings.json": settings };
    for (const [name, content] of Object.entries(files))
      await write(
        join(out.path, name),
        `${JSON.stringify(content, null, name === "settings.json" ? 2 : 0)}\n`,
      );
    const count = Object.keys(schemas.files).length;
    stdout.write(
      `${count} schemas in ${out.shown}; add what is in ${join(out.shown, "settings.json")} to the settings of VS Code\n`,
    );
    return 0;
  }
  const schema =
    root === "bootstrap"
      ? bootstrapSchema(registry, { comments })
      : messageSchema(registry, typeOf(root, registry), { comments });
  const text = `${JSON.stringify(schema)}\n`;
  if (out !== undefined) await write(out.path, text);
  else stdout.write(text);
  return 0;
}

/** Returns the full name of the message that `--root` names. */
function typeOf(root: string, registry: Registry): string {
  const typeUrl = shortTypes.get(root) ?? typeUrlOf(root);
  const name = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
  if (registry.getMessage(name) !== undefined) return name;
  const messages = Array.from(registry, (type) => (type.kind === "message" ? type.typeName : ""));
  const meant = closest(root, ["bootstrap", "folder", ...shortTypes.keys(), ...messages]);
  const wayOut =
    meant === undefined
      ? "for a type of your own, add --descriptors FILE"
      : `did you mean ${meant}?`;
  throw new CliError(1, `--root ${JSON.stringify(root)} is not a known message; ${wayOut}`);
}

/** Returns settings of VS Code that map schemas to files. Paths are relative to the root of the workspace. */
function settingsFor({ folders }: FolderSchemas, folder: string, out: string): object {
  const [base, prefix] = [folder, out].map((path) => path.replace(/^\.\/|\/+$/g, ""));
  const globsOf = (names: readonly string[], ending: string): readonly string[] =>
    names.flatMap((name) =>
      ["*", "_nodes/*/_opaque"].map((above) => `${base}/${above}/${name}/**/*.${ending}`),
    );
  const rows = Object.entries(folders).map(
    ([file, names]) =>
      [out.startsWith("/") ? `${prefix}/${file}` : `./${prefix}/${file}`, names] as const,
  );
  return {
    "yaml.schemas": Object.fromEntries(
      rows.map(([url, names]) => [
        url,
        ["yaml", "yml"].flatMap((ending) => globsOf(names, ending)),
      ]),
    ),
    "json.schemas": rows.map(([url, names]) => ({ fileMatch: globsOf(names, "json"), url })),
  };
}

async function write(path: string, text: string): Promise<void> {
  try {
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, text);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new CliError(1, `--out ${path}: it cannot be written (${code ?? message})`, { cause });
  }
}
