import type { Answer } from "./answer.ts";
import type { World } from "./create-world.ts";
import type { TypeClient, Wanted } from "./type-client.ts";

/** Runs, reads and accepts until nothing comes any more; gives what came, in order. */
export function acceptAll(world: World, client: TypeClient): readonly Answer[] {
  const all: Answer[] = [];
  for (;;) {
    world.run();
    const answers = client.rest();
    if (answers.length === 0) return all;
    for (const answer of answers) client.ack(answer);
    all.push(...answers);
  }
}

/** Asks for names and takes what comes. */
export function begin(
  world: World,
  client: TypeClient,
  ...names: readonly Wanted[]
): readonly Answer[] {
  client.subscribe(...names);
  return acceptAll(world, client);
}
