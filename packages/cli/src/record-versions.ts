import type { MetricsMeter } from "@xdstp/server";
import { cutText } from "./fit-text.ts";
import type { ServedVersions, Versions } from "./served-versions.ts";

/** Characters of a view in a label, as in client status. */
const longestView = 256;

/** Shows the version of each type that is served, as a label: equal where the content is equal, on all replicas and after a restart. */
export function recordVersions(meter: MetricsMeter, versions: () => ServedVersions): void {
  meter
    .createObservableGauge("xdstp_version_info", {
      description:
        "Always 1: the version of a type that is served, made of its content, as in xdstp status; with a view, for the clients with that node key or tenant",
    })
    .addCallback((result) => {
      const observe = (of: Versions, view?: string): void => {
        for (const [typeUrl, version] of Object.entries(of))
          result.observe(1, {
            type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1),
            ...(view !== undefined && { view }),
            version,
          });
      };
      const { shared, views } = versions();
      observe(shared);
      // Two long views may be equal once they are cut, and a series must not come twice.
      const byLabel = new Map(
        Object.entries(views).map(([view, of]) => [cutText(view, longestView), of] as const),
      );
      for (const [view, of] of byLabel) observe(of, view);
    });
}
