/**
 * What tests of xDS programs need and no single package owns: memory byte streams, raw clients, a clock and turns in the hands of the test.
 *
 * @packageDocumentation
 */
export { createMemoryStream, type MemoryStream } from "./create-memory-stream.ts";
export {
  createRawDeltaClient,
  type DeltaRequestInit,
  type RawDeltaClient,
  createRawSotwClient,
  type RawSotwClient,
  type SotwRequestInit,
} from "./raw-clients.ts";
export {
  type RawServer,
  createRawDeltaServer,
  type DeltaResponseInit,
  type RawDeltaServer,
  createRawSotwServer,
  type RawSotwServer,
  type SotwResponseInit,
} from "./raw-servers.ts";
export { createFakeClock, type FakeClock } from "./create-fake-clock.ts";
export { createManualScheduler, type ManualScheduler } from "./create-manual-scheduler.ts";
export type { RawWire, Reader } from "./raw-wire.ts";
export {
  createTestAuthority,
  type TestAuthority,
  type TestCertificate,
  type TestCertificateOptions,
} from "./create-test-authority.ts";

// Programs in a network of memory, step by step.
export { createNetwork } from "./simulation/create-network.ts";
export type { Connection, Network, NetworkObserver, Side } from "./simulation/network.ts";
export { createSeededRandom, type SeededRandom } from "./simulation/seeded-random.ts";
export { createStepper, type Stepper } from "./simulation/create-stepper.ts";
export { shrinkHistory } from "./simulation/shrink-history.ts";
