import { cluster } from "@xdstp/resource-types";

import { clusterOf, startTierServer } from "./tier-server.ts";
import { watchCluster } from "./watch-cluster.ts";

/** Two tiers of clients ask for cluster `web`; gold has its own, then has the shared one again. */
export async function runTiers(say: (line: string) => void): Promise<void> {
  await using tiers = await startTierServer();
  const { nodes, server, uri } = tiers;
  nodes.shared.put(clusterOf("web", "shared-1"));
  nodes.of("gold").put(clusterOf("web", "gold-1"));
  await using gold = watchCluster(uri, "gold", "web");
  await using basic = watchCluster(uri, "basic", "web");
  await Promise.all([gold.shows("gold-1"), basic.shows("shared-1")]);
  say("gold has web of gold-1, basic has web of shared-1");
  const accepted = async (revision: number): Promise<string> => {
    const report = await server.waitForAck(revision);
    return report.accepted
      .map(({ node }) => node)
      .toSorted()
      .join(" and ");
  };
  say(
    `accepted by ${await accepted(nodes.of("gold").put(clusterOf("web", "gold-2")).revision)}: web of gold-2`,
  );
  await gold.shows("gold-2");
  say(
    `accepted by ${await accepted(nodes.shared.put(clusterOf("web", "shared-2")).revision)}: web of shared-2`,
  );
  await basic.shows("shared-2");
  say(
    `accepted by ${await accepted(nodes.of("gold").remove(cluster.typeUrl, "web").revision)}: the end of web of gold`,
  );
  await gold.shows("shared-2");
  say("gold has web of shared-2 again");
  const { revision } = nodes.shared.put(clusterOf("web", "shared-3"));
  say(`accepted by ${await accepted(revision)}: web of shared-3`);
}
