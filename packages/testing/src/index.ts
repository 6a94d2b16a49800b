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
  type RawDeltaClientOptions,
} from "./create-raw-delta-client.ts";
export {
  createRawSotwClient,
  type RawSotwClient,
  type RawSotwClientOptions,
  type SotwRequestInit,
} from "./create-raw-sotw-client.ts";
export type { RawServer, ServerCodec } from "./create-raw-server.ts";
export {
  createRawDeltaServer,
  type DeltaResponseInit,
  type RawDeltaServer,
} from "./create-raw-delta-server.ts";
export {
  createRawSotwServer,
  type RawSotwServer,
  type SotwResponseInit,
} from "./create-raw-sotw-server.ts";
export { createFakeClock, type FakeClock, type FakeClockOptions } from "./create-fake-clock.ts";
export { createManualScheduler, type ManualScheduler } from "./create-manual-scheduler.ts";
export type { RawWire, Reader } from "./raw-wire.ts";
export {
  createTestAuthority,
  type TestAuthority,
  type TestCertificate,
  type TestCertificateOptions,
} from "./create-test-authority.ts";

// Streams written down, and played again.
export type {
  RecordedEvent,
  RecordedMessage,
  Recording,
  RecordingHeader,
  Variant,
} from "./recording/recording.ts";
export {
  createRecorder,
  type Recorder,
  type RecorderOptions,
} from "./recording/create-recorder.ts";
export { observeStream, type OpenStream, type StreamObserver } from "./recording/observe-stream.ts";
export { formatEvent, formatHeader, formatRecording } from "./recording/format-recording.ts";
export { parseRecording } from "./recording/parse-recording.ts";
export {
  readRequest,
  readResponse,
  type ReadRequest,
  type ReadResource,
  type ReadResponse,
} from "./recording/read-message.ts";
export { redactResponse, type HidePayload } from "./recording/redact-response.ts";
export {
  createReplayServer,
  type ReplayServer,
  type ReplayServerEvent,
} from "./recording/create-replay-server.ts";
export { payloadsOf } from "./recording/replay-script.ts";
export {
  replayClient,
  type ReplayClientEvent,
  type ReplayClientOptions,
} from "./recording/replay-client.ts";
export type { HeldDifference } from "./recording/held-state.ts";

// Programs in a network of memory, step by step.
export { createNetwork } from "./simulation/create-network.ts";
export type {
  Connection,
  Network,
  NetworkObserver,
  NetworkOptions,
  Serve,
  Side,
} from "./simulation/network.ts";
export { createSeededRandom, type SeededRandom } from "./simulation/seeded-random.ts";
export { createStepper, type Stepper, type StepperOptions } from "./simulation/create-stepper.ts";
export { shrinkHistory, type ShrinkOptions } from "./simulation/shrink-history.ts";
