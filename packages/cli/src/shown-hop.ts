import type { Client, Trace } from "@xdstp/client";
import { parseLocator, printLocator, type XdstpLocator } from "@xdstp/uri";
import type { TypedName } from "./asked-name.ts";
import { escapeText } from "./short-text.ts";

/** One step between a name and the resource that is shown for it. */
export interface ShownHop {
  readonly kind: Trace["hops"][number]["kind"];
  /** The name that this step leads to, as a locator. */
  readonly to: string;
  readonly authority: string;
  /** The server of that name. Empty: none. */
  readonly server: string;
  /** For an alternative: why it is used, as far as is known. */
  readonly reason?: string;
}

/** The functions that {@link shownHops} needs of a client. */
export interface HopsOf {
  readonly client: Pick<Client, "traces">;
  /** Returns the server of a name. */
  readonly server: (asked: TypedName) => string;
  /** Returns why servers are not available, one text each: the servers of a name, or all servers. */
  readonly failures: (asked?: TypedName) => readonly string[];
  /** Returns the state of the servers of a name in one line. */
  readonly heard: (asked: TypedName) => string;
}

/** Returns a function that gives the current steps of each name of a type. They are empty for a name that leads nowhere else. A member of a list may be given without its alternative. */
export function shownHops(of: HopsOf, typeUrl: string): (name: string) => readonly ShownHop[] {
  const traces = of.client.traces().filter((trace) => trace.typeUrl === typeUrl);
  const ways = new Map([
    ...traces.map((trace) => [withoutAlt(trace.name), trace] as const),
    ...traces.map((trace) => [trace.name, trace] as const),
  ]);
  return (name) => hopsOf(of, { name, typeUrl }, ways.get(name)?.hops ?? []);
}

function hopsOf(of: HopsOf, asked: TypedName, hops: Trace["hops"]): readonly ShownHop[] {
  let from = asked;
  return hops.map(({ kind, to }) => {
    const why = kind === "alt" ? reasonOf(of, from) : "";
    from = { ...asked, name: to };
    return {
      kind,
      to,
      authority: authorityIn(to) ?? "",
      server: of.server(from),
      ...(why !== "" && { reason: why }),
    };
  });
}

/** Returns why a name is not available: the failures of its own servers, else those of all servers, else their state. */
function reasonOf({ failures, heard }: HopsOf, from: TypedName): string {
  return [failures(from), failures()].find((some) => some.length > 0)?.join("; ") ?? heard(from);
}

/** Returns the authority of a name or locator, or `null` for an opaque name. */
export function authorityIn(name: string): string | null {
  return locatorIn(name)?.authority ?? null;
}

/** Describes why a name has no authority. */
export function noAuthority(name: string): string {
  return `none, the name is ${name.startsWith("file:///") ? "that of a file" : "opaque"}`;
}

/** Returns the last server that has responded and is available, since servers are used in order. If none has, returns the last one that is connected or connecting, else the first one. */
export function answering<Row extends ReturnType<Client["status"]>[number]>(
  rows: readonly Row[],
): Row | undefined {
  return (
    rows.findLast(
      ({ status, answers, failure }) =>
        (answers ?? status?.responded) === true && failure === undefined,
    ) ??
    rows.findLast(({ status }) => status !== undefined) ??
    rows[0]
  );
}

const verbs = { redirect: "redirected to", alt: "alternative", entry: "entry of" } as const;

/** Returns the steps as lines for people: the name, its authority and server, and the reason if there is one. */
export function hopLines(hops: readonly ShownHop[]): readonly string[] {
  return hops.flatMap(({ kind, to, authority, server, reason }) => [
    `${verbs[kind]} ${escapeText(withoutAlt(to))}`,
    `  authority ${authority === "" ? "(empty)" : escapeText(authority)}, server ${server === "" ? "none" : escapeText(server)}`,
    ...(reason === undefined ? [] : [`  since ${escapeText(reason)}`]),
  ]);
}

/** Returns a locator without its alternative. If the alternative is requested, it has a line of its own. */
export function withoutAlt(text: string): string {
  const locator = locatorIn(text);
  return locator === undefined
    ? text
    : printLocator({
        ...locator,
        directives: locator.directives.filter(({ kind }) => kind === "entry"),
      });
}

function locatorIn(name: string): XdstpLocator | undefined {
  const parsed = name.startsWith("xdstp:") ? parseLocator(name) : undefined;
  return parsed?.ok === true && parsed.value.scheme === "xdstp" ? parsed.value : undefined;
}
