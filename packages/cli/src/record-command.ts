import { askFlags, askOptions, askUsage, nackOption, tlsUsage } from "./ask-flags.ts";
import { namingSource } from "./asked-server.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Command, type CommandCall, countFlag, pathFrom, secondsFlag } from "./command.ts";
import { untilOptions } from "./watch-command.ts";

/** `xdstp record`: writes the streams of a client to a file. */
export const recordCommand: Command = {
  name: "record",
  summary:
    "Follow resources as a client of a server, and write every message of both sides to a file.",
  usage: `xdstp record FILE NAME... ${askUsage} [--redact] [--json] [--nack REASON] [--count N] [--timeout SECONDS] ${tlsUsage}`,
  notes: [
    "NAME is an xdstp name, a glob of such names (xdstp://AUTHORITY/TYPE/PATH/*), or with --type an opaque name or * for all of the type.",
    "FILE holds a line of JSON for each message; `xdstp replay` plays either side of it. The README says what is in a line. FILE must not be there yet, and only you may read it.",
    "A recording holds what the server sends, secrets too: it warns of those. With --redact they are left out, and so is what cannot be searched.",
    "It goes on until Ctrl-C, --count or --timeout.",
  ],
  options: {
    ...askOptions,
    bootstrap: {
      value: "FILE",
      help: "a bootstrap of gRPC (default: that in GRPC_XDS_BOOTSTRAP or GRPC_XDS_BOOTSTRAP_CONFIG)",
    },
    redact: {
      help: "leave out private keys, passwords and the like, and types that are not known",
    },
    json: { help: "one JSON object per message and line" },
    ...nackOption,
    count: { value: "N", help: "end after N responses" },
    timeout: untilOptions.timeout,
  },
  example:
    "xdstp record bug.jsonl xdstp://example.com/envoy.config.cluster.v3.Cluster/web --server 127.0.0.1:18000 --count 1",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [file, ...names] = call.positionals;
  if (file === undefined || file === "") throw new CliError(2, "which file?");
  if (names.length === 0) throw new CliError(2, "which name? It stands behind the file");
  const { askedName } = await import("./asked-name.ts");
  const asked = names.map((name) => askedName(call, name));
  const ask = await askFlags(call, io, names);
  const [count, timeoutMs] = [countFlag(call, "count"), secondsFlag(call, "timeout")];
  const { record } = await import("./record.ts");
  return namingSource(ask.server, async () =>
    record(
      {
        file: pathFrom(io.cwd, file),
        asked,
        ask,
        redact: call.flag("redact"),
        json: call.flag("json"),
        count,
        timeoutMs,
      },
      io,
    ),
  );
}
