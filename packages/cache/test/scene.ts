import type {
  Entry,
  Interest,
  Put,
  Resource,
  ResourceFeed,
  ResourceSink,
  Topic,
  Watcher,
} from "@xdstp/core";

/** The type of the tests. */
export const T = "type.googleapis.com/t.T";
/** Another type. */
export const U = "type.googleapis.com/t.U";

/** A put whose payload is the UTF-8 of a text. */
export function put(
  name: string,
  content = "1",
  more: Partial<Resource> & { readonly typeUrl?: string; readonly as?: string } = {},
): Put {
  const { typeUrl = T, as, ...rest } = more;
  const resource = {
    name,
    version: "",
    payload: { typeUrl, value: new TextEncoder().encode(content) },
    ...rest,
  };
  return as === undefined ? { typeUrl, resource } : { typeUrl, resource, as };
}

/** A short form of an entry: `name=content`, or `name-` without a resource. */
export function show(entry: Entry): string {
  return entry.resource === undefined
    ? `${entry.name}-`
    : `${entry.name}=${new TextDecoder().decode(entry.resource.payload.value)}`;
}

export function shown(entries: readonly Entry[] | undefined): readonly string[] | undefined {
  return entries?.map(show);
}

/** A watcher that counts its wakes. */
export interface CountingWatcher extends Watcher {
  wakes: number;
}

export function createWatcher(onWake?: (topic: Topic) => void): CountingWatcher {
  return {
    wakes: 0,
    wake(topic) {
      this.wakes++;
      onWake?.(topic);
    },
  };
}

/** A feed that a test controls. */
export interface ManualFeed extends ResourceFeed {
  readonly sink: ResourceSink;
  /** Ends `run`; with an error: rejects. */
  end(error?: Error): void;
}

export function createFeed(): ManualFeed {
  let sink: ResourceSink | undefined;
  let resolve: (value: undefined) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<undefined>((onDone, onFailed) => {
    resolve = onDone;
    reject = onFailed;
  });
  return {
    get sink() {
      if (sink === undefined) throw new Error("the feed does not run yet");
      return sink;
    },
    run(given, signal) {
      sink = given;
      signal.addEventListener("abort", () => {
        resolve(undefined);
      });
      return promise;
    },
    end(error) {
      if (error === undefined) resolve(undefined);
      else reject(error);
    },
  };
}

/** A feed that is filled on demand, and that records the calls of `want`. */
export interface DemandFeed extends ManualFeed {
  readonly told: string[];
  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void;
}

export function createDemandFeed(): DemandFeed {
  const feed = createFeed();
  const told: string[] = [];
  const names = (sign: string, interests: readonly Interest[]): readonly string[] =>
    interests.map(({ name }) => `${sign}${name}`);
  return {
    get sink() {
      return feed.sink;
    },
    run: (sink, signal) => feed.run(sink, signal),
    end: (error) => {
      feed.end(error);
    },
    told,
    want: (typeUrl, added, dropped) => {
      told.push(
        `${typeUrl.slice(-1)}: ${[...names("+", added), ...names("-", dropped)].join(" ")}`,
      );
    },
  };
}

/** Waits until everything has run that waits for the end of the turn. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
