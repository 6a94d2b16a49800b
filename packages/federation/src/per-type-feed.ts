import { forwardSink, type Interest, type ResourceSink, XdsError } from "@xdstp/core";
import type { ClientFeed, ClientStatus } from "@xdstp/protocol/client";

/** One type of a server that has a stream for each type. */
interface Part {
  /** Absent: the type cannot be requested, and `failure` says why. */
  readonly feed?: ClientFeed;
  /** The number of subscribed interests. */
  wanted: number;
  failure?: XdsError | undefined;
}

/**
 * A server with one stream for each type (C-AGG-2), as one feed.
 * A stream that fails affects its type only. When the streams of all subscribed types have failed,
 * the server counts as unreachable.
 */
export class PerTypeFeed implements ClientFeed {
  readonly #variant: "delta" | "sotw";
  readonly #open: (typeUrl: string) => ClientFeed;
  readonly #parts = new Map<string, Part>();
  #running: { readonly sink: ResourceSink; readonly signal: AbortSignal } | undefined;
  /** True while the whole server is reported as unreachable. */
  #isOut = false;

  /**
   * @param open - Creates the client of a type. Throws an XdsError if the server has no stream for
   * the type
   */
  constructor(variant: "delta" | "sotw", open: (typeUrl: string) => ClientFeed) {
    this.#variant = variant;
    this.#open = open;
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#running = { sink, signal };
    for (const [typeUrl, part] of this.#parts) this.#start(typeUrl, part);
    await new Promise<void>((resolve) => {
      signal.addEventListener(
        "abort",
        () => {
          resolve();
        },
        { once: true },
      );
    });
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    const part = this.#parts.get(typeUrl) ?? this.#add(typeUrl);
    part.wanted += added.length - dropped.length;
    part.feed?.want(typeUrl, added, dropped);
  }

  get responded(): boolean {
    return this.#parts.values().some(({ feed }) => feed?.responded === true);
  }

  nodeChanged(): void {
    for (const { feed } of this.#parts.values()) feed?.nodeChanged();
  }

  status(): ClientStatus {
    const all = [...this.#parts.values()].flatMap(({ feed }) => feed?.status() ?? []);
    const lastEnd = all.findLast((status) => status.lastEnd !== undefined)?.lastEnd;
    return {
      variant: this.#variant,
      connected: all.some(({ connected }) => connected),
      responded: this.responded,
      controlPlane: all.find(({ controlPlane }) => controlPlane !== "")?.controlPlane ?? "",
      types: all.flatMap(({ types }) => types),
      counts: sumOf(all.map(({ counts }) => counts)),
      ...(lastEnd !== undefined && { lastEnd }),
    };
  }

  #add(typeUrl: string): Part {
    const part = this.#partOf(typeUrl);
    this.#parts.set(typeUrl, part);
    this.#start(typeUrl, part);
    return part;
  }

  #partOf(typeUrl: string): Part {
    try {
      return { feed: this.#open(typeUrl), wanted: 0 };
    } catch (error) {
      return { failure: XdsError.from(error), wanted: 0 };
    }
  }

  #start(typeUrl: string, part: Part): void {
    if (this.#running === undefined) return;
    const { feed, failure } = part;
    const { sink, signal } = this.#running;
    if (feed === undefined) sink.unavailable({ typeUrl }, failure);
    else void feed.run(this.#sinkOf(typeUrl, part, sink), signal);
  }

  /** Turns a report about a whole stream into a report about its type. */
  #sinkOf(typeUrl: string, part: Part, sink: ResourceSink): ResourceSink {
    return forwardSink(sink, (inner) => ({
      commit: (transaction) => {
        this.#comeBack(sink);
        return inner.commit(transaction);
      },
      unavailable: (scope, error) => {
        if (
          scope.typeUrl !== undefined ||
          scope.interest !== undefined ||
          scope.authority !== undefined
        )
          inner.unavailable(scope, error);
        else this.#note(typeUrl, part, sink, error);
      },
    }));
  }

  #note(typeUrl: string, part: Part, sink: ResourceSink, error: XdsError | undefined): void {
    part.failure = error;
    if (error !== undefined && part.wanted > 0 && this.#allFail()) {
      this.#isOut = true;
      sink.unavailable({}, error);
      return;
    }
    if (error === undefined) this.#comeBack(sink);
    sink.unavailable({ typeUrl }, error);
  }

  /**
   * Ends the report about the whole server. Failures of single types that continue are reported
   * again, since the end of the whole report ends these reports too.
   */
  #comeBack(sink: ResourceSink): void {
    if (!this.#isOut) return;
    this.#isOut = false;
    sink.unavailable({}, undefined);
    for (const [typeUrl, { failure }] of this.#parts)
      if (failure !== undefined) sink.unavailable({ typeUrl }, failure);
  }

  #allFail(): boolean {
    return this.#parts
      .values()
      .every(
        ({ feed, wanted, failure }) => feed === undefined || wanted === 0 || failure !== undefined,
      );
  }
}

function sumOf(all: readonly ClientStatus["counts"][]): ClientStatus["counts"] {
  const sum = (what: keyof ClientStatus["counts"]): number =>
    all.reduce((total, counts) => total + counts[what], 0);
  return {
    streams: sum("streams"),
    responses: sum("responses"),
    rejected: sum("rejected"),
    validResources: sum("validResources"),
    invalidResources: sum("invalidResources"),
    ignored: sum("ignored"),
    failures: sum("failures"),
  };
}
