import { askFlags, askOptions, tlsUsage } from "./ask-flags.ts";
import { clientTlsOptions, namingSource } from "./asked-server.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Command, type CommandCall, pathFrom, secondsFlag, takeNoMore } from "./command.ts";
import { parseListen } from "./endpoint.ts";

const { server, bootstrap, sotw, delta, node, cluster, "node-metadata": metadata } = askOptions;

/** `xdstp export`: writes what a server serves as files that Envoy reads. */
export const exportCommand: Command = {
  name: "export",
  summary: "Write what a server or a folder has as files that Envoy reads without a server.",
  usage: `xdstp export DIR [--from FOLDER | --server HOST:PORT | --bootstrap FILE] [--watch] [--read-dir PATH] [--admin HOST:PORT] [--force] [--sotw | --delta] [--node ID] [--cluster NAME] [--node-metadata JSON] [--descriptors FILE]... [--json] [--timeout SECONDS] ${tlsUsage}`,
  notes: [
    "DIR gets lds.json and cds.json with all listeners and clusters, a file for each name that these refer to (rds/NAME.json, eds/NAME.json, sds/NAME.json, ecds/NAME.json), and bootstrap.json, with which Envoy reads them: `envoy -c DIR/bootstrap.json`. Each file is a DiscoveryResponse, as path_config_source expects it. Names are percent-encoded.",
    "References by ads or self become files. Other config sources stay as they are; where one needs the server and cannot be a file, such as scoped routes, a line says so.",
    "Each file is replaced as a whole, those that others refer to first, so a running Envoy takes the change. Files that nothing refers to any more are removed. Nothing is written before the server has answered everything; an outage leaves the files as they are.",
    "With --watch the files follow the server until Ctrl-C. Files with secrets have mode 0600.",
  ],
  options: {
    from: { value: "FOLDER", help: "a folder, as `xdstp serve` serves it, instead of a server" },
    ...Object.fromEntries(
      Object.entries({ server, bootstrap }).flatMap(([name, option]) =>
        option === undefined ? [] : [[name, option]],
      ),
    ),
    watch: { help: "go on, and write each change" },
    "read-dir": {
      value: "PATH",
      help: "the path of DIR where Envoy runs, such as that of a volume in its container (default: the absolute path of DIR)",
    },
    admin: {
      value: "HOST:PORT",
      help: "where the admin page of Envoy listens; PORT alone is on loopback (default 127.0.0.1:0, a free port)",
    },
    force: { help: "write into a DIR that holds something else" },
    ...Object.fromEntries(
      Object.entries({ sotw, delta, node, cluster, "node-metadata": metadata }).flatMap(
        ([name, option]) => (option === undefined ? [] : [[name, option]]),
      ),
    ),
    descriptors: {
      value: "FILE",
      multiple: true,
      help: "your own message types, as `buf build -o FILE` writes them",
    },
    json: { help: "one JSON object per state that was written" },
    timeout: {
      value: "SECONDS",
      help: "how long to wait for the first state (default 30; with --watch: without end)",
    },
    ...clientTlsOptions,
  },
  example: "xdstp export ./files --server 127.0.0.1:18000 && envoy -c ./files/bootstrap.json",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [dir, ...more] = call.positionals;
  if (dir === undefined) throw new CliError(2, "which directory?");
  takeNoMore(more, "; give one directory");
  const from = call.text("from");
  for (const other of ["server", "bootstrap"])
    if (from !== undefined && call.text(other) !== undefined)
      throw new CliError(2, `--from and --${other} both say what is exported; give one of them`);
  const ask = from === undefined ? await askFlags(call, io) : undefined;
  const isWatching = call.flag("watch");
  const { exportFiles } = await import("./export.ts");
  const admin = parseListen("--admin", call.text("admin") ?? "0");
  return namingSource(ask?.server, async () =>
    exportFiles(
      {
        dir: pathFrom(io.cwd, dir),
        supply: ask ?? pathFrom(io.cwd, from ?? ""),
        readDir: call.text("read-dir"),
        node: call.text("node") ?? "envoy",
        cluster: call.text("cluster") ?? "default",
        admin,
        watch: isWatching,
        force: call.flag("force"),
        json: call.flag("json"),
        descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
        timeoutMs: secondsFlag(call, "timeout") ?? (isWatching ? undefined : 30_000),
      },
      io,
    ),
  );
}
