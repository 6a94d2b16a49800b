import {
  askFlags,
  askOptions,
  askUsage,
  lookUpOptions,
  lookUpUsage,
  nackOption,
  rejectAttributesIn,
  tlsUsage,
} from "./ask-flags.ts";
import { namingSource } from "./asked-server.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import {
  type Command,
  type CommandCall,
  countFlag,
  pathFrom,
  secondsFlag,
  takeNoMore,
  wordFlag,
} from "./command.ts";

/** The options of commands that show the content of resources. */
export const viewOptions = {
  "show-secrets": { help: "show private keys, passwords and the like (default: [redacted])" },
  descriptors: {
    value: "FILE",
    multiple: true,
    help: "your own message types, as `buf build -o FILE` writes them",
  },
} as const;

/** `xdstp get`: shows one resource, or the members of a collection, as a client of the server receives them. */
export const getCommand: Command = {
  name: "get",
  summary:
    "Show a resource, or the members of a glob, list or type, as a client of a server gets them.",
  usage: `xdstp get NAME ${askUsage} ${lookUpUsage} [--no-follow] [--output yaml|json|table] [--json] [--show-secrets] [--descriptors FILE]... [--nack REASON] [--max-members N] [--timeout SECONDS] ${tlsUsage}`,
  notes: [
    "NAME is an xdstp name, a glob (xdstp://AUTHORITY/TYPE/PATH/*) or a list (xdstp://AUTHORITY/TYPECollection/ID) of such names, or with --type an opaque name or * for all of the type.",
    "Each name is requested of the servers of its authority. Redirects and directives (#alt=LOCATOR, #entry=NAME) are followed, and the steps are shown with the server of each.",
    "The YAML can be piped into a file of a folder that `xdstp serve` serves, and is served as it was: with TTL, aliases, constraints, metadata and a label as version. A redirect needs --no-follow, a list the --type of the list, a secret --show-secrets. Members are listed; with --output yaml or json they are shown.",
    "What cannot be read as its type is rejected, as by every client, with a NACK to the server. With --nack everything is rejected, and what was rejected is shown.",
  ],
  options: {
    ...askOptions,
    ...lookUpOptions,
    "no-follow": {
      help: "show a redirect itself, instead of what it leads to; of names without directives",
    },
    output: { value: "yaml|json|table", help: "default yaml; of several, table" },
    json: { help: "the same as --output json" },
    ...viewOptions,
    ...nackOption,
    "max-members": {
      value: "N",
      help: "end with an error where a glob or type has more members (default 100000)",
    },
    timeout: { value: "SECONDS", help: "how long to wait (default 10)" },
  },
  example:
    "xdstp get xdstp://example.com/envoy.config.cluster.v3.Cluster/web --server 127.0.0.1:18000",
  run,
};

function outputFlag(call: CommandCall): "yaml" | "json" | "table" | undefined {
  const output = wordFlag(call, "output", ["yaml", "json", "table"]);
  if (!call.flag("json")) return output;
  if (output !== undefined && output !== "json")
    throw new CliError(
      2,
      `--json and --output ${output} are two forms of output; give one of them`,
    );
  return "json";
}

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [text, ...more] = call.positionals;
  if (text === undefined) throw new CliError(2, "which name?");
  takeNoMore(more, "; give one name (put * into quotes)");
  rejectAttributesIn([text]);
  const { askedName } = await import("./asked-name.ts");
  const asked = askedName(call, text);
  if (call.flag("no-follow") && text.startsWith("xdstp:") && text.includes("#"))
    throw new CliError(
      2,
      "--no-follow shows a redirect itself, and a name with directives leads elsewhere by itself; leave the directives out",
    );
  const output = outputFlag(call);
  const ask = await askFlags(call, io, [text]);
  const timeoutMs = secondsFlag(call, "timeout") ?? 10_000;
  const { get } = await import("./get.ts");
  return namingSource(ask.server, async () =>
    get(
      {
        asked,
        ask,
        timeoutMs,
        maxMembers: countFlag(call, "max-members") ?? 100_000,
        output: output ?? (asked.kind === "name" ? "yaml" : "table"),
        showSecrets: call.flag("show-secrets"),
        descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
      },
      io,
    ),
  );
}
