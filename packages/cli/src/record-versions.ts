import type { MetricsMeter } from "@xdstp/server";

/** Shows the version of each type that is served, as a label: equal where the content is equal, on all replicas and after a restart. */
export function recordVersions(
  meter: MetricsMeter,
  versions: () => Readonly<Record<string, string>>,
): void {
  meter
    .createObservableGauge("xdstp_version_info", {
      description:
        "Always 1: the version of a type that is served, made of its content, as in `xdstp status`",
    })
    .addCallback((result) => {
      for (const [typeUrl, version] of Object.entries(versions()))
        result.observe(1, { type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), version });
    });
}
