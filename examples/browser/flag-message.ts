import { messageType, type WebType } from "@xdstp/web";

import { FlagSchema } from "../flags/gen/flags/v1/flags_pb.ts";
import type { Flag } from "./flag.ts";

/** The flag as a message of protobuf, the form that a WebSocket carries. */
export const flagMessage: WebType<Flag> = messageType(FlagSchema);
