import type { Registry } from "@bufbuild/protobuf";
import type { AskClient } from "./ask-client.ts";
import type { AskedName } from "./asked-name.ts";
import type { WatchEvent } from "./watch-event.ts";
import type { WayTeller } from "./way-teller.ts";

/** What {@link followName} needs. */
export interface FollowNameOptions {
  readonly asking: AskClient;
  /** What can be checked. Absent: Envoy's API. */
  readonly registry?: Registry;
  /** Everything is rejected with this text. Absent: what can be read is taken. */
  readonly nack?: string;
  readonly tell: (event: WatchEvent) => void;
}

/** What who follows has to tell with. */
export interface Telling extends Pick<FollowNameOptions, "asking" | "tell"> {
  readonly asked: AskedName;
  /** Tells where names lead now, as far as that is new. */
  readonly tellWay: WayTeller;
}
