import { createClient } from "@xdstp/client";

import { isOn, type User } from "./flag.ts";
import { type Flag, FlagSchema } from "./gen/flags/v1/flags_pb.ts";

/** The flags of one part of a shop. */
const checkout = "xdstp://flags.example/flags.v1.Flag/checkout/";

/** A process that has the flags of the checkout. */
export interface FlagReader extends AsyncDisposable {
  isOn(name: string, user: User): boolean;
  /** Resolves when it has a flag for which this holds. */
  until(name: string, holds: (flag: Flag) => boolean): Promise<void>;
}

/** Connects to a control plane. A flag with a group that this process does not know is rejected: the control plane is told why, and the flag stays as it was. */
export function watchFlags(uri: string, id: string, knownGroups: readonly string[]): FlagReader {
  const client = createClient({
    bootstrap: {
      json: {
        xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }],
        node: { id },
      },
    },
  });
  const watch = client.watchAll(FlagSchema, `${checkout}*`, {
    validate({ groups }) {
      const unknown = groups.find((group) => !knownGroups.includes(group));
      return unknown === undefined ? undefined : `${id} does not know the group ${unknown}`;
    },
  });
  const changes = watch[Symbol.asyncIterator]();
  const flagOf = (name: string): Flag | undefined => watch.members.get(`${checkout}${name}`)?.value;
  return {
    isOn(name, user) {
      const flag = flagOf(name);
      return flag !== undefined && isOn(name, flag, user);
    },
    async until(name, holds) {
      for (let flag = flagOf(name); flag === undefined || !holds(flag); flag = flagOf(name)) {
        const { done } = await changes.next();
        if (done === true) throw new Error(`${id} has ended before ${name} changed`);
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
