import type { Client, Trace } from "@xdstp/client";
import { parseLocator, printLocator, type XdstpLocator } from "@xdstp/uri";
import type { TypedName } from "./asked-name.ts";
import { escapeText } from "./short-text.ts";

/** One step on the way from a name to what is shown under it. */
export interface ShownHop {
  readonly kind: Trace["hops"][number]["kind"];
  /** The next name, as a locator. */
  readonly to: string;
  readonly authority: string;
  /** The servers of that name; empty: none. */
  readonly server: string;
  /** Of an alternative: why it is in use, as far as is known. */
  readonly reason?: string;
}

/** What is asked of a client to know the way of a name. */
export interface HopsOf {
  readonly client: Pick<Client, "traces">;
  /** The servers of a name of a type. */
  readonly server: (asked: TypedName) => string;
  /** Why servers cannot be reached, those of a name or all, each in a line. */
  readonly failures: (asked?: TypedName) => readonly string[];
  /** What else is known of the servers of a name. */
  readonly heard: (asked: TypedName) => string;
}

/** The ways of all names of a type, as they are now. Of a name that leads nowhere else it is empty; a member of a list is named without its alternative. */
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

/** Its own servers, else those that it leads to, else what was not heard. */
function reasonOf({ failures, heard }: HopsOf, from: TypedName): string {
  return [failures(from), failures()].find((some) => some.length > 0)?.join("; ") ?? heard(from);
}

/** The authority of a name or locator; null: it is opaque. */
export function authorityIn(name: string): string | null {
  return locatorIn(name)?.authority ?? null;
}

/** The server that has answered, of those that are asked in order; else one that is asked. */
export function answering<Row extends ReturnType<Client["status"]>[number]>(
  rows: readonly Row[],
): Row | undefined {
  return (
    rows.findLast(({ status, failure }) => status?.responded === true && failure === undefined) ??
    rows.findLast(({ status }) => status !== undefined) ??
    rows[0]
  );
}

const verbs = { redirect: "redirected to", alt: "alternative", entry: "entry of" } as const;

/** Hops for people, two lines each: the name, and its servers. */
export function hopLines(hops: readonly ShownHop[]): readonly string[] {
  return hops.flatMap(({ kind, to, authority, server, reason }) => [
    `${verbs[kind]} ${escapeText(withoutAlt(to))}`,
    `  authority ${authority === "" ? "(empty)" : escapeText(authority)}, server ${server === "" ? "none" : escapeText(server)}`,
    ...(reason === undefined ? [] : [`  since ${escapeText(reason)}`]),
  ]);
}

/** What comes after it has a line of its own, if it is requested. */
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
