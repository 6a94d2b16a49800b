import type { AnyBytes } from "@xdstp/core";
import { authorityOf } from "@xdstp/uri";
import type { AskedName } from "./asked-name.ts";
import type { CliIo } from "./cli-io.ts";
import { escapeJson, escapeText } from "./escape-text.ts";
import { fitText, textWidth } from "./fit-text.ts";
import { type Piece, paintLine } from "./paint-line.ts";
import { type ResourceView, viewResource, type ViewOptions } from "./resource-view.ts";
import { shortType, shortVersion } from "./short-text.ts";
import { createPaint } from "./style.ts";

/** One resource that was got. */
export interface ShownResource {
  readonly name: string;
  readonly version: string;
  readonly payload: AnyBytes;
}

/** Where it is from. */
export interface ShownServer {
  readonly server: string;
  /** As the server calls itself; empty: it does not. */
  readonly controlPlane: string;
  readonly variant: "delta" | "sotw";
  /** When it came, in milliseconds since the epoch: xDS does not say how old it is. */
  readonly received: number;
}

/** What is shown. */
export interface Showing {
  readonly asked: AskedName;
  readonly output: "yaml" | "json" | "table";
  readonly server: ShownServer;
  readonly complete: boolean;
  readonly resources: readonly ShownResource[];
  readonly view: ViewOptions;
}

/** Writes resources as YAML documents, one object of JSON, or a table. */
export function showResources(showing: Showing, io: CliIo): void {
  switch (showing.output) {
    case "json": io.stdout.write(`${escapeJson(JSON.stringify(jsonOf(showing), undefined, 2))}\n`); break;
    case "yaml": io.stdout.write(forTerminal(yamlOf(showing), io)); break;
    case "table": showTable(showing, io); break;
  }
}

/** Of a text that a stranger wrote a terminal gets nothing that it could take for a command; a file gets it as it is. */
export function forTerminal(text: string, io: CliIo): string {
  return io.terminal() === undefined ? text : text.split("\n").map((line) => line.replaceAll(/\p{C}/gu, (character) => escapeText(character))).join("\n");
}

/** The head of a resource as comments of YAML: with it, it is still a file that `xdstp serve` takes. */
export function headOf({ name, version }: Pick<ShownResource, "name" | "version">, { server, controlPlane, variant, received }: ShownServer, notes: readonly string[]): string {
  const lines = [
    `name: ${escapeText(name)}`,
    `version: ${escapeText(version) || "none"}`,
    `received: ${new Date(received).toISOString()} (xDS does not say how old it is)`,
    `authority: ${escapeText(authorityOf(name) ?? "none, the name is opaque")}`,
    `server: ${escapeText(server)}${controlPlane === "" ? "" : ` (${escapeText(controlPlane)})`}, ${variant}`,
    ...notes.map((note) => `note: ${note}`),
  ];
  return lines.map((line) => `# ${line}\n`).join("");
}

function yamlOf({ resources, server, view }: Showing): string {
  if (resources.length === 0) return "# no members\n";
  return resources.map((resource) => {
    const { yaml, notes } = viewResource(resource.payload, view);
    return `${headOf(resource, server, notes)}${yaml}`;
  }).join("---\n");
}

function jsonOf({ asked, server, complete, resources, view }: Showing): object {
  const { received, ...from } = server;
  const head = { ...from, received: new Date(received).toISOString() };
  const [first] = resources;
  if (!asked.isCollection && first !== undefined) return { ...head, ...resourceJson(first, viewResource(first.payload, view)) };
  return { ...head, name: asked.name, type: asked.typeUrl, complete, resources: resources.map((resource) => resourceJson(resource, viewResource(resource.payload, view))) };
}

/** One resource for programs. */
export function resourceJson({ name, version, payload }: ShownResource, { json, notes }: ResourceView): object {
  return { name, type: payload.typeUrl, version, authority: authorityOf(name) ?? null, bytes: payload.value.length, ...(notes.length > 0 && { notes }), resource: json };
}

function showTable({ asked, resources }: Showing, io: CliIo): void {
  const columns = io.terminal()?.columns ?? 100_000;
  const paint = io.terminal() === undefined ? (_tone: unknown, text: string) => text : createPaint(io.env);
  if (resources.length === 0) {
    io.stdout.write(`${escapeText(asked.name)} has no members among the ${shortType(asked.typeUrl)}\n`);
    return;
  }
  const rows = resources.map(({ name, version, payload }) => [escapeText(name), shortVersion(version), String(payload.value.length)] as const);
  const all = [["NAME", "VERSION", "BYTES"] as const, ...rows];
  const [version, bytes] = [1, 2].map((column) => Math.max(...all.map((row) => textWidth(row[column] ?? "")))) as [number, number];
  const name = Math.max(8, Math.min(columns - version - bytes - 4, Math.max(...all.map(([own]) => textWidth(own)))));
  for (const [index, row] of all.entries()) {
    const line: Piece = [index === 0 ? "bold" : "plain", `${fitText(row[0], name)}  ${fitText(row[1], version)}  ${row[2].padStart(bytes)}`];
    io.stdout.write(`${paintLine([line], columns, paint)}\n`);
  }
}
