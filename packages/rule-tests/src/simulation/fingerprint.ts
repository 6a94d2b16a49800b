import { walkFields } from "@xdstp/core/wire";
import { hashBytes } from "@xdstp/protocol/server";
import { createSeededRandom } from "@xdstp/testing";

import { createRandomActions } from "./random-actions.ts";
import { createWorld } from "./world.ts";

/** The output of the servers of one world. */
export interface Fingerprint {
  readonly seed: number;
  /** Over all frames of all connections. Worlds with equal hashes sent the same bytes in the same order, apart from the nonces. */
  readonly hash: string;
  readonly connections: number;
  readonly frames: number;
}

/** `nonce` of a response, which counts on within a process; the same field in both variants. */
const NONCE = 5;

/**
 * Runs the world of a seed for a number of steps and hashes every frame of each connection.
 * A restructuring of the server that changes no behaviour leaves every fingerprint as it was before.
 * A nonce is left out of its frame: only the order of the frames counts.
 */
export async function fingerprintOf(seed: number, steps: number): Promise<Fingerprint> {
  const hashes = new Map<number, number>();
  let frames = 0;
  const world = createWorld({
    seed,
    observer: {
      onSent: ({ id }, from, bytes) => {
        if (from !== "server") return;
        frames++;
        hashes.set(id, joinHashes(hashes.get(id) ?? 0, hashOfFrame(bytes)));
      },
    },
  });
  const actions = createRandomActions(createSeededRandom(seed).fork(3), world.shape);
  while (world.steps < steps && world.violation === undefined) await world.run(actions.round());
  const { violation } = world;
  world.close();
  if (violation !== undefined) throw new Error(`seed ${seed}: ${violation.text}`);
  const hash = [...hashes].reduce((sum, [id, of]) => joinHashes(joinHashes(sum, id), of), 0);
  return { seed, hash: hash.toString(36), connections: hashes.size, frames };
}

function hashOfFrame(bytes: Uint8Array): number {
  let end = bytes.length;
  walkFields(bytes, (field, from) => {
    // The byte before the text of the nonce is its length, which differs too.
    if (field === NONCE) end = from - 1;
    return undefined;
  });
  return hashBytes(bytes, 0, end);
}

/** Bytes of two numbers, in this order. */
function joinHashes(first: number, second: number): number {
  const bytes = new Uint8Array(new Float64Array([first, second]).buffer);
  return hashBytes(bytes, 0, bytes.length);
}
