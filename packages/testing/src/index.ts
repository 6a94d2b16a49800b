/**
 * Parts for tests of xDS programs: byte streams in memory, raw clients and servers, and a clock and
 * turns that the test controls.
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

// Simulations of programs in a network in memory.
export { createNetwork } from "./simulation/create-network.ts";
export type { Connection, Network, NetworkObserver, Side } from "./simulation/network.ts";
export { createSeededRandom, type SeededRandom } from "./simulation/seeded-random.ts";
export { createStepper, type Stepper } from "./simulation/create-stepper.ts";
export { shrinkHistory } from "./simulation/shrink-history.ts";

// The contracts of `@xdstp/core`, as cases for other implementations.
export {
  type ByteStreamCheckOptions,
  checkByteStream,
  type MakeWire,
  type TestedWire,
} from "./checks/check-byte-stream.ts";
export { checkFeed, type MakeFeed } from "./checks/check-feed.ts";
export { checkSource, type MakeSource } from "./checks/check-source.ts";
export type {
  CaseResult,
  CheckOptions,
  ContractCase,
  SkippableTest,
  Steps,
} from "./checks/contract-case.ts";
export type { TestedFeed } from "./checks/tested-feed.ts";
export type { TestedSource } from "./checks/tested-source.ts";
