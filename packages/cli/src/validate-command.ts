import type { CliIo } from "./cli-io.ts";
import { CliError } from "./cli-error.ts";
import { clientsOf, clientsOption } from "./clients-flag.ts";
import { type Command, type CommandCall, pathFrom, takeNoMore, wordFlag } from "./command.ts";

/** `xdstp validate`: checks a folder, a bootstrap or a file without a server. */
export const validateCommand: Command = {
  name: "validate",
  summary:
    "Check folders, bootstraps of Envoy and files: syntax, messages, constraints, references.",
  usage:
    "xdstp validate PATH... [--for envoy|grpc]... [--fail-on error|warning] [--allow CODE]... [--descriptors FILE]... [--authority NAME]... [--envoy BIN] [--json|--sarif]\n       xdstp validate --explain CODE",
  notes: [
    'PATH is a folder that `xdstp serve` serves, a configuration with which Envoy starts, or a file of one resource or several with "@type"; a file of a folder needs none. The content of a file says what it is, its extension the format. Each problem is a line: file:line:column: error or warning: message [code]. --explain CODE says what a code means, with an example and the way out.',
    "Errors are what `serve` rejects, and constraints that clients check (`validate.rules` of the Envoy API, `buf.validate` of your own types). Warnings are deprecated fields, references to what the folder does not have, opaque endpoints, routes and secrets to which nothing refers, and files that are not read.",
    "--for grpc checks resources against what gRPC clients reject and not against what Envoy rejects; --for envoy --for grpc against both. A bootstrap is Envoy's.",
    "--envoy BIN has a real Envoy read the same (`--mode validate`), and shows what it rejects and no other check finds: with the place, as far as Envoy says it or asking it about parts shows it. Resources are read each by itself; what only exists on the machine of Envoy, such as a certificate in a file, is left out.",
    "The exit code is 0 where nothing is found, 1 where there is an error, or with --fail-on warning a warning, and 2 for a wrong call.",
  ],
  options: {
    "fail-on": {
      value: "error|warning",
      help: "with what the exit code is 1 (default error)",
    },
    allow: {
      value: "CODE",
      multiple: true,
      help: "a problem that is a warning, as for xdstp serve --allow",
    },
    for: clientsOption,
    descriptors: {
      value: "FILE",
      multiple: true,
      help: "your own message types, as `buf build -o FILE` writes them",
    },
    authority: {
      value: "NAME",
      multiple: true,
      help: "an authority that is served, here or elsewhere (default: those that the folder has)",
    },
    envoy: {
      value: "BIN",
      help: "the program of an Envoy, which reads everything too; it opens no port",
    },
    json: { help: "one JSON object" },
    sarif: { help: "a SARIF 2.1.0 log, for code scanning of forges and for editors" },
    explain: { value: "CODE", help: "show the page of a code, for instance of unknown-field" },
  },
  example: "xdstp validate config",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const code = call.text("explain");
  if (code !== undefined) {
    takeNoMore(call.positionals, "; --explain checks no folder or file");
    const { explainCode } = await import("./explain.ts");
    io.stdout.write(explainCode(code));
    return 0;
  }
  if (call.positionals.length === 0) throw new CliError(2, "which folder or file?");
  if (call.flag("json") && call.flag("sarif"))
    throw new CliError(2, "--json and --sarif are two forms of output; give one of them");
  const failOn = wordFlag(call, "fail-on", ["error", "warning"]) ?? "error";
  const { validate } = await import("./validate.ts");
  return validate(
    {
      paths: [...new Set(call.positionals.map((path) => pathFrom(io.cwd, path)))],
      failOn,
      allow: call.texts("allow"),
      clients: clientsOf(call),
      descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
      authorities: call.texts("authority"),
      envoy: envoyOf(call, io),
      format: call.flag("sarif") ? "sarif" : call.flag("json") ? "json" : "text",
    },
    io,
  );
}

/** Returns the program of `--envoy`. A path with a slash is relative to the working directory, as in a shell; a name is searched for in `PATH`. */
function envoyOf(call: CommandCall, { cwd }: CliIo): string | undefined {
  const program = call.text("envoy");
  return program?.includes("/") === true ? pathFrom(cwd, program) : program;
}
