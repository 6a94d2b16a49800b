/**
 * Records the messages of xDS streams with their times, and replays the server or the client of a recording.
 *
 * @packageDocumentation
 */
export type {
  RecordedEvent,
  RecordedMessage,
  Recording,
  RecordingHeader,
  Variant,
} from "./recording.ts";
export { createRecorder, type Recorder } from "./create-recorder.ts";
export { observeStream, type OpenStream, type StreamObserver } from "./create-recorder.ts";
export { formatEvent, formatHeader, formatRecording } from "./recording-text.ts";
export { parseRecording } from "./recording-text.ts";
export {
  readRequest,
  readResponse,
  type ReadRequest,
  type ReadResource,
  type ReadResponse,
} from "./read-message.ts";
export { redactResponse, type HidePayload } from "./redact-response.ts";
export { createReplayServer, type ReplayServerEvent } from "./create-replay-server.ts";
export { payloadsOf } from "./replay-script.ts";
export { replayClient } from "./replay-client.ts";
export type { ReplayClientEvent, ReplayClientOptions } from "./replay-client-options.ts";
export type { HeldDifference } from "./replay-client-options.ts";
