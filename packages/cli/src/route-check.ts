import {
  findRoute,
  type FoundRoute,
  type RouteOutcome,
  type RouteRequest,
  type TriedRoute,
} from "@xdstp/routes";
import type { AskFlags } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { wrapWords } from "./fit-text.ts";
import { jsonText } from "./json-text.ts";
import {
  configurationsIn,
  configurationsOf,
  type FoundConfiguration,
} from "./route-configurations.ts";
import { escapeText } from "./short-text.ts";

/** The options of `xdstp route-check`. */
export interface RouteCheckOptions {
  readonly request: RouteRequest;
  /** The name of the only route configuration to check. `undefined`: all are checked. */
  readonly config: string | undefined;
  readonly json: boolean;
  readonly timeoutMs: number;
}

/** Shows which route in a folder takes a request. Returns the exit code. */
export async function checkFolder(
  dir: string,
  options: RouteCheckOptions,
  io: CliIo,
): Promise<number> {
  const all = await configurationsIn(dir);
  const found = all.filter(
    ({ config: { name } }) => options.config === undefined || name === options.config,
  );
  if (found.length === 0)
    throw new CliError(
      1,
      all.length === 0
        ? `${dir} has no route configuration`
        : `${dir} has no route configuration ${JSON.stringify(options.config)}; it has ${[...new Set(all.map(({ config: { name } }) => name))].join(", ")}`,
    );
  return show(found, options, io);
}

/** Shows which route of a server takes a request. Returns the exit code. */
export async function checkServer(
  ask: AskFlags,
  options: RouteCheckOptions,
  io: CliIo,
): Promise<number> {
  const found = await configurationsOf(ask, options.config, options.timeoutMs, io);
  if (found.length === 0)
    throw new CliError(
      1,
      "no listener of the server has HTTP routes; name a route configuration with --config",
    );
  return show(found, options, io);
}

interface Checked extends FoundConfiguration {
  readonly result: FoundRoute;
}

function show(
  found: readonly FoundConfiguration[],
  { request, json }: RouteCheckOptions,
  io: CliIo,
): number {
  const checked = found.map((one): Checked => ({ ...one, result: findRoute(one.config, request) }));
  const width = io.terminal()?.columns;
  io.stdout.write(
    json
      ? `${jsonText({ request, configurations: checked.map(asJson) }, { indent: 2 })}\n`
      : `${checked.flatMap((one) => linesOf(one, width)).join("\n")}\n`,
  );
  const isTaken = checked.some(({ result: { route, redirect } }) => route ?? redirect);
  return isTaken ? 0 : 1;
}

function asJson({ name, from, result }: Checked): object {
  return { name, from, ...result };
}

function linesOf({ name, from, result }: Checked, width: number | undefined): readonly string[] {
  const { virtualHost, redirect, tried, route, notes } = result;
  const rows: (readonly [head: string, text: string])[] = [];
  if (virtualHost === undefined) rows.push(["404", "no virtual host has this host"]);
  else rows.push(["virtual host", `${virtualHost.name}, by ${JSON.stringify(virtualHost.domain)}`]);
  if (redirect !== undefined) rows.push(["require_tls", outcomeText(redirect)]);
  for (const one of tried) rows.push([headOf(one), textOf(one)]);
  if (virtualHost !== undefined && redirect === undefined && route === undefined)
    rows.push(["404", "no route surely takes the request"]);
  for (const note of notes) rows.push(["note", note]);
  const shown = rows.map(([head, text]) => [escapeText(head), escapeText(text)] as const);
  const column = Math.max(...shown.map(([head]) => head.length));
  return [
    escapeText(`${name} (${from})`),
    ...shown.map(([head, text]) =>
      wrapWords(`  ${head.padEnd(column)}  ${text}`, width ?? Infinity, " ".repeat(column + 4)),
    ),
  ];
}

function headOf({ index, name }: TriedRoute): string {
  return `route ${index}${name === "" ? "" : ` ${name}`}`;
}

function textOf({ match, reasons, outcome }: TriedRoute): string {
  const does = outcome === undefined ? "" : outcomeText(outcome);
  if (match === "yes") return does;
  return match === "no" ? `no: ${reasons.join("; ")}` : `perhaps ${does}: ${reasons.join("; ")}`;
}

function outcomeText(outcome: RouteOutcome): string {
  switch (outcome.kind) {
    case "redirect":
      return `redirect ${outcome.status} to ${outcome.location ?? "what Envoy computes"}`;
    case "direct-response":
      return `response ${outcome.status}`;
    case "other":
      return `action ${outcome.action}`;
    case "cluster":
      return `${clustersText(outcome)}, path ${outcome.path ?? "as Envoy computes it"}, host ${outcome.host ?? "as Envoy computes it"}`;
  }
}

function clustersText({ clusters, chosenBy }: Extract<RouteOutcome, { kind: "cluster" }>): string {
  if (chosenBy === "extension") return "cluster by an extension";
  if (clusters.length === 0) return "no cluster: the header that names it is missing";
  if (chosenBy !== "weights") return `cluster ${clusters[0]?.name ?? ""}`;
  const sum = clusters.reduce((total, { weight }) => total + weight, 0);
  return `clusters ${clusters.map(({ name, weight }) => `${name} (${Math.round((1_000 * weight) / sum) / 10} %)`).join(", ")}`;
}
