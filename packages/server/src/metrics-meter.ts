import type { Meter } from "@opentelemetry/api";

/** The part of a `Meter` of the OpenTelemetry API that is used. */
export type MetricsMeter = Pick<
  Meter,
  "createCounter" | "createHistogram" | "createObservableCounter" | "createObservableGauge"
>;
