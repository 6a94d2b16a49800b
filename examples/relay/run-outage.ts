import { startOrigin } from "./origin.ts";
import { startRelay } from "./start-relay.ts";
import { watchListeners } from "./watch-listeners.ts";

/** The two clients of TP1's example, and an outage: the origin is gone, the relay starts again with what is in `dir`, and clients go on, also one that has just come. */
export async function runOutage(dir: string, say: (line: string) => void): Promise<void> {
  await using origin = await startOrigin();
  for (const id of ["a-listeners/foo", "a-listeners/bar", "b-listeners/baz"])
    origin.publish(id, "1");
  let relay = await startRelay(origin.uri, dir);
  try {
    await using a = watchListeners(relay.uri, "client A", "a-listeners/*");
    await using b = watchListeners(relay.uri, "client B", "b-listeners/*");
    await a.shows("bar 1, foo 1");
    await b.shows("baz 1");
    say("client A has bar and foo, client B has baz");
    await using another = watchListeners(relay.uri, "another A", "a-listeners/*");
    await another.shows("bar 1, foo 1");
    say(
      `the relay has asked the origin for ${origin.asked
        .map((name) => name.replace(/^.*Listener\//, ""))
        .toSorted()
        .join(" and ")}`,
    );
    say("-- the origin is gone, and the relay starts again");
    await origin.stop();
    await relay.stop();
    relay = await startRelay(origin.uri, dir, relay.port);
    await using late = watchListeners(relay.uri, "late client A", "a-listeners/*");
    await late.shows("bar 1, foo 1");
    say("a client that has just come has bar and foo");
    say("-- the origin is back, with another bar");
    origin.publish("a-listeners/bar", "2");
    await origin.start();
    await Promise.all([a, another, late].map((client) => client.shows("bar 2, foo 1")));
    say("all clients have it");
  } finally {
    await relay.stop();
  }
}
