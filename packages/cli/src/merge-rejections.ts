import type { RejectedVersion } from "@xdstp/relay";

/** What several processes have counted, as one: newest first. Clients that come to two of them count once as far as they are named. */
export function mergeRejections(
  lists: readonly (readonly RejectedVersion[])[],
): readonly RejectedVersion[] {
  const byVersion = Map.groupBy(lists.flat(), ({ typeUrl, name, version }) =>
    JSON.stringify([typeUrl, name, version]),
  );
  return [...byVersion.values()].map(joined).sort((one, other) => other.since - one.since);
}

function joined(same: readonly RejectedVersion[]): RejectedVersion {
  const first = same.reduce((one, other) => (other.since < one.since ? other : one));
  const by = [...new Set(same.flatMap((one) => one.by))];
  const unnamed = same.reduce((sum, one) => sum + one.clients - one.by.length, 0);
  return {
    ...first,
    by,
    clients: by.length + unnamed,
    among: Math.min(...same.map(({ among }) => among)),
  };
}
