import { replayStream } from "./replay-stream.ts";
import type { ReplayClientOptions } from "./replay-client-options.ts";

/**
 * Plays the client's side of a recording, stream after stream: sends what it sent, with the nonces of the present server, and compares the state after each response. Returns the number of differences.
 *
 * More responses than were recorded are not a difference as long as they come to the same; these are accepted.
 */
export async function replayClient(options: ReplayClientOptions): Promise<number> {
  const streams = [...new Set(options.recording.events.map(({ stream }) => stream))];
  let differences = 0;
  for (const stream of streams) {
    if (options.signal?.aborted === true) break;
    differences += await replayStream(options, stream);
  }
  return differences;
}
