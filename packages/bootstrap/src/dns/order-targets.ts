import type { SrvRecord } from "node:dns";

/** In the order of RFC 2782: by priority, and by lot among equal ones, so that a target comes first as often as its weight says. */
export function orderTargets(
  records: readonly SrvRecord[],
  random: () => number,
): readonly SrvRecord[] {
  const drawn = records.map((record) => ({
    record,
    lot: record.weight === 0 ? Infinity : -Math.log(1 - random()) / record.weight,
  }));
  return drawn
    .sort((a, b) => a.record.priority - b.record.priority || (a.lot === b.lot ? 0 : a.lot - b.lot))
    .map(({ record }) => record);
}
