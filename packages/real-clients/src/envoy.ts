import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Process, startProcess } from "./start-process.ts";
import { until } from "./until.ts";
import { useFolder } from "./use-folder.ts";

/** A running Envoy. */
export interface Envoy extends Process {
  /** One number or text of its statistics, under its full name; undefined where there is none. */
  stat(name: string): Promise<string | undefined>;
  /** All statistics whose names match, by name. */
  stats(pattern: RegExp): Promise<ReadonlyMap<string, string>>;
  /** Resolves when a statistic has this value. */
  untilStat(name: string, value: string): Promise<void>;
  /** Returns the statistics, with their counts, of waits that ended by a timeout or fell back to old endpoints since the start. */
  timeouts(): Promise<readonly string[]>;
  /** The names of its active clusters that came over xDS, sorted. */
  clusters(): Promise<readonly string[]>;
  /** The names of its listeners, sorted. */
  listeners(): Promise<readonly string[]>;
  /** The URL of a listener, once it listens. */
  url(listener: string): Promise<string>;
  /** Returns the answer to `/config_dump?include_eds` of its admin page. */
  dump(): Promise<string>;
  /** Resolves when nothing warms any more. */
  untilWarm(): Promise<void>;
}

/** Starts Envoy with a bootstrap for the time of the test; resolves when its admin page answers. JSON or the text of a YAML file. `more`: further arguments. */
export async function startEnvoy(
  command: string,
  bootstrap: object | string,
  more: readonly string[] = [],
): Promise<Envoy> {
  const file = typeof bootstrap === "string" ? "bootstrap.yaml" : "bootstrap.json";
  const dir = useFolder({
    [file]: typeof bootstrap === "string" ? bootstrap : JSON.stringify(bootstrap),
  });
  const addressFile = join(dir, "admin");
  const child = startProcess(
    command,
    [
      "-c",
      join(dir, file),
      "--use-dynamic-base-id",
      "--concurrency",
      "1",
      "--admin-address-path",
      addressFile,
      "-l",
      "warning",
      ...more,
    ],
    { cwd: dir },
  );
  const address = await until(
    "the admin page of Envoy",
    () => child.ended ?? addressIn(addressFile),
    () => child.lines.slice(-5),
  );
  if (child.ended !== undefined)
    throw new Error(`Envoy ${child.ended}: ${child.lines.slice(-5).join("\n")}`);
  return inspect(child, `http://${address}`);
}

/** Envoy makes the file before it writes into it. */
function addressIn(file: string): string | undefined {
  const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  return text.includes(":") ? text : undefined;
}

interface ListenerStatus {
  readonly name: string;
  readonly local_address?: {
    readonly socket_address?: { readonly address: string; readonly port_value: number };
  };
}

function inspect(child: Process, admin: string): Envoy {
  const read = async (path: string): Promise<string> => (await fetch(admin + path)).text();
  const stats: Envoy["stats"] = async (pattern) => {
    const lines = (await read(`/stats?filter=${encodeURIComponent(pattern.source)}`))
      .split("\n")
      .filter((line) => line.includes(": "));
    return new Map(
      lines.map((line) => [
        line.slice(0, line.indexOf(": ")),
        line.slice(line.indexOf(": ") + 2).replace(/^"(.*)"$/, "$1"),
      ]),
    );
  };
  const stat: Envoy["stat"] = async (name) =>
    (await stats(new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`))).get(name);
  const untilStat: Envoy["untilStat"] = async (name, value) => {
    let last: string | undefined;
    await until(
      `${name} = ${value}`,
      async () => (last = await stat(name)) === value,
      () => last,
    );
  };
  const statuses = async (): Promise<readonly ListenerStatus[]> =>
    (
      JSON.parse(await read("/listeners?format=json")) as {
        readonly listener_statuses?: readonly ListenerStatus[];
      }
    ).listener_statuses ?? [];
  return {
    ...child,
    get ended() {
      return child.ended;
    },
    stat,
    stats,
    untilStat,
    timeouts: async () => {
      const counts = [
        ...(await stats(/init_fetch_timeout|assignment_timeout_received|assignment_use_cached/)),
      ];
      // Without a single one the names have changed, and nothing would ever be found.
      if (counts.length === 0) throw new Error("Envoy has no statistics of timeouts");
      return counts
        .filter(([, value]) => value !== "0")
        .map(([name, value]) => `${name}: ${value}`);
    },
    clusters: async () => {
      const { configs = [] } = JSON.parse(
        await read("/config_dump?resource=dynamic_active_clusters"),
      ) as { readonly configs?: readonly { readonly cluster: { readonly name: string } }[] };
      return configs.map(({ cluster }) => cluster.name).sort();
    },
    listeners: async () => (await statuses()).map(({ name }) => name).sort(),
    url: (name) =>
      until(`listener ${name}`, async () =>
        urlOf((await statuses()).find((status) => status.name === name)),
      ),
    dump: () => read("/config_dump?include_eds"),
    untilWarm: async () => {
      await untilStat("cluster_manager.warming_clusters", "0");
      await untilStat("listener_manager.total_listeners_warming", "0");
    },
  };
}

function urlOf(status: ListenerStatus | undefined): string | undefined {
  const address = status?.local_address?.socket_address;
  return address === undefined || address.port_value === 0
    ? undefined
    : `http://${address.address}:${address.port_value}/`;
}
