import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Command, type CommandCall, pathFrom, takeNoMore } from "./command.ts";

/** `xdstp schema`: prints JSON Schemas for editors. */
export const schemaCommand: Command = {
  name: "schema",
  summary: "Print JSON Schemas for editors: of Envoy's configuration, of a folder, of a message.",
  usage:
    "xdstp schema [--root bootstrap|folder|TYPE] [--folder DIR] [--descriptors FILE]... [--no-comments] [--out FILE|DIR]",
  notes: [
    "An editor with the YAML language server completes and checks with it, also in `typed_config`. In the first line of a file: # yaml-language-server: $schema=envoy.schema.json",
    "The schemas of a folder are several files, so --root folder needs --out DIR. DIR/settings.json is for VS Code: it says which schema is for which files.",
  ],
  options: {
    root: {
      value: "bootstrap|folder|TYPE",
      help: "a configuration with which Envoy starts (default), a folder that `xdstp serve` serves, or a message, by its full name or as `clusters`",
    },
    folder: {
      value: "DIR",
      help: "with --root folder: the folder, as seen from the root of the workspace (default config)",
    },
    descriptors: {
      value: "FILE",
      multiple: true,
      help: "your own message types, as `buf build -o FILE` writes them",
    },
    "no-comments": {
      help: "leave out the descriptions of fields, messages and enums, which are more than half of a schema",
    },
    out: { value: "FILE|DIR", help: "where to write (default: to the standard output)" },
  },
  example: "xdstp schema --out envoy.schema.json",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  takeNoMore(call.positionals, "; --root says what the schema is for");
  const root = call.text("root") ?? "bootstrap";
  const out = call.text("out");
  if (root === "folder" && out === undefined)
    throw new CliError(2, "--root folder is several schemas; give --out DIR");
  if (root !== "folder" && call.text("folder") !== undefined)
    throw new CliError(2, "--folder is for --root folder; leave it out, or add --root folder");
  const { writeSchema } = await import("./write-schema.ts");
  return writeSchema(
    {
      root,
      folder: call.text("folder") ?? "config",
      descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
      comments: !call.flag("no-comments"),
      out: out === undefined ? undefined : { shown: out, path: pathFrom(io.cwd, out) },
    },
    io,
  );
}
