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
import { type Command, type CommandCall, countFlag, pathFrom, secondsFlag } from "./command.ts";
import { viewOptions } from "./get-command.ts";

/** The options of a command that runs until it has seen enough. */
export const untilOptions = {
  count: { value: "N", help: "end after N of them" },
  timeout: { value: "SECONDS", help: "end after this time" },
} as const;

/** `xdstp watch`: shows the changes of resources, as a client of the server receives them. */
export const watchCommand: Command = {
  name: "watch",
  summary:
    "Follow resources, globs, lists or types as a client of a server, and show each change as a diff.",
  usage: `xdstp watch NAME... ${askUsage} ${lookUpUsage} [--json] [--show-secrets] [--descriptors FILE]... [--nack REASON] [--count N] [--timeout SECONDS] ${tlsUsage}`,
  notes: [
    "NAME is an xdstp name, a glob (xdstp://AUTHORITY/TYPE/PATH/*) or a list (xdstp://AUTHORITY/TYPECollection/ID) of such names, or with --type an opaque name or * for all of the type.",
    "Each name is requested of the servers of its authority. Redirects and directives (#alt=LOCATOR, #entry=NAME) are followed, and the steps of a name are shown before its state.",
    "It shows the first state, each change, what is removed, missing or rejected, and whether the server answers; a server that goes is asked until it is back. Ctrl-C ends it.",
    "With --count N it ends with 0 after N events of resources, and with 1 if these have not come within --timeout.",
  ],
  options: {
    ...askOptions,
    ...lookUpOptions,
    json: { help: "one JSON object per event and line" },
    ...viewOptions,
    ...nackOption,
    count: { value: "N", help: "end after N events of resources" },
    timeout: untilOptions.timeout,
  },
  example:
    "xdstp watch 'xdstp://example.com/envoy.config.cluster.v3.Cluster/*' --server 127.0.0.1:18000",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  if (call.positionals.length === 0) throw new CliError(2, "which name?");
  rejectAttributesIn(call.positionals);
  const { askedName } = await import("./asked-name.ts");
  const asked = call.positionals.map((name) => askedName(call, name));
  const ask = await askFlags(call, io, call.positionals);
  const [count, timeoutMs] = [countFlag(call, "count"), secondsFlag(call, "timeout")];
  const { watch } = await import("./watch.ts");
  return namingSource(ask.server, async () =>
    watch(
      {
        asked,
        ask,
        json: call.flag("json"),
        showSecrets: call.flag("show-secrets"),
        descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
        count,
        timeoutMs,
      },
      io,
    ),
  );
}
