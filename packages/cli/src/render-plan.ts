import type { JsonValue } from "@bufbuild/protobuf";
import type {
  FieldChange,
  GroupPlan,
  Plan,
  PlannedHold,
  PlannedResponse,
  ResourceChange,
} from "@xdstp/plan";
import type { CliIo } from "./cli-io.ts";
import { cutText, wrapWords } from "./fit-text.ts";
import { counted, escapeText, shortVersion, someNames } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import { type Line, paintFor, paintLine, type Tone } from "./style.ts";

/** The facts around a plan that its text shows. */
export interface PlanRoom {
  readonly dir: string;
  readonly server: string;
  readonly io: Pick<CliIo, "terminal" | "env">;
}

/** The width of the text without a terminal, so that lines are not cut. */
const anyWidth = 100_000;
/** The number of resources, groups, fields of a resource and holds of a group that are listed. `--json` has all of them. */
const most = { changes: 200, groups: 20, fields: 10, holds: 10 };
/** The number of characters of a value that are shown. */
const longestValue = 60;

/** Returns a plan as text: the changes, then the responses to each group of clients. */
export function renderPlan(plan: Plan, { dir, server, io }: PlanRoom): string {
  const columns = io.terminal()?.columns ?? anyWidth;
  const paint = paintFor(io);
  const lines = [
    ...summary(plan, dir, server),
    ...changeLines(plan.changes),
    ...groupLines(plan),
    ...plan.notes.map((note): Line => [["warning", `note: ${note}`]]),
  ];
  return lines
    .flatMap((line) => fitted(line, columns))
    .map((line) => `${paintLine(line, columns, paint).trimEnd()}\n`)
    .join("");
}

/** Breaks a line that is one piece and longer than the terminal at spaces. */
function fitted(line: Line, columns: number): readonly Line[] {
  const [first, ...more] = line;
  if (first === undefined || more.length > 0) return [line];
  const [tone, text] = first;
  const indent = " ".repeat((/^ */.exec(text)?.[0].length ?? 0) + 2);
  return wrapWords(text, columns, indent)
    .split("\n")
    .map((part): Line => [[tone, part]]);
}

function summary(
  { added, changed, removed, unchanged, clients, affectedClients }: Plan,
  dir: string,
  server: string,
): readonly Line[] {
  const who =
    clients === 0
      ? "no client is connected"
      : `${affectedClients} of ${counted(clients, "client")} would be sent something`;
  return [
    [
      [
        "bold",
        escapeText(
          `${dir} on ${server}: ${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged; ${who}`,
        ),
      ],
    ],
  ];
}

const signs: Readonly<Record<ResourceChange["action"], readonly [sign: string, tone: Tone]>> = {
  added: ["+", "good"],
  changed: ["~", "warning"],
  removed: ["-", "error"],
};

function changeLines(changes: readonly ResourceChange[]): readonly Line[] {
  if (changes.length === 0) return [];
  const shown = changes.slice(0, most.changes);
  const width = Math.max(...shown.map(({ typeUrl }) => shortType(typeUrl).length));
  return [
    [],
    ...shown.flatMap((change) => [headOf(change, width), ...detailsOf(change)]),
    ...moreLine(changes.length - shown.length, "resource", ""),
  ];
}

function headOf(change: ResourceChange, width: number): Line {
  const { action, typeUrl, name, view, variant, before, after } = change;
  const [sign, tone] = signs[action];
  const versions = [before, after].flatMap((version) =>
    version === undefined ? [] : [shortVersion(version)],
  );
  const of = [
    ...(view === undefined ? [] : [`for nodes ${view}`]),
    ...(variant === undefined ? [] : [`where ${variant}`]),
  ].map((text) => ` (${text})`);
  return [
    [tone, `${sign} ${shortType(typeUrl).padEnd(width)}  ${escapeText(`${name}${of.join("")}`)}`],
    ["dim", `  ${escapeText(versions.join(" -> "))}`],
    ["plain", `  ${clientsOf(change)}`],
    ...placeOf(change).map((place) => ["dim", `  ${escapeText(place)}`] as const),
  ];
}

/** Returns the place of a resource in words. Empty: it is not known. */
function placeOf({ action, file, line }: ResourceChange): readonly string[] {
  const place = file === undefined || line === undefined ? file : `${file}:${line}`;
  if (action === "removed") return [place === undefined ? "removed" : `was in ${place}`];
  return place === undefined ? [] : [place];
}

function clientsOf({ clients, clientNames }: ResourceChange): string {
  if (clients === 0) return "no client";
  const more = clients - clientNames.length;
  return `${counted(clients, "client")}: ${clientNames.map(escapeText).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function detailsOf({ fields = [], note, drains }: ResourceChange): readonly Line[] {
  const shown = fields.slice(0, most.fields);
  return [
    ...shown.map((field): Line => [["plain", `    ${fieldText(field)}`]]),
    ...moreLine(fields.length - shown.length, "field", "    "),
    ...(note === undefined ? [] : [[["dim", `    ${note}`]] as const]),
    ...(drains === undefined ? [] : [[["info", `    ${drains.text}`]] as const]),
  ];
}

function fieldText({ path, before, after }: FieldChange): string {
  const change =
    before === undefined
      ? `+ ${valueText(after)}`
      : after === undefined
        ? `- ${valueText(before)}`
        : `${valueText(before)} -> ${valueText(after)}`;
  return `${escapeText(path)}: ${change}`;
}

function valueText(value: JsonValue = ""): string {
  return cutText(escapeText(JSON.stringify(value)), longestValue);
}

function groupLines({ groups }: Plan): readonly Line[] {
  const affected = groups.filter(({ responses }) => responses.length > 0);
  const shown = affected.slice(0, most.groups);
  return [
    ...shown.flatMap((group): readonly Line[] => [
      [],
      [["bold", groupText(group)]],
      ...group.responses.map((response, at) => responseLine(response, at)),
      ...holdLines(group),
      ...group.notes.map((note): Line => [["warning", `  note: ${escapeText(note)}`]]),
    ]),
    ...moreLine(affected.length - shown.length, "group", ""),
  ];
}

function groupText({ clients, view, variant, service, userAgent }: GroupPlan): string {
  const facts = [
    ...(userAgent === "" ? [] : [userAgent]),
    variant === "sotw" ? "SotW" : variant,
    ...(service === undefined ? [] : [`stream of ${shortType(service)}`]),
    ...(view === undefined ? [] : [`nodes ${view}`]),
  ];
  return `${counted(clients.length, "client")} (${escapeText(facts.join(", "))}): ${someNames(clients)}`;
}

function responseLine(
  { typeUrl, added, changed, removed, unchanged, afterMs }: PlannedResponse,
  at: number,
): Line {
  const parts = [
    ["+", added],
    ["~", changed],
    ["-", removed],
  ] as const;
  const names = parts.flatMap(([sign, list]) =>
    list.length === 0 ? [] : [`${sign} ${someNames(list)}`],
  );
  const rest = [
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(afterMs === undefined ? [] : [`after ${afterMs / 1_000} s`]),
  ];
  return [
    ["plain", `  ${at + 1}. ${shortType(typeUrl)}  ${names.join("  ")}`],
    ...(rest.length === 0 ? [] : [["dim", `  (${rest.join(", ")})`] as const]),
  ];
}

function holdLines({ holds }: GroupPlan): readonly Line[] {
  const shown = holds.slice(0, most.holds);
  return [
    ...shown.map((hold): Line => [["plain", `  held: ${holdText(hold)}`]]),
    ...moreLine(holds.length - shown.length, "name", "  held: "),
  ];
}

function holdText({ typeUrl, name, forType, for: lacking, until }: PlannedHold): string {
  const end = until === undefined ? "and is not sent" : `until response ${until + 1}`;
  return `${shortType(typeUrl)} ${escapeText(name)} waits for ${shortType(forType)} ${escapeText(lacking)}, ${end}`;
}

function moreLine(count: number, noun: string, indent: string): readonly Line[] {
  return count > 0 ? [[["dim", `${indent}and ${counted(count, noun)} more; --json has all`]]] : [];
}
