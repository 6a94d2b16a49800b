import { createNetwork, createSeededRandom, type Network } from "@xdstp/testing";

import { runModel } from "../../../../federation/test/model/run-model.ts";
import type { CreateSupply } from "../../../../federation/test/model/supply.ts";
import type { FederationDefect } from "./defects.ts";
import { WireServer } from "./wire-server.ts";

/** Deeds of a seed. */
export const DEEDS = 300;

/**
 * Runs a federation of clients and servers on a network of memory. Resolves with the shortest history that shows a failure; undefined: all rules have held.
 * @param federations - The number of federations that share the servers
 */
export async function runFederation(
  seed: number,
  defect: () => FederationDefect = () => ({}),
  federations = 1,
): Promise<string | undefined> {
  return runModel(seed, DEEDS, { supply: () => createWire(seed, defect()), federations });
}

function createWire(seed: number, defect: FederationDefect): CreateSupply {
  let network: Network | undefined;
  return (index, host) => {
    network ??= createNetwork({ clock: host.clock, random: createSeededRandom(seed).fork(7) });
    return new WireServer(`s${index}`, { ...host, network, defect });
  };
}
