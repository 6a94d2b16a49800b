import type { CliIo } from "./cli-io.ts";
import { type Command, type CommandCall, pathFrom, takeNoMore } from "./command.ts";

/** `xdstp lsp`: a language server for editors. */
export const lspCommand: Command = {
  name: "lsp",
  summary: "Run a language server, which an editor starts: problems while typing, names, rename.",
  usage: "xdstp lsp [DIR] [--descriptors FILE]...",
  notes: [
    "DIR is the folder that `xdstp serve` serves, as seen from the workspace of the editor (default config). Configurations with which Envoy starts are checked wherever they are.",
    "It speaks the Language Server Protocol over its standard input and output, and ends with the editor.",
  ],
  options: {
    descriptors: {
      value: "FILE",
      multiple: true,
      help: "your own message types, as `buf build -o FILE` writes them",
    },
  },
  example: "xdstp lsp config",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [dir = "config", ...more] = call.positionals;
  takeNoMore(more, "; one folder is checked");
  const [{ startLanguageServer }, { loadRegistry }] = await Promise.all([
    import("@xdstp/lsp"),
    import("./load-registry.ts"),
  ]);
  const descriptors = call.texts("descriptors").map((file) => pathFrom(io.cwd, file));
  const registry = await loadRegistry(descriptors);
  const { stdin: input, stdout: output } = process;
  try {
    await startLanguageServer({ input, output, dir, registry });
  } finally {
    input.destroy(); // Otherwise an editor that keeps the input open would keep the process alive.
  }
  return 0;
}
