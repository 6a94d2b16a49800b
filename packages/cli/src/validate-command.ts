import type { CliIo } from "./cli-io.ts";
import { CliError } from "./cli-error.ts";
import { type Command, type CommandCall, pathFrom, takeNoMore, wordFlag } from "./command.ts";

/** `xdstp validate`: what is wrong with a folder or a bootstrap, without a server. */
export const validateCommand: Command = {
  name: "validate",
  summary: "Check a folder or a bootstrap of Envoy: syntax, messages, constraints, references.",
  usage:
    "xdstp validate DIR|FILE [--fail-on error|warning] [--allow CODE]... [--descriptors FILE]... [--authority NAME]... [--json]\n       xdstp validate --explain CODE",
  notes: [
    "DIR is a folder that `xdstp serve` serves, FILE a configuration with which Envoy starts, in YAML or JSON. Each problem is a line: file:line:column: error or warning: message [code]. --explain CODE says what a code means, with an example and the way out.",
    "Errors are what `serve` rejects, and constraints that clients check (`validate.rules` of the Envoy API, `buf.validate` of your own types). Warnings are references to what the folder does not have, opaque endpoints, routes and secrets to which nothing refers, and files that are not read.",
    "The exit code is 1 where there is an error, or with --fail-on warning a warning.",
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
    json: { help: "one JSON object" },
    explain: { value: "CODE", help: "show the page of a code, for instance of unknown-field" },
  },
  example: "xdstp validate config",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [path, ...more] = call.positionals;
  const code = call.text("explain");
  if (code !== undefined) {
    takeNoMore(call.positionals, "; --explain checks no folder or file");
    const { explainCode } = await import("./explain.ts");
    io.stdout.write(explainCode(code));
    return 0;
  }
  if (path === undefined) throw new CliError(2, "which folder or file?");
  takeNoMore(more, "; one folder or file is checked");
  const failOn = wordFlag(call, "fail-on", ["error", "warning"]) ?? "error";
  const { validate } = await import("./validate.ts");
  return validate(
    {
      path: pathFrom(io.cwd, path),
      failOn,
      allow: call.texts("allow"),
      descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
      authorities: call.texts("authority"),
      json: call.flag("json"),
    },
    io,
  );
}
