import type { ClientNotice } from "@xdstp/client";
import { readRequest, type StreamObserver } from "@xdstp/recording";
import { openAskClient, type AskClient, type ForeignNames } from "./ask-client.ts";
import type { AskFlags } from "./ask-flags.ts";
import type { AskedName } from "./asked-name.ts";
import { CliError, type Spoken, streamFailure } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { followName, following } from "./follow-name.ts";
import { loadRegistry } from "./load-registry.ts";
import { untilEnough } from "./until-stopped.ts";
import { isCounted, type WatchEvent } from "./watch-event.ts";
import { jsonWatchShow, textWatchShow } from "./watch-show.ts";

/** The options of `xdstp watch`. */
export interface WatchOptions {
  readonly asked: readonly AskedName[];
  readonly ask: AskFlags;
  readonly json: boolean;
  readonly showSecrets: boolean;
  /** The paths of descriptor sets. */
  readonly descriptors: readonly string[];
  /** Ends after this number of events about resources. */
  readonly count?: number | undefined;
  /** Ends after this number of milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** Shows the changes of names until a signal or a limit ends it. Returns the exit code. Throws a CliError if it cannot start, or if too few events happened in time. */
export async function watch(options: WatchOptions, io: CliIo): Promise<number> {
  const { asked, ask, json, showSecrets, count } = options;
  const registry = await loadRegistry(options.descriptors);
  const view = { registry, showSecrets };
  const show = json ? jsonWatchShow(io, view) : textWatchShow(io, view);
  const until = untilEnough(io, options);
  let isOver = false;
  const tell = (event: WatchEvent): void => {
    if (isOver || (count !== undefined && until.counted >= count)) return;
    show(event);
    if (isCounted(event)) until.count();
  };
  const asking = await openAskClient(ask, io, {
    ...followStreams(tell),
    names: asked.map(({ name }) => name),
  }).catch((error: unknown) => {
    until.stop();
    throw error;
  });
  try {
    if (ask.nack !== undefined) asking.requireStreams(asked, "a NACK is sent on one");
    const followed = asked.map((name) =>
      followName(name, {
        asking,
        registry,
        tell,
        nack: ask.nack,
      }),
    );
    const reason = await Promise.race([until.enough, following(followed)]);
    if (reason === "time" && (count !== undefined || until.counted === 0))
      throw tooLittle(asking, until.counted, options);
    return reason === "broken-pipe" ? 1 : 0;
  } finally {
    isOver = true;
    until.stop();
    await asking.close();
  }
}

function tooLittle(
  client: AskClient,
  seen: number,
  { asked: [first], count, timeoutMs = 0 }: WatchOptions,
): CliError {
  const within = `within ${timeoutMs / 1_000} s: ${client.heard(seen > 0)}`;
  return new CliError(
    1,
    seen === 0
      ? `nothing has come of ${JSON.stringify(first?.name)} ${within}`
      : `only ${seen} of ${String(count)} events have come ${within}`,
  );
}

/** Reports events on the streams of a client: whether servers answer, which names are ignored, and which NACKs are sent. */
export interface StreamFollower {
  /** Receives the events of the client. */
  readonly onEvent: (event: ClientNotice, spoken: Spoken) => void;
  /** Receives the names that are ignored. */
  readonly onForeign: (event: ForeignNames) => void;
  /** Creates the observer of a stream. A rejection is reported when the NACK is sent. */
  readonly observe: (server: string, variant: Spoken["variant"]) => StreamObserver;
}

/** Follows the streams of one client. */
export function followStreams(tell: (event: WatchEvent) => void): StreamFollower {
  const answering = new Set<string>();
  const rejected = new Map<string, readonly string[]>();
  /** The hash of the ignored names in the last response, by type and SotW server. */
  const ignored = new Map<string, number>();
  const answers = (server: string): void => {
    if (answering.has(server)) return;
    answering.add(server);
    tell({ kind: "connected", server });
  };
  return {
    onEvent(event, spoken) {
      const { server } = event;
      if (event.kind === "accepted" || event.kind === "rejected") answers(server);
      if (event.kind === "rejected")
        rejected.set(
          event.nonce,
          event.names.map(({ name }) => name),
        );
      if (event.kind !== "closed") return;
      answering.delete(server);
      tell({
        kind: "disconnected",
        server,
        reason: streamFailure(server, event.status, spoken),
        retryMs: event.retryMs,
      });
    },
    onForeign({ server, typeUrl, names, namesHash, variant }) {
      const key = `${typeUrl} ${server}`;
      // A SotW server repeats the same names in each response.
      if (variant === "sotw" && ignored.get(key) === namesHash) return;
      if (variant === "sotw") ignored.set(key, namesHash);
      tell({ kind: "ignored", server, typeUrl, names });
    },
    observe: (_, variant) => ({
      received: () => undefined,
      closed: () => undefined,
      sent(message) {
        const { nonce, error } = readRequest(variant, message);
        if (error !== undefined)
          tell({ kind: "rejected", names: rejected.get(nonce) ?? [], nonce, reason: error });
        rejected.delete(nonce);
      },
    }),
  };
}
