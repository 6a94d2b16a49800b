import { defaultServerLimits, type ServerLimits, type ServerOptions } from "@xdstp/server";

/** The limits of a server by name, as `--limit` and files have them. Each name belongs to one group of `createServer`. */
export type NamedLimits = Partial<
  ServerLimits["stream"] &
    ServerLimits["admission"] &
    ServerLimits["access"] &
    ServerLimits["answers"] &
    ServerLimits["wire"]
>;

/** The default of each limit, by name. */
export const defaultNamedLimits: Required<NamedLimits> = {
  ...defaultServerLimits.stream,
  ...defaultServerLimits.admission,
  ...defaultServerLimits.access,
  ...defaultServerLimits.answers,
  ...defaultServerLimits.wire,
};

/** Returns limits in the groups of `createServer`. */
export function groupLimits(limits: NamedLimits): NonNullable<ServerOptions["limits"]> {
  const groups = Object.entries(defaultServerLimits).map(([group, defaults]) => [
    group,
    Object.fromEntries(
      Object.entries(limits).filter(([name]) => Object.hasOwn(defaults as object, name)),
    ),
  ]);
  return Object.fromEntries(groups) as NonNullable<ServerOptions["limits"]>;
}

const MOST = 0x7fff_ffff;

/** Returns the limits of a server whose streams may subscribe to `names` names of one type (S-LIM-4); a tenth of them may be globs. Above the default number of subscriptions, the limits of listed versions and of request bytes grow in proportion. */
export function streamLimits(names: number): NamedLimits {
  const scale = Math.max(1, names / defaultNamedLimits.subscriptions);
  const scaled = (usual: number): number => Math.min(MOST, Math.ceil(usual * scale));
  const { maxMessageBytes, maxFirstMessageBytes, maxPartialBytes } = defaultNamedLimits;
  return {
    subscriptions: names,
    streamSubscriptions: scaled(defaultNamedLimits.streamSubscriptions),
    streamNameLength: scaled(defaultNamedLimits.streamNameLength),
    globs: Math.ceil(names / 10),
    heldVersions: scaled(defaultNamedLimits.heldVersions),
    maxMessageBytes: scaled(maxMessageBytes),
    maxFirstMessageBytes: scaled(maxFirstMessageBytes),
    maxPartialBytes: scaled(maxPartialBytes),
  };
}

/** Returns what an operator can do if a stream ended with this text, to append it to the text. Returns an empty text if there is nothing to do. */
export function limitHint(message: string): string {
  if (message.startsWith("the headers of the call are too large: "))
    return "; xdstp serve and xdstp relay accept larger headers with --limit headerListBytes=NUMBER";
  return /^more than \d+ (?:(?:subscriptions|globs) of one type|subscriptions of all types|initial_resource_versions)$|^the names of all subscriptions are longer than /.test(
    message,
  )
    ? "; xdstp serve and xdstp relay take more with --stream-names"
    : "";
}
