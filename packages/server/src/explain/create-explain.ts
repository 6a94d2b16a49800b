import { type Clock, type ResourceSource, XdsError } from "@xdstp/core";
import type { ServerStream } from "@xdstp/protocol/server";
import { isGlob } from "@xdstp/uri";

import type { AccessBook } from "../access/access-book.ts";
import type { StatusView } from "../access/create-access.ts";
import { explainStream } from "./explain-stream.ts";
import type { ExplainQuestion, Explanation, OriginOf, StreamExplanation } from "./explanation.ts";
import { absentText, streamsText, streamText } from "./explanation-text.ts";
import { hiddenByAlias, ownName, type SourceSight, sourceState } from "./source-state.ts";

/** Explains what a client has. `view`: as much as the caller may see; undefined: everything. Rejects with an XdsError, INVALID_ARGUMENT, for a question without a node, a type or one name. */
export type Explain = (
  asked: ExplainQuestion,
  view: StatusView | undefined,
) => Promise<Explanation>;

/** Options of {@link createExplain}. */
export interface ExplainOptions {
  readonly streams: () => readonly ServerStream[];
  readonly source: ResourceSource;
  readonly book: AccessBook;
  readonly clock: Pick<Clock, "now" | "wallTime">;
  /** Absent: it is not known where resources came from. */
  readonly originOf: OriginOf | undefined;
}

/** Up to this number of ids and of names are listed. */
const mostListed = 1_000;

/** Makes the function that explains. It reads the state of the streams and keeps nothing. */
export function createExplain(options: ExplainOptions): Explain {
  const { book, clock, originOf } = options;
  return async (asked, view) => {
    checkQuestion(asked);
    const { node, typeUrl, name } = asked;
    const source = view?.source ?? options.source;
    const all = options.streams();
    const shown = view === undefined ? all : all.filter((stream) => view.shows(stream));
    const hiddenStreams = all.length - shown.length;
    const isWhole = view?.isWhole !== false;
    const isAllowed = view?.allows(typeUrl, name) !== false;
    const sightOf = async (viewKey: string | undefined): Promise<SourceSight> => ({
      origin: isWhole ? await originOf?.(typeUrl, name, viewKey) : undefined,
      seesTrouble: isWhole,
    });
    const own = streamsFor(
      typeUrl,
      shown.filter(({ info }) => info.node?.id === node),
    );
    const streams: StreamExplanation[] = [];
    for (const stream of own) {
      const sight = await sightOf(stream.info.viewKey);
      const facts = explainStream(stream, book.of(stream), { typeUrl, name, source, clock, sight });
      streams.push({ ...facts, text: streamText(asked, facts) });
    }
    const ids = new Set(shown.flatMap(({ info }) => info.node?.id ?? []));
    const base = { node, typeUrl, name, streams, connected: ids.size, hiddenStreams };
    const isUnknown = streams.every((stream) => stream.source?.state === "missing");
    const rootSource =
      streams.length === 0 && isAllowed
        ? view?.allows(typeUrl, ownName(source, typeUrl, name)) === false
          ? hiddenByAlias
          : sourceState(source, typeUrl, name, await sightOf(undefined))
        : undefined;
    const names =
      isUnknown && isAllowed && rootSource?.state !== "present"
        ? namesOf(source, typeUrl, name, view)
        : [];
    if (streams.length > 0) return { ...base, nodes: [], names, text: streamsText(asked, streams) };
    const absent = { ...base, ...(rootSource && { source: rootSource }) };
    return {
      ...absent,
      nodes: similarFirst(node, ids),
      names,
      text: absentText(asked, absent),
    };
  };
}

/** The streams of a node that can have a type: ADS, and those of its own service. Without one, any stream shows that the type is not subscribed. */
function streamsFor(typeUrl: string, streams: readonly ServerStream[]): readonly ServerStream[] {
  const able = streams.filter(({ info }) => (info.service ?? typeUrl) === typeUrl);
  return able.length > 0 ? able : streams.slice(0, 1);
}

function checkQuestion({ node, typeUrl, name }: ExplainQuestion): void {
  if (node === "") throw new XdsError("INVALID_ARGUMENT", "explain: give the id of a node");
  if (typeUrl === "") throw new XdsError("INVALID_ARGUMENT", "explain: give a type URL");
  if (name === "" || name === "*" || isGlob(name))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `explain: ${JSON.stringify(name)} is not the name of one resource`,
    );
}

/** Names of a type that the caller may see, of what clients without a source of their own are served. */
function namesOf(
  source: ResourceSource,
  typeUrl: string,
  name: string,
  view: StatusView | undefined,
): readonly string[] {
  const members = source.topic(typeUrl, { name: "*" }).members();
  const names = members.flatMap((entry) => (entry.resource === undefined ? [] : [entry.name]));
  return similarFirst(name, names).filter((one) => view?.allows(typeUrl, one) !== false);
}

/** Returns the words with those first whose length differs by a third at most. */
function similarFirst(word: string, all: Iterable<string>): readonly string[] {
  const most = Math.floor(word.length / 3);
  const isSimilar = (one: string): boolean => Math.abs(one.length - word.length) <= most;
  const list = [...all];
  return [...list.filter(isSimilar), ...list.filter((one) => !isSimilar(one))].slice(0, mostListed);
}
