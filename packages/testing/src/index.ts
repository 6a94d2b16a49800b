/**
 * What tests of xDS programs need and no single package owns: memory byte streams, raw clients, a clock and turns in the hands of the test.
 *
 * @packageDocumentation
 */
export { createMemoryStream, type MemoryStream } from "./create-memory-stream.ts";
export { createRawDeltaClient, createRawSotwClient, type RawClient } from "./raw-clients.ts";
export { createRawDeltaServer, createRawSotwServer, type RawServer } from "./raw-servers.ts";
export type { RawMessages } from "./raw-wire.ts";
export { createFakeClock, type FakeClock } from "./create-fake-clock.ts";
export { createManualScheduler, type ManualScheduler } from "./create-manual-scheduler.ts";
export {
  createTestAuthority,
  type TestAuthority,
  type TestCertificate,
} from "./create-test-authority.ts";

// Programs in a network of memory, step by step.
export { createNetwork } from "./simulation/create-network.ts";
export type { Connection, Network, NetworkObserver, Side } from "./simulation/network.ts";
export { createSeededRandom, type SeededRandom } from "./simulation/seeded-random.ts";
export { createStepper, type Stepper } from "./simulation/create-stepper.ts";
export { shrinkHistory } from "./simulation/shrink-history.ts";
