import type { AnyBytes } from "@xdstp/core";
import { isHttpServer } from "@xdstp/federation";
import type { AskedName } from "./asked-name.ts";
import type { CliIo } from "./cli-io.ts";
import { escapeText, shortVersion } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import { jsonText } from "./json-text.ts";
import { fileYaml, type ResourceFacts, wrapperOf } from "./file-form.ts";
import { wrapText } from "./fit-text.ts";
import { type ResourceView, viewResource, type ViewOptions } from "./resource-view.ts";
import { showRows } from "./style.ts";
import { authorityIn, hopLines, noAuthority, type ShownHop } from "./shown-hop.ts";

/** One received resource. */
export interface ShownResource {
  readonly name: string;
  readonly version: string;
  readonly payload: AnyBytes;
  /** The properties that the server sent with the payload. Absent: the name leads to another resource, or the resource was rejected. */
  readonly facts?: ResourceFacts | undefined;
  /** The redirects and alternatives between the name and the resource. Empty: the name leads nowhere else. */
  readonly hops: readonly ShownHop[];
}

/** A member of a collection without a resource to show. */
export interface LackingMember {
  readonly name: string;
  readonly state: "pending" | "missing" | "failed" | "rejected";
  readonly reason: string;
  readonly hops: readonly ShownHop[];
}

/** The origin of the resources. */
export interface ShownServer {
  readonly server: string;
  /** The identifier that the server sends of itself. Empty: it sends none. */
  readonly controlPlane: string;
  readonly variant: "delta" | "sotw";
  /** The time of arrival, in milliseconds since the epoch. xDS does not say when a resource was created. */
  readonly received: number;
}

/** The NACK that was sent for all of the resources. */
export interface ShownNack {
  readonly nonce: string;
  readonly reason: string;
}

/** The resources to show, and how. */
export interface Showing {
  readonly asked: AskedName;
  readonly output: "yaml" | "json" | "table";
  readonly server: ShownServer;
  readonly complete: boolean;
  /** The version that the server gives to all of them together, as `xdstp status` shows it. Empty: none. */
  readonly version: string;
  /** The redirects and alternatives between the name and the list. Empty: the name leads nowhere else. */
  readonly hops: readonly ShownHop[];
  /** The resources. Members without a payload occur only in a list, and with `nack`. */
  readonly resources: readonly (ShownResource | LackingMember)[];
  readonly view: ViewOptions;
  /** `undefined`: the resources were accepted. */
  readonly nack: ShownNack | undefined;
}

/** Writes resources as YAML documents, as one JSON object, or as a table. */
export function showResources(showing: Showing, io: CliIo): void {
  switch (showing.output) {
    case "json":
      io.stdout.write(`${jsonText(jsonOf(showing), { indent: 2 })}\n`);
      break;
    case "yaml":
      io.stdout.write(
        yamlOf(showing)
          .split("\n")
          .map((line) => printable(line, io))
          .join("\n"),
      );
      break;
    case "table":
      showTable(showing, io);
      break;
  }
}

/** Returns a line of untrusted text for output. On a terminal, control characters are escaped; in a file, the line stays as it is. */
export function printable(line: string, io: CliIo): string {
  return io.terminal() === undefined
    ? line
    : line.replaceAll(/\p{C}/gu, (character) => escapeText(character));
}

/** Returns the facts of a resource as YAML comments, so that the text is still a file that `xdstp serve` reads. */
export function headOf(
  {
    name,
    version,
    hops = [],
  }: Pick<ShownResource, "name" | "version"> & Partial<Pick<ShownResource, "hops">>,
  { server, controlPlane, variant, received }: ShownServer,
  notes: readonly string[],
): string {
  const lines = [
    `name: ${escapeText(name)}`,
    `version: ${escapeText(version) || "none"}`,
    `received: ${new Date(received).toISOString()} (xDS does not say how old it is)`,
    `authority: ${escapeText(authorityIn(name) ?? noAuthority(name))}`,
    `server: ${escapeText(server)}${controlPlane === "" ? "" : ` (${escapeText(controlPlane)})`}, ${wayTo(server, variant, name)}`,
    ...hopLines(hops),
    ...notes.map((note) => `note: ${note}`),
  ];
  return lines.map((line) => `# ${line}\n`).join("");
}

/** Describes the way to a server. The source of names of files is a directory, without a variant. */
function wayTo(server: string, variant: string, name: string): string {
  if (isHttpServer({ uri: server })) return "native HTTP";
  return name.startsWith("file:") ? "files" : variant;
}

function nackText({ server: { server } }: Showing, { nonce, reason }: ShownNack): string {
  return `${server} was sent a NACK of nonce ${escapeText(nonce)}: ${escapeText(reason)}`;
}

function yamlOf(showing: Showing): string {
  const { resources, server, view, nack } = showing;
  const way = [
    ...(nack === undefined ? [] : [nackText(showing, nack)]),
    ...versionLines(showing),
    ...wayLines(showing),
  ]
    .map((line) => `# ${line}\n`)
    .join("");
  if (resources.length === 0) return `${way}# no members\n`;
  const lacking = resources
    .filter((resource) => "state" in resource)
    .map(
      ({ name, state, reason }) =>
        `# ${escapeText(name)} is ${state}${reason === "" ? "" : `: ${escapeText(reason)}`}\n`,
    );
  return (
    way +
    lacking.join("") +
    resources
      .filter((resource) => "payload" in resource)
      .map((resource) => {
        const shown = viewResource(resource.payload, view);
        const isAlone = resources.length === 1;
        const isAlias =
          showing.asked.kind === "name" &&
          nack === undefined &&
          resource.facts === undefined &&
          resource.hops.length === 0;
        const notes = isAlias ? [...shown.notes, aliasNote] : shown.notes;
        return `${headOf(resource, server, notes)}${fileYaml(resource, shown, view, isAlone)}`;
      })
      .join("---\n")
  );
}

const aliasNote =
  "this is an alias; for a file with all aliases and what else the server says of the resource, ask for its own name";

/** Returns a line with the version of a whole type or glob. */
function versionLines({ asked, version }: Showing): readonly string[] {
  return version === "" ? [] : [`${shortType(asked.typeUrl)} version ${escapeText(version)}`];
}

/** Returns lines that say where a list leads to. */
function wayLines({ asked, hops }: Showing): readonly string[] {
  return hops.length === 0
    ? []
    : [escapeText(asked.name), ...hopLines(hops).map((line) => `  ${line}`)];
}

function jsonOf({
  asked,
  server,
  complete,
  version,
  hops,
  resources,
  view,
  nack,
}: Showing): object {
  const { received, ...from } = server;
  const head = {
    ...from,
    received: new Date(received).toISOString(),
    ...(nack !== undefined && { nack }),
  };
  const shown = resources.map((resource) =>
    "payload" in resource
      ? {
          ...filedJson(resource, view),
          ...(asked.kind === "list" && { state: nack === undefined ? "held" : "rejected" }),
        }
      : lackingJson(resource),
  );
  if (asked.kind === "name" && shown[0] !== undefined) return { ...head, ...shown[0] };
  return {
    ...head,
    name: asked.name,
    type: asked.typeUrl,
    ...(version !== "" && { version }),
    complete,
    ...(hops.length > 0 && { hops }),
    resources: shown,
  };
}

/** Returns one resource for programs. */
export function resourceJson(
  {
    name,
    version,
    payload,
    hops = [],
  }: Omit<ShownResource, "hops"> & Partial<Pick<ShownResource, "hops">>,
  { json, notes }: ResourceView,
): object {
  return {
    name,
    type: payload.typeUrl,
    version,
    authority: authorityIn(name),
    bytes: payload.value.length,
    ...(hops.length > 0 && { hops }),
    ...(notes.length > 0 && { notes }),
    resource: json,
  };
}

/** Returns one resource for programs, with the fields of its `Resource` message if it needs one. */
function filedJson(resource: ShownResource, options: ViewOptions): object {
  const view = viewResource(resource.payload, options);
  const wrapper = wrapperOf(resource, options, view, true);
  return { ...resourceJson(resource, view), ...(wrapper !== undefined && { wrapper }) };
}

function lackingJson({ name, state, reason, hops }: LackingMember): object {
  return {
    name,
    authority: authorityIn(name),
    state,
    ...(reason !== "" && { reason }),
    ...(hops.length > 0 && { hops }),
  };
}

function showTable(showing: Showing, io: CliIo): void {
  const { asked, resources, nack } = showing;
  const columns = io.terminal()?.columns ?? 100_000;
  if (nack !== undefined)
    for (const line of wrapText(nackText(showing, nack), columns, 3)) io.stdout.write(`${line}\n`);
  for (const line of wayLines(showing).flatMap((text) => wrapText(text, columns, 3)))
    io.stdout.write(`${line}\n`);
  if (resources.length === 0) {
    io.stdout.write(
      `${escapeText(asked.name)} has no members${asked.kind === "list" ? "" : ` among the ${shortType(asked.typeUrl)}`}\n`,
    );
    return;
  }
  const isList = asked.kind === "list";
  const head = isList
    ? ["NAME", "STATE", "VERSION", "AUTHORITY", "BYTES"]
    : ["NAME", "VERSION", "BYTES"];
  showRows(
    head,
    resources.map((resource) => ({
      cells: isList ? memberCells(resource, showing) : cellsOf(resource),
      below: below(resource),
    })),
    io,
  );
  for (const line of versionLines(showing)) io.stdout.write(`${line}\n`);
}

type Cells = readonly [name: string, ...others: readonly string[]];

function cellsOf(resource: ShownResource | LackingMember): Cells {
  const name = escapeText(resource.name);
  return "payload" in resource
    ? [name, shortVersion(resource.version), String(resource.payload.value.length)]
    : [name, "", ""];
}

/** Returns the cells of a row. An entry without a name has the authority of its list. */
function memberCells(
  resource: ShownResource | LackingMember,
  { asked: list, nack }: Pick<Showing, "asked" | "nack">,
): Cells {
  const [name, version = "", bytes = ""] = cellsOf(resource);
  const authority = escapeText(
    authorityIn(resource.name) ?? hostIn(resource.name) ?? authorityIn(list.name) ?? "",
  );
  return [
    name === "" ? "(no name)" : name,
    "state" in resource ? resource.state : nack === undefined ? "held" : "rejected",
    version,
    authority === "" ? "(empty)" : authority,
    bytes,
  ];
}

/** Returns the host of a locator that is an `https:` or `http:` URL, `(file)` for a `file:` URL, or `undefined` for another text. */
function hostIn(name: string): string | undefined {
  if (name.startsWith("file:")) return "(file)";
  return /^https?:\/\//.test(name) ? URL.parse(name)?.host : undefined;
}

function below(resource: ShownResource | LackingMember): readonly string[] {
  return [
    ...hopLines(resource.hops),
    ...("reason" in resource && resource.reason !== "" ? [escapeText(resource.reason)] : []),
  ];
}
