// The page over HTTP. `?server=ORIGIN` is the server of the flags.
import { createWebClient } from "@xdstp/web";

import { flagType } from "../flag.ts";
import { showFlag } from "./show-flag.ts";

const server = new URLSearchParams(location.search).get("server") ?? location.origin;
showFlag(createWebClient({ origin: server }), flagType);
