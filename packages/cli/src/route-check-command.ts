import type { RouteRequest } from "@xdstp/routes";
import { askFlags, askOptions, tlsUsage } from "./ask-flags.ts";
import { namingSource } from "./asked-server.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Command, type CommandCall, pathFrom, secondsFlag, takeNoMore } from "./command.ts";

/** Options of commands that connect to a server which `xdstp route-check` does not have. */
const unused: ReadonlySet<string> = new Set(["type", "max-hops", "alt-on", "dns"]);

/** `xdstp route-check`: shows which route takes a request. */
export const routeCheckCommand: Command = {
  name: "route-check",
  summary: "Show which route takes a request, and why the routes before it do not.",
  usage: `xdstp route-check URL (--folder DIR | --server HOST:PORT | --bootstrap FILE) [--config NAME] [--method METHOD] [--header 'NAME: VALUE']... [--json] [--timeout SECONDS] ${tlsUsage}`,
  notes: [
    "URL is that of the request: http://shop.example/items?page=2. Its host chooses the virtual host, as the Host header does.",
    "With --folder the route configurations of a folder of `xdstp serve` are read, and those in its listeners. With a server, those of the listeners that the server sends for *, and what these refer to.",
    "A route that matches perhaps depends on what a request does not show: a share of the requests, a runtime key, metadata, an extension. The routes after it are tried too.",
    "The exit code is 1 where no route surely takes the request.",
  ],
  options: {
    folder: { value: "DIR", help: "a folder that `xdstp serve` serves" },
    config: {
      value: "NAME",
      help: "only the route configuration of this name (default: all that are found)",
    },
    method: { value: "METHOD", help: "the method of the request (default GET)" },
    header: {
      value: "NAME: VALUE",
      multiple: true,
      help: "a header of the request; may be given several times",
    },
    json: { help: "one JSON object" },
    timeout: { value: "SECONDS", help: "how long to wait for a server (default 10)" },
    ...Object.fromEntries(Object.entries(askOptions).filter(([name]) => !unused.has(name))),
  },
  example: "xdstp route-check http://shop.example/items --folder config",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [url, ...more] = call.positionals;
  if (url === undefined) throw new CliError(2, "which URL?");
  takeNoMore(more, "; one request is checked (put a URL with & or ? into quotes)");
  const folder = call.text("folder");
  if (folder !== undefined && (call.text("server") ?? call.text("bootstrap")) !== undefined)
    throw new CliError(2, "--folder and a server are two sources of routes; give one of them");
  const request = requestOf(call, url);
  const options = {
    request,
    config: call.text("config"),
    json: call.flag("json"),
    timeoutMs: secondsFlag(call, "timeout") ?? 10_000,
  };
  const { checkFolder, checkServer } = await import("./route-check.ts");
  if (folder !== undefined) return checkFolder(pathFrom(io.cwd, folder), options, io);
  const ask = await askFlags(call, io);
  return namingSource(ask.server, async () => checkServer(ask, options, io));
}

function requestOf(call: CommandCall, url: string): RouteRequest {
  const [, scheme = "", authority = "", path = ""] =
    /^(https?):\/\/([^/?#]+)([^#]*)/i.exec(url) ?? [];
  if (authority === "")
    throw new CliError(
      2,
      `${JSON.stringify(url)} is not the URL of a request; give one such as http://shop.example/items`,
    );
  return {
    method: call.text("method") ?? "GET",
    scheme: scheme.toLowerCase() === "https" ? "https" : "http",
    authority,
    path: path.startsWith("/") ? path : `/${path}`,
    headers: headersOf(call.texts("header")),
  };
}

function headersOf(texts: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const headers = new Map<string, string[]>();
  for (const text of texts) {
    const [, name, value] = /^([^\s:]+)\s*:\s*(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new CliError(
        2,
        `--header ${JSON.stringify(text)}: give a name and a value, as in 'x-user: 17'`,
      );
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  return Object.fromEntries(headers);
}
